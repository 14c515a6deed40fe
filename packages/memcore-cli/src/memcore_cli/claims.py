"""Manifests and capabilities as documents and as lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel


def claims_document(claims: BaseModel) -> dict[str, Any]:
    """Return claims as JSON, with its sets in order, so that they read and compare the same every time."""
    document = claims.model_dump(mode="json")
    return {name: sorted(value) if isinstance(value, list) else value for name, value in document.items()}


def claims_fields(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the claims of a document by name, in words."""
    return [(name, _in_words(value)) for name, value in document.items()]


def _in_words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{name} {part:,}" for name, part in value.items())
    return "none" if value is None else str(value)
