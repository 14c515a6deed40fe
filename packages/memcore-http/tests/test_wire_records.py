"""Records, changes and queries arrive as they left; what is none of them is told, whoever sent it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import memcore
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memcore import Invalidation, MemoryRecord, MemoryWrite, Provenance, RecordQuery, Scope, SizeLimits, SweepPolicy
from memcore.records.rows import encode_changes
from memcore_http import wire, wire_records
from memcore_http.wire_errors import ErrorBody
from memcore_http.wire_records import RecordBody, WriteBody

PAIR = "\ud83d" + "\ude00"
"""Two code points that JSON would read back as one."""
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=5)
TEXT = ANY_TEXT.filter(lambda text: not any(a in "\ud83d\udbff" for a in text))
TIMES = st.datetimes(timezones=st.just(UTC)).map(lambda time: time.replace(fold=0))
LATER = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
NUMBERS: Any = [1, 1.0, True, -0.0, 1e16, 10**4000]


def deep() -> Any:
    nested: Any = "deep"
    for _ in range(98):
        nested = [nested]
    return nested


FULL = {
    "content": "Ada prefers tea caf\xe9 \U0001f600",
    "scope": {"user": "ada\ud83d", "tenant": "\x00"},
    "kind": "preference",
    "tags": ("\x00", "\ud83d", "b", "a"),
    "provenance": Provenance(run_id="r"),
    "expires_at": datetime.max.replace(tzinfo=UTC),
    "target": {"z": 1, "a": {"\udc00": None}},
    "payload": {"numbers": NUMBERS, "nested": deep(), "a": 1},
    "supports": (Provenance(author="\ud800"), Provenance()),
    "context": "\x00",
    "tier": "short",
}
WRITE = MemoryWrite(**FULL, supersedes=(UUID(int=9), UUID(int=3)))  # type: ignore[arg-type]
RECORD = MemoryRecord(
    **FULL,  # type: ignore[arg-type]
    id=UUID(int=7),
    created_at=LATER - timedelta(microseconds=1),
    updated_at=LATER,
    invalid_at=LATER,
    invalid_reason="\ud83d wrong",
    superseded_by=UUID(int=8),
    hits=(1 << 31) - 1,
    last_hit_at=LATER,
    refreshed_at=LATER,
)
PLAIN = MemoryRecord(id=UUID(int=1), content="x", created_at=LATER, updated_at=LATER)


def through_json(message: Any) -> Any:
    text = message.model_dump_json()
    assert text.isascii()
    return type(message).model_validate_json(text)


def sent(change: MemoryWrite | Invalidation) -> Any:
    (encoded,) = encode_changes([change], SizeLimits())
    return through_json(wire_records.encode_change(encoded)).decode()


@pytest.mark.parametrize("record", [RECORD, PLAIN])
def test_a_record_travels_exactly(record: MemoryRecord) -> None:
    assert repr(through_json(RecordBody.of(record)).decode()) == repr(record)


@pytest.mark.parametrize("write", [WRITE, MemoryWrite(content="x")])
def test_a_write_travels_exactly_and_is_known_as_the_same_write(write: MemoryWrite) -> None:
    arrived = sent(write)
    assert repr(arrived) == repr(write)
    (before,), (after,) = (encode_changes([one], SizeLimits()) for one in (write, arrived))
    assert before[:-1] == after[:-1]


@pytest.mark.parametrize(("reason", "actor"), [(None, None), ("\x00\ud83d", None), (None, "ada"), ("", "")])
def test_an_invalidation_travels_exactly(reason: str | None, actor: str | None) -> None:
    change = Invalidation(id=UUID(int=1), reason=reason, actor=actor)
    assert sent(change) == change


@given(st.text(min_size=1).filter(lambda text: "\0" not in text), TEXT, st.none() | TIMES, st.lists(TEXT, max_size=3))
def test_whatever_a_write_may_hold_travels(content: str, value: str, expires_at: Any, tags: list[str]) -> None:
    write = MemoryWrite(content=content, scope={"k": value}, expires_at=expires_at, tags=tags, payload={value: tags})
    assert repr(sent(write)) == repr(write)


@given(
    st.builds(
        RecordQuery,
        text=st.none() | ANY_TEXT | st.just(PAIR),
        scope=st.dictionaries(st.sampled_from(["a", "b"]), ANY_TEXT | st.just(PAIR)),
        kinds=st.none() | st.lists(st.sampled_from(["fact", "state"])).map(tuple),
        tags=st.lists(ANY_TEXT | st.just(PAIR), max_size=3).map(tuple),
        match_tags=st.sampled_from(["any", "all"]),
        tiers=st.none() | st.just(()) | st.just(("long",)),
        include_invalidated=st.booleans(),
        as_of=st.none() | TIMES,
        mode=st.sampled_from(["auto", "keyword", "semantic", "hybrid"]),
        limit=st.integers(0, (1 << 31) - 1),
        after=st.none() | st.just("c3Vyc29y"),
    )
)
def test_a_query_travels_exactly(query: RecordQuery) -> None:
    text = wire_records.encode_record_query(query)
    assert text.isascii()
    arrived = wire_records.decode_record_query(text)
    assert ascii(arrived) == ascii(query.model_copy(update={"text": query.text or ""}))


def test_a_limit_that_no_page_reaches_travels_as_the_largest_one() -> None:
    text = wire_records.encode_record_query(RecordQuery(limit=10**30))
    assert wire_records.decode_record_query(text).limit == (1 << 31) - 1


@given(st.dictionaries(ANY_TEXT.filter(bool) | st.just(PAIR), ANY_TEXT | st.just(PAIR), max_size=3))
def test_a_scope_to_erase_travels_exactly(pairs: dict[str, str]) -> None:
    text = wire_records.encode_scope(Scope(pairs))
    assert text.isascii()
    assert ascii(wire_records.decode_scope(text)) == ascii(Scope(pairs))


@pytest.mark.parametrize("idle", [timedelta.max, timedelta(microseconds=1), timedelta(days=7, microseconds=3)])
def test_a_sweep_policy_travels_exactly(idle: timedelta) -> None:
    policy = SweepPolicy(short_idle=idle, long_idle=idle, batch=7)
    ticket = wire.Ticket(client=UUID(int=1), epoch=0, call=0)
    assert through_json(wire_records.SweepRequest(ticket=ticket, policy=policy)).policy == policy


PAYLOADS = [
    "",
    "[]",
    '"text"',
    '{"content":"x"}',
    '{"scope":{},"content":"x"',
    '{"scope":{},"content":7}',
    '{"scope":{},"content":""}',
    '{"scope":{},"content":"\\u0000"}',
    '{"scope":{},"content":"\\ud83d"}',
    '{"scope":{"":"x"},"content":"x"}',
    '{"scope":{"user":7},"content":"x"}',
    '{"scope":[],"content":"x"}',
    '{"scope":{},"content":"x","tags":"ab"}',
    '{"scope":{},"content":"x","tags":[7]}',
    '{"scope":{},"content":"x","tags":{"a":1}}',
    '{"scope":{},"content":"x","provenance":"abc"}',
    '{"scope":{},"content":"x","provenance":["a","b"]}',
    '{"scope":{},"content":"x","supports":["abc"]}',
    '{"scope":{},"content":"x","target":7}',
    '{"scope":{},"content":"x","context":7}',
    '{"scope":{},"content":"x","payload":NaN}',
    '{"scope":{},"content":"x","kind":"fact"}',
    '{"scope":{},"content":"x","new":1}',
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_that_is_none_is_told_of_writes_and_records(payload: str) -> None:
    with pytest.raises(memcore.MalformedMemoryPayload):
        WriteBody(id=UUID(int=1), payload=payload, kind="fact").decode()
    with pytest.raises(memcore.MalformedMemoryPayload):
        RecordBody.of(PLAIN).model_copy(update={"payload": payload}).decode()


@pytest.mark.parametrize(
    "columns",
    [
        {"created_at": (1 << 63) - 1},
        {"expires_at": -(1 << 63)},
        {"updated_at": 0},
        {"hits": 10**30},
        {"superseded_by": UUID(int=2)},
        {"invalid_at": 0},
        {"ending": '["reason",null]'},
        {"ending": '"ab"'},
        {"ending": "[1,2]"},
        {"ending": "["},
    ],
    ids=repr,
)
def test_columns_that_are_of_no_record_are_told(columns: dict[str, Any]) -> None:
    with pytest.raises(memcore.MalformedMemoryPayload):
        RecordBody.of(PLAIN).model_copy(update=columns).decode()


@pytest.mark.parametrize("ending", ["[", '"ab"', "[1,2]", "[null]", "{}"])
def test_an_ending_that_is_none_is_told(ending: str) -> None:
    with pytest.raises(memcore.MalformedMemoryPayload):
        wire_records.InvalidationBody(id=UUID(int=1), ending=ending).decode()


QUERY = json.loads(wire_records.encode_record_query(RecordQuery()))


@pytest.mark.parametrize(
    "query",
    [
        [],
        {},
        QUERY | {"new": 1},
        QUERY | {"scope": {"user": "ada"}},
        QUERY | {"scope": [["user"]]},
        QUERY | {"scope": [["", "x"]]},
        QUERY | {"kinds": ["none"]},
        QUERY | {"tags": 7},
        QUERY | {"as_of": 10**30},
        QUERY | {"as_of": "now"},
        QUERY | {"mode": "fuzzy"},
        QUERY | {"limit": "many"},
    ],
    ids=repr,
)
def test_a_query_that_is_none_is_told(query: Any) -> None:
    with pytest.raises(memcore.MalformedMemoryPayload):
        wire_records.decode_record_query(json.dumps(query))


@pytest.mark.parametrize("scope", ["", "{}x", '{"a":"b"}', "[[]]", '[["",""]]', '[["a",7]]', "7"])
def test_a_scope_that_is_none_is_told(scope: str) -> None:
    with pytest.raises(memcore.MalformedMemoryPayload):
        wire_records.decode_scope(scope)


def test_a_conflict_brings_the_record_that_stands_in_the_way() -> None:
    large = RECORD.model_copy(update={"content": "x" * 1_000_000})
    for current in (RECORD, large):
        encoded = ErrorBody.of(memcore.MemoryConflict("ended", current=current)).encode()
        error = ErrorBody.model_validate(json.loads(encoded)).model_copy(update={"request": "abc"}).error()
        assert type(error) is memcore.MemoryConflict
        assert str(error) == "ended"
        assert repr(error.current) == repr(current)


@pytest.mark.parametrize("record", [7, {}, RecordBody.of(PLAIN).model_dump(mode="json") | {"payload": "{}"}])
def test_a_conflict_whose_record_is_none_is_malformed(record: Any) -> None:
    body = ErrorBody.stating("conflict").model_copy(update={"data": {"record": record}})
    assert type(body.error()) is memcore.MalformedMemoryPayload
