"""Adapters that lose what they acknowledged when their process dies; most of them run in the suite's other process."""

from __future__ import annotations

from typing import Any, ClassVar

from mutants import Elsewhere, KeptBackend, mutant


class _Durable(KeptBackend):
    lifetime: ClassVar[dict[str, Any]] = {"shared": False, "extensions": frozenset({"managed"})}


class _Killed(Elsewhere):
    backend_type = _Durable


@mutant("I-44b")
class WritesWhenItCloses(_Killed):
    """New items are acknowledged, and written when the backend closes."""

    mutant = "WritesWhenItCloses"


@mutant("I-44c")
class ReplacesWhenItCloses(_Killed):
    """What replaces an item is written when the backend closes."""

    mutant = "ReplacesWhenItCloses"


@mutant("I-44d")
class WritesBatchesInHalves(_Killed):
    """A batch is written in two halves."""

    mutant = "WritesBatchesInHalves"


@mutant("I-44e")
class DeletesWhenItCloses(_Killed):
    """What was deleted is hidden, and erased when the backend closes."""

    mutant = "DeletesWhenItCloses"


@mutant("I-44g")
class IndexesWhenItCloses(_Killed):
    """Items are indexed when the backend closes."""

    mutant = "IndexesWhenItCloses"


@mutant("I-44f")
class LosesTheLast(_Durable):
    """Closing loses the newest item."""

    async def close(self) -> None:
        if self._lifecycle.is_open:
            last = (await self.items.scan()).items[-1:]
            await self.items.delete_many([item.id for item in last])
        await super().close()
