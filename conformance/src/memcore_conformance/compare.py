"""What changed from one certificate to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memcore_conformance.certificate import Certificate


def compare(old: Certificate, new: Certificate) -> list[str]:
    """Return one line for every difference that matters; none where both say the same."""
    return [*_circumstances(old, new), *_claims(old, new), *_verdicts(old, new)]


def _circumstances(old: Certificate, new: Certificate) -> Iterator[str]:
    for name in ("adapter", "distribution", "suite", "catalogue", "python", "platform", "versions", "grade"):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            yield f"{name}: {before} -> {after}"


def _claims(old: Certificate, new: Certificate) -> Iterator[str]:
    before = old.claims.names if old.claims else frozenset()
    after = new.claims.names if new.claims else frozenset()
    for name in sorted(before ^ after):
        yield f"claim {name}: {'no longer made' if name in before else 'new'}"


def _verdicts(old: Certificate, new: Certificate) -> Iterator[str]:
    before = {verdict.case: verdict.outcome for verdict in old.verdicts}
    after = {verdict.case: verdict.outcome for verdict in new.verdicts}
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield f"{name}: {before.get(name, 'no such case')} -> {after.get(name, 'no such case')}"
