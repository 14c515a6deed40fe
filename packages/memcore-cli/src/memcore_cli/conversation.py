"""A conversation that the demo remembers: who said what and when, and questions with their evidence."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID, uuid5

from memcore.items.model import MemoryItem

from memcore_cli.json_text import read_json

_NAMESPACE: Final = UUID("5b0f7c8e-7a39-4a55-8f0e-5d0c5f7f1c86")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SPOKEN_DATE: Final = re.compile(r"(\d{1,2}):(\d{2}) ?([ap]m)? on (\d{1,2}) ([a-z]+),? (\d{4})", re.IGNORECASE)


class BadConversation(ValueError):
    """A file that is no conversation; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that somebody said."""

    id: str
    speaker: str
    text: str
    session: object
    seconds: float | None
    """When, in UTC epoch seconds; turns with one date follow each other a second apart."""

    def item(self) -> MemoryItem:
        """Return the turn as an item to remember; the same turn is the same item every time."""
        identity = json.dumps([self.id, self.speaker, self.text])
        fields: dict[str, Any] = {} if self.seconds is None else {"created_at": self.seconds}
        return MemoryItem(
            id=uuid5(_NAMESPACE, identity),
            content=f"{self.speaker}: {self.text}",
            tags=[self.speaker],
            metadata={"turn": self.id, "session": self.session, "speaker": self.speaker},
            **fields,
        )


@dataclass(frozen=True, slots=True)
class Question:
    """A question about the conversation, and the ids of the turns that answer it, where they are known."""

    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in order, and questions about them."""

    turns: list[Turn]
    questions: list[Question]


def read_conversation(data: bytes) -> Conversation:
    """Read an object with `turns` and perhaps `questions`, a list of turns, or JSON lines of turns.

    Raises:
        BadConversation: it is none of these, or a turn or question lacks what it needs.
    """
    document = _parse(data)
    parts = document if isinstance(document, dict) else {"turns": document}
    said = Counter[float]()
    turns = [_turn(part, number, said) for number, part in enumerate(_list(parts, "turns"), start=1)]
    if not turns:
        raise BadConversation("it holds no turns")
    known = {turn.id for turn in turns}
    if len(known) < len(turns):
        raise BadConversation("two turns have the same id")
    questions = [_question(part, number, known) for number, part in enumerate(_list(parts, "questions"), start=1)]
    return Conversation(turns, questions)


def read_date(text: str) -> float:
    """Return the UTC epoch seconds of `11:01 am on 17 December, 2022` or of an ISO 8601 date; no zone means UTC.

    Raises:
        ValueError: it is neither.
    """
    spoken = _SPOKEN_DATE.fullmatch(text.strip())
    if spoken is None:
        date = datetime.fromisoformat(text.strip())
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    hour, minute, half, day, month, year = spoken.groups()
    hours = int(hour) % 12 + (12 if half.lower() == "pm" else 0) if half else int(hour)
    number = _MONTHS.index(month[:3].lower()) + 1
    return datetime(int(year), number, int(day), hours, int(minute), tzinfo=UTC).timestamp()


def _parse(data: bytes) -> Any:  # noqa: ANN401 - any JSON value
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadConversation(f"it is not UTF-8 at byte {error.start + 1}") from None
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if len(lines) > 1 and _is_turn(lines[0][1]):
        return [_parse_text(line, f"line {number}: ") for number, line in lines]
    document = _parse_text(text, "")
    return [document] if _is_turn(text) else document


def _is_turn(text: str) -> bool:
    """Tell whether a text is one turn: then the file is JSON lines."""
    try:
        return "text" in read_json(text) and "turns" not in read_json(text)
    except (ValueError, TypeError):
        return False


def _parse_text(text: str, place: str) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return read_json(text)
    except ValueError as error:
        raise BadConversation(f"{place}{error}") from None


def _list(parts: dict[str, Any], name: str) -> list[Any]:
    found = parts.get(name, [])
    if not isinstance(found, list):
        raise BadConversation(f"{name!r} is not a list")
    return found


def _turn(part: object, number: int, said: Counter[float]) -> Turn:
    """Read a turn; `said` counts the turns of each date, so that they follow each other."""
    if not isinstance(part, dict):
        raise BadConversation(f"turn {number} is not an object")
    speaker, text, date = (part.get(name) for name in ("speaker", "text", "date"))
    if not isinstance(speaker, str) or not isinstance(text, str):
        raise BadConversation(f"turn {number} needs 'speaker' and 'text', both text")
    seconds = _seconds(date, f"turn {number}")
    if seconds is not None:
        said[seconds] += 1
        seconds += said[seconds] - 1
    return Turn(str(part.get("id", number)), speaker, text, part.get("session"), seconds)


def _seconds(date: object, place: str) -> float | None:
    if date is None:
        return None
    try:
        if isinstance(date, str):
            return read_date(date)
        if isinstance(date, (int, float)) and math.isfinite(date):
            return float(date)
    except (ValueError, OverflowError):
        pass
    raise BadConversation(f"{place}: 'date' is no date such as '11:01 am on 17 December, 2022' or '2022-12-17T11:01'")


def _question(part: object, number: int, known: set[str]) -> Question:
    if not isinstance(part, dict) or not isinstance(part.get("question"), str):
        raise BadConversation(f"question {number} needs 'question', a text")
    evidence = part.get("evidence") or []
    if not isinstance(evidence, list):
        raise BadConversation(f"question {number}: 'evidence' is not a list")
    missing = [turn for turn in map(str, evidence) if turn not in known]
    if missing:
        raise BadConversation(f"question {number}: no turn has the id {missing[0]!r}")
    return Question(part["question"], tuple(map(str, evidence)))
