"""Exact conditions as digests: tags, metadata entries and scope pairs are one mechanism on every backend.

A term is the digest of (namespace, kind, key, canonical value). Any characters are allowed, nothing is escaped,
no JSON path is built, and no other namespace can be hit.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from memcore.kit.exact_json import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TERM_BYTES: Final = 12
"""96 bits: two of a billion terms meet by chance once in 10**10 stores."""


def namespace_term(namespace: str) -> bytes:
    """Return the term of a whole namespace, for an engine that keeps many of them in one index."""
    return _digest(namespace, "namespace", "", "")


def tag_term(namespace: str, tag: str) -> bytes:
    """Return the term of a tag."""
    return _digest(namespace, "tag", "", tag)


def entry_term(namespace: str, key: str, value: object) -> bytes:
    """Return the term of one top-level metadata entry; the value must be exact JSON."""
    if type(value) is str:
        return _digest(namespace, "text", key, value)
    return _digest(namespace, "json", key, canonical(value))


def scope_terms(namespace: str, scope: Mapping[str, str]) -> list[bytes]:
    """Return the term of every pair of a scope, in its canonical order."""
    return [_digest(namespace, "scope", key, value) for key, value in scope.items()]


def index_terms(namespace: str, *, tags: Iterable[str], metadata: Mapping[str, object]) -> set[bytes]:
    """Return the terms under which an item is found.

    An entry whose value is null has none: it is found as a missing key is, without an index (I-67).
    """
    terms = {tag_term(namespace, tag) for tag in tags}
    terms.update(entry_term(namespace, key, value) for key, value in metadata.items() if value is not None)
    return terms


def _digest(namespace: str, kind: str, key: str, value: str) -> bytes:
    short = len(value) <= _CACHED_LENGTH and len(key) <= _CACHED_LENGTH
    return _cached(namespace, kind, key, value) if short else _compute(namespace, kind, key, value)


def _compute(*parts: str) -> bytes:
    digest = blake2b(digest_size=TERM_BYTES)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


_CACHED_LENGTH: Final = 64
_cached = lru_cache(maxsize=65_536)(_compute)
