"""What is this adapter's own business; everything else is the suite's."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from memcore import MemoryConfigurationError, MemoryItem, connect

if TYPE_CHECKING:
    from pathlib import Path


def test_an_item_is_one_readable_file(tmp_path: Path) -> None:
    item = MemoryItem(content="Ada prefers tea", created_at=1.5)
    asyncio.run(_store(tmp_path / "notes", item))
    (file,) = tmp_path.glob("notes/*/*.json")
    assert file.stem == str(item.id)
    assert json.loads(file.read_text()) == {
        "memcore": "item",
        "created_at": 1.5,
        "content": "Ada prefers tea",
        "metadata": {},
        "tags": [],
    }


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    asyncio.run(_store(tmp_path / "notes", MemoryItem(content="tea")))
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "notes").rglob("*")} == {0}


@pytest.mark.parametrize(("url", "message"), [("jsonfiles://notes", "takes no host"), ("jsonfiles://", "folder")])
def test_a_url_without_a_folder_says_what_is_wrong(url: str, message: str) -> None:
    with pytest.raises(MemoryConfigurationError, match=message):
        connect(url)


async def _store(folder: Path, item: MemoryItem) -> None:
    async with connect(f"jsonfiles:///{folder}") as backend:
        await backend.items.store(item)
