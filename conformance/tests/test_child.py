from __future__ import annotations

import asyncio

import pytest
from memcore import MemoryItem, MemoryQuery
from memcore_conformance.child import Child, ChildFailed


async def test_another_process_stores_retrieves_searches_and_deletes() -> None:
    child = await Child.start("memory://")
    item = MemoryItem(content={"tea": "\x00\ud800"}, tags=["t"], metadata={"k": 1.0})
    assert await child.store(item) == item.id
    found = await child.retrieve(item.id)
    assert found
    assert found.model_dump() == item.model_dump()
    assert await child.search(MemoryQuery(text="tea")) == []
    assert await child.search(MemoryQuery(tags=["t"])) == [item]
    assert await child.delete(item.id)
    assert await child.retrieve(item.id) is None
    await child.close()


async def test_what_the_adapter_raises_there_is_told_here() -> None:
    child = await Child.start("memory://")
    with pytest.raises(ChildFailed, match="UnsupportedMemoryQuery") as caught:
        await child.search(MemoryQuery(limit=-1))
    assert caught.value.kind == "UnsupportedMemoryQuery"
    await child.close()


async def test_a_killed_process_acknowledges_nothing_more() -> None:
    child = await Child.start("memory://")
    writes = [asyncio.ensure_future(child.store(MemoryItem(content="tea " * 1000))) for _ in range(500)]
    await writes[0]
    await child.kill()
    ended = await asyncio.gather(*writes, return_exceptions=True)
    assert not any(isinstance(end, BaseException) and not isinstance(end, ChildFailed) for end in ended)
    with pytest.raises(ChildFailed):
        await child.retrieve(MemoryItem().id)
