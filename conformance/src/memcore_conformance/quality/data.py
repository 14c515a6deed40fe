"""Labelled data: collections of documents, and questions with the documents that answer them."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import NAMESPACE_URL, UUID, uuid5

import memcore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

LEFT_OUT: Final = frozenset({"adversarial"})
"""Categories of questions about what was never said: there is nothing to find."""
_FIRST_TIME: Final = 1_700_000_000.0
_BEFORE: Final = 2
"""Documents of a session that are the context of the next."""
_SPOKEN_DATE: Final = "%I:%M %p on %d %B, %Y"  # 1:56 pm on 8 May, 2023


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the names of the documents that hold its answer."""

    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents that are searched together, as items or as records, and what is asked of them."""

    items: tuple[memcore.MemoryItem, ...]
    records: tuple[memcore.MemoryWrite, ...]
    """The same documents, under the same ids; the context is what their users would know: date and what was before."""
    names: dict[UUID, str]
    """The name of each document by the id of its item."""
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class DataSet:
    """One file."""

    name: str
    collections: tuple[Collection, ...]


def read(file: Path) -> DataSet:
    """Read a file in the format of `sample.json`.

    Raises:
        ValueError: the file is not in that format; the message says where.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return DataSet(content["name"], tuple(map(_collection, content["collections"])))
    except (KeyError, TypeError, ValueError) as error:
        msg = f"{file} is no labelled data: {type(error).__name__}: {error}"
        raise ValueError(msg) from error


def _collection(content: dict[str, Any]) -> Collection:
    items, names = [], {}
    for number, document in enumerate(content["docs"]):
        item = _item(content["id"], document, number)
        items.append(item)
        names[item.id] = document["id"]
    records = map(_record, items, _contexts(content["docs"]))
    return Collection(tuple(items), tuple(records), names, tuple(_questions(content["queries"])))


def _item(collection: str, document: dict[str, Any], number: int) -> memcore.MemoryItem:
    """Return what a user would store: the text, what is known about it, and its time, or its place where none is."""
    about = document["meta"]
    date = about.get("date")
    created_at = _seconds(date) + about.get("pos", number) if date else _FIRST_TIME + number
    return memcore.MemoryItem(
        id=uuid5(NAMESPACE_URL, f"{collection}/{document['id']}"),
        created_at=created_at,
        content=document["text"],
        metadata=about,
    )


def _record(item: memcore.MemoryItem, context: str | None) -> memcore.MemoryWrite:
    return memcore.MemoryWrite(id=item.id, content=item.content, context=context, payload=item.metadata)


def _contexts(documents: Iterable[dict[str, Any]]) -> Iterator[str | None]:
    """Yield for each document its date as words, and the two before it in its session."""
    sessions: dict[object, deque[str]] = {}
    for document in documents:
        date = document["meta"].get("date")
        before = sessions.setdefault(document["meta"].get("session"), deque(maxlen=_BEFORE))
        yield "\n".join([*([_words(_time(date))] if date else []), *before]) or None
        before.append(document["text"])


def _words(time: datetime) -> str:
    return f"{time.day} {time:%B %Y}"


def _seconds(date: str) -> float:
    return _time(date).timestamp()


def _time(date: str) -> datetime:
    try:
        time = datetime.strptime(date, _SPOKEN_DATE)  # noqa: DTZ007 - taken as UTC below
    except ValueError:
        time = datetime.fromisoformat(date)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _questions(queries: Iterable[dict[str, Any]]) -> Iterable[Question]:
    for query in queries:
        if query.get("category") not in LEFT_OUT:
            yield Question(query["text"], tuple(query["gold"]))
