"""What is measured: a driver does the workload's operations its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from memcore_conformance.bench.workload import Item, Question


class NotOffered(Exception):
    """A driver cannot answer this; it is left out of the measurement."""

    def __init__(self, question: Question) -> None:
        super().__init__(question)
        self.question = question


class Driver(ABC):
    """One way to keep the items.

    Conversions that a user would pay for (building a model, encoding JSON) happen inside the operations. A `hit` is
    whatever the store hands out.
    """

    persistent: bool = False
    """Whether another process finds the data when this one has closed; known once the driver is open."""
    newest_first: bool = True
    """Whether tags, metadata entries and listings are answered newest first."""

    @abstractmethod
    async def open(self) -> None:
        """Open what is there, or make it."""

    async def close(self) -> None:  # noqa: B027 - some have nothing to release
        """Release everything."""

    async def forget(self) -> None:  # noqa: B027 - most keep everything in the folder
        """Erase what lies outside the folder of the place."""

    @abstractmethod
    async def put(self, item: Item) -> None:
        """Store one item."""

    async def put_many(self, items: Sequence[Item]) -> None:
        """Store many items the fastest way there is."""
        for item in items:
            await self.put(item)

    @abstractmethod
    async def get(self, item_id: UUID) -> object:
        """Return the hit of that id, or `None`."""

    @abstractmethod
    async def find(self, question: Question) -> Sequence[object]:
        """Return the hits, best or newest first.

        Raises:
            NotOffered: the store has no way to answer it.
        """

    @abstractmethod
    def id_of(self, hit: object) -> UUID:
        """Return the id of a hit; never measured."""

    def first_result(self, question: Question) -> str:
        """Return a program that opens the store, asks, and prints the seconds since its first line.

        Raises:
            NotOffered: nobody compares with this driver's.
        """
        raise NotOffered(question)
