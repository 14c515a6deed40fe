"""Who may ask is read from a list that is complete and right, or not at all; nothing of it is ever shown."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest
from memcore import MemoryConfigurationError
from memcore_server.tokens import Tokens

SECRET = "a-long-secret-hunter2"
ENTRY = {"token": SECRET, "namespace": "a", "access": "read"}


def read(entries: Any) -> Tokens:
    return Tokens.read(json.dumps(entries), source="tokens.json")


def test_a_token_is_found_by_itself_or_by_its_digest() -> None:
    digest = sha256(SECRET.encode()).hexdigest()
    for entry in (ENTRY, {"sha256": digest, "namespace": "a", "access": "read"}):
        found = read([entry]).find(f"Bearer {SECRET}")
        assert found is not None
        assert (found.namespace, found.access) == ("a", "read")


@pytest.mark.parametrize(
    "header", [None, "", SECRET, "Bearer", "Bearer ", f"Basic {SECRET}", f"Bearer {SECRET}x", "Bearer caf\xe9"]
)
def test_anything_else_is_no_token(header: str | None) -> None:
    assert read([ENTRY]).find(header) is None


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_may_be_written_in_any_case(scheme: str) -> None:
    assert read([ENTRY]).find(f"{scheme} {SECRET}") is not None


@pytest.mark.parametrize(
    "entries",
    [
        [],
        {},
        [ENTRY, ENTRY | {"namespace": "b"}],
        [ENTRY | {"access": "all"}],
        [ENTRY | {"namespace": ""}],
        [ENTRY | {"token": "hunter2"}],
        [ENTRY | {"sha256": "0" * 64}],
        [{"namespace": "a", "access": "read"}],
        [ENTRY | {"extra": SECRET}],
    ],
)
def test_a_wrong_list_is_refused_without_showing_a_token(entries: Any) -> None:
    with pytest.raises(MemoryConfigurationError, match=r"tokens\.json") as caught:
        read(entries)
    assert "hunter2" not in str(caught.value)


def test_what_is_no_json_is_refused_without_showing_it() -> None:
    with pytest.raises(MemoryConfigurationError) as caught:
        Tokens.read(f"token={SECRET}", source="tokens.json")
    assert "hunter2" not in str(caught.value)


def test_no_token_is_shown_by_what_holds_it() -> None:
    tokens = read([ENTRY])
    assert SECRET not in repr(tokens) + repr(tokens.find(f"Bearer {SECRET}"))
