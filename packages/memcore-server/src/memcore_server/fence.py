"""The order of the writes of one client that does not know what became of one of them (I-70).

See `memcore_http.wire`: a write of a later epoch begins only after every write of an earlier one has ended, and a write
of an earlier epoch that arrives afterwards is refused. Erasures and sweeps are remembered, so that one that is made
again gets the answer of the first.

This lives in the memory of one process: it holds while one process serves a namespace, and begins anew with it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from memcore_server.faults import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from uuid import UUID

    from memcore_http.wire import Ticket
    from pydantic import BaseModel

_MOST_CLIENTS: Final = 10_000
_MOST_ANSWERS: Final = 256
"""More than a client has under way at once."""


class Fence:
    """The writes of every client of one namespace, in the order that their tickets ask for."""

    def __init__(self) -> None:
        self._clients: OrderedDict[UUID, _Client] = OrderedDict()

    async def run(
        self, ticket: Ticket, write: Callable[[], Awaitable[BaseModel]], *, remembered_as: str | None = None
    ) -> BaseModel:
        """Make a write in its place, and return its answer; if it is remembered, the one of an earlier attempt.

        Raises:
            Refused: the client has gone on to a later epoch; nothing was done.
        """
        client = self._client(ticket.client)
        if ticket.epoch < client.epoch:
            raise Refused("superseded")
        client.epoch = ticket.epoch
        earlier = [other for other in client.running if other.epoch < ticket.epoch]
        running = _Running(ticket.epoch)
        client.running.append(running)
        try:
            for other in earlier:
                await other.ended.wait()
            if remembered_as is None:
                return await write()
            key = (ticket.call, remembered_as)
            if key not in client.answers:
                client.remember(key, await write())
            return client.answers[key]
        finally:
            client.running.remove(running)
            running.ended.set()

    def _client(self, key: UUID) -> _Client:
        """Return what is known of a client; of too many, those are forgotten that have been silent longest."""
        client = self._clients.setdefault(key, _Client())
        self._clients.move_to_end(key)
        while len(self._clients) > _MOST_CLIENTS:
            self._clients.popitem(last=False)
        return client


@dataclass(eq=False, slots=True)
class _Running:
    epoch: int
    ended: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(slots=True)
class _Client:
    epoch: int = 0
    running: list[_Running] = field(default_factory=list)
    answers: OrderedDict[tuple[int, str], BaseModel] = field(default_factory=OrderedDict)

    def remember(self, key: tuple[int, str], answer: BaseModel) -> None:
        self.answers[key] = answer
        if len(self.answers) > _MOST_ANSWERS:
            self.answers.popitem(last=False)
