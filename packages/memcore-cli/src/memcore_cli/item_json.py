"""Items as JSON: one object each, the form of `export`, `import` and `--json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore.errors import MalformedMemoryPayload

from memcore_cli.json_text import write_json

if TYPE_CHECKING:
    from memcore.items.payload import ItemLike


def item_document(item: ItemLike) -> dict[str, object]:
    """Return the JSON object of an item."""
    return {
        "id": str(item.id),
        "created_at": item.created_at,
        "content": item.content,
        "metadata": item.metadata,
        "tags": item.tags,
    }


def item_line(item: ItemLike) -> bytes:
    """Return an item as one line of ASCII JSON.

    Raises:
        MalformedMemoryPayload: a store gave back what is not JSON.
    """
    try:
        return write_json(item_document(item))
    except (TypeError, ValueError, RecursionError) as error:
        raise MalformedMemoryPayload(f"item {item.id} holds what is not JSON") from error
