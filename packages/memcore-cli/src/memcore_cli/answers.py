"""The second half of the demo, a process of its own: `python -m memcore_cli.answers URL < questions > answers`.

It knows nothing but the URL of the store and the questions, so what it answers was remembered by the store.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from memcore import connect
from memcore.items.model import MemoryQuery
from memcore.items.store import ExternalMemoryStore

from memcore_cli.claims import claims_document
from memcore_cli.failures import CommandFailed, tell_failure
from memcore_cli.item_json import item_document
from memcore_cli.output import prepare_streams, write_document

if TYPE_CHECKING:
    from collections.abc import Sequence

HITS = 10
"""How many hits a question gets."""

Document = dict[str, Any]
Answers = tuple[int, Document, list[list[Document]]]
"""The id of the process that answered, the manifest of the store, and the hits of every question."""


def ask_elsewhere(url: str, questions: Sequence[str]) -> Answers:
    """Let a new process open the store and answer.

    Raises:
        CommandFailed: the process failed; what it had to say stands on stderr already.
    """
    command = [sys.executable, "-P", "-m", "memcore_cli.answers", url]
    done = subprocess.run(command, input=json.dumps(questions).encode(), stdout=subprocess.PIPE, check=False)  # noqa: S603
    if done.returncode:
        raise CommandFailed("the process that was to answer failed", advice=f"memcore ping {url}")
    process, manifest, hits = json.loads(done.stdout)
    return process, manifest, hits


async def answer(url: str, questions: Sequence[str]) -> Answers:
    """Open a store and look for every question."""
    async with connect(url) as backend:
        items = backend.items
        hits = [
            [item_document(item) for item in await items.search(MemoryQuery(text=text, limit=HITS))]
            for text in questions
        ]
        manifest = claims_document(items.manifest) if isinstance(items, ExternalMemoryStore) else {}
        return os.getpid(), manifest, hits


def _serve() -> int:
    url = sys.argv[1]
    prepare_streams()
    try:
        write_document(asyncio.run(answer(url, json.load(sys.stdin.buffer))))
        sys.stdout.flush()
    except Exception as error:  # noqa: BLE001 - told as every command tells its errors
        return tell_failure(error, debug=False, arguments=[url])
    return 0


if __name__ == "__main__":
    sys.exit(_serve())
