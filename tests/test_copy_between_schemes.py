"""What is stored survives a journey through every store: the last one holds it to the byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

OLD = "11111111-1111-4111-8111-111111111111"
NEW = "22222222-2222-4222-8222-222222222222"
NASTY = {"int": 10**4299, "float": 1e16, "negative zero": -0.0, "one": 1, "one point zero": 1.0, "lone": "\ud83d\x00"}
CONTENTS = [
    {"id": OLD, "created_at": 1767225600.000001, "content": NASTY, "metadata": {"": None}, "tags": ["a,b", ""]},
    {
        "record": {
            "id": OLD,
            "scope": {"user": "ada", "app": "chat"},
            "content": "Ada lives in Lisbon",
            "payload": NASTY,
            "target": NASTY,
            "created_at": "2026-01-01T00:00:00.000001Z",
            "updated_at": "2026-02-01T00:00:00Z",
            "invalid_at": "2026-02-01T00:00:00Z",
            "superseded_by": NEW,
        }
    },
    {
        "record": {
            "id": NEW,
            "content": "Ada lives in Ghent",
            "tier": "long",
            "hits": 3,
            "last_hit_at": "2026-02-02T03:04:05.678901Z",
            "refreshed_at": "2026-02-03T00:00:00Z",
            "created_at": "2026-02-01T00:00:00Z",
            "updated_at": "2026-03-01T00:00:00Z",
            "invalid_at": "2026-03-01T00:00:00Z",
            "invalid_reason": "a joke",
            "invalidated_by": "berta",
        }
    },
]


def memcore(*arguments: str, stdin: bytes = b"") -> bytes:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("MEMCORE_")}
    command = [sys.executable, "-m", "memcore_cli", *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, check=False, env=variables, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_a_copy_through_every_store_ends_as_it_began(
    sqlite_url: str, postgresql_url: str, http_url: str, tmp_path: Path
) -> None:
    journey = [sqlite_url, postgresql_url, http_url, f"sqlite:///{tmp_path}/end.db"]
    memcore("import", journey[0], "-", stdin=b"\n".join(json.dumps(content).encode() for content in CONTENTS))

    for source, target in pairwise(journey):
        memcore("copy", source, target)

    exported = memcore("export", journey[-1])
    assert exported == memcore("export", journey[0])
    assert exported.count(b"\n") == len(CONTENTS)
