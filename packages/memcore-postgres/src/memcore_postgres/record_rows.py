"""The table of records as statements see it: its columns, the server's time, and rows as the driver takes them.

Texts are all that is sent, cast by the server: the driver sends them without asking for types first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from memcore.kit.ranking import RECORD_WEIGHTS
from memcore.kit.text import ANALYSIS_VERSION
from memcore.records.rows import RecordRow

from memcore_postgres.index import DerivedRecord
from memcore_postgres.schema import SCHEMA_VERSION
from memcore_postgres.search import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import asyncpg

ALL: Final = ", ".join(f"records.{name}" for name in RecordRow._fields)
"""A row as it is stored."""
STATE: Final = ", ".join("'' AS payload" if name == "payload" else f"records.{name}" for name in RecordRow._fields)
"""A row without its payload, for what does not look at it."""
_TICKS: Final = 1_000_000

_CLOCK: Final = "(extract(epoch FROM {name}()) * 1000000)::bigint"
# What a record is superseded by is shown past successors that have expired, as if they had been swept.
_SUCCESSOR: Final = """
    CASE WHEN records.superseded_by IS NOT NULL THEN (
        WITH RECURSIVE step (id) AS (
            SELECT records.superseded_by
            UNION
            SELECT gone.superseded_by FROM step JOIN {schema}.records AS gone
                ON gone.namespace = $1 AND gone.id = step.id AND gone.expires_at <= {now}
        )
        SELECT step.id FROM step
        LEFT JOIN {schema}.records AS gone ON gone.namespace = $1 AND gone.id = step.id AND gone.expires_at <= {now}
        WHERE gone.id IS NULL
    ) END AS superseded_by
"""
# The times of what is new are counted from the time that is told, or from the server's.
_INSERT: Final = """
    WITH fence AS MATERIALIZED (SELECT pg_advisory_xact_lock($2)), moment AS MATERIALIZED (
        SELECT coalesce($3::bigint, {clock}) AS now FROM fence
    ), stored AS (
        INSERT INTO {schema}.records (namespace, {columns}) SELECT $1, {values} FROM moment, {schema}.meta, {given}
        WHERE meta.schema_version = {version} AND meta.analysis = {analysis} {otherwise} RETURNING 1
    )
    SELECT schema_version, analysis, now, (SELECT count(*) FROM stored) AS count FROM {schema}.meta, moment
"""
_REPLACE: Final = "ON CONFLICT (namespace, id) DO UPDATE SET {settled}"
_UPDATE: Final = """
    UPDATE {schema}.records SET {changes} FROM {given} WHERE records.namespace = $1 AND records.id = given.id::uuid
"""
_STATE_CASTS: Final = {
    "updated_at": "::bigint",
    "tier": "",
    "invalid_at": "::bigint",
    "ending": "",
    "superseded_by": "::uuid",
    "hits": "::bigint",
    "last_hit_at": "::bigint",
    "refreshed_at": "::bigint",
}
"""What becomes of a record changes these columns alone."""
_CASTS: Final = _STATE_CASTS | {"id": "::uuid", "expires_at": "::bigint"}
_READ: Final = {
    "created_at": "moment.now + given.created_at::bigint",
    "updated_at": "moment.now + given.updated_at::bigint",
    "written": "decode(given.written, 'hex')",
    "terms": "string_to_array(given.terms, ' ')",
}
_COLUMNS: Final = RecordRow._fields + DerivedRecord._fields
_CHANGED: Final = ("id", *_STATE_CASTS)


def clock(name: str = "statement_timestamp") -> str:
    """Return the SQL of the server's time in microseconds since 1970."""
    return _CLOCK.format(name=name)


def time(told: str) -> str:
    """Return the SQL of the time in microseconds since 1970: what is told in that place, or else the server's."""
    return f"coalesce({told}::bigint, {clock()})"


def unexpired(now: str) -> str:
    """Return the SQL of not having expired."""
    return f"(records.expires_at IS NULL OR records.expires_at > {now})"


def records_table(schema: str) -> Table:
    """Return the table of records, read as they are stored."""
    columns = ", ".join(f"records.{name}" for name in RecordRow._fields if name != "payload")
    return Table(schema, "records", columns, DerivedRecord._fields[:-1], RECORD_WEIGHTS, _TICKS)


def shown_table(schema: str, now: str) -> Table:
    """Return the table of records, read as they are shown at that time."""
    table = records_table(schema)
    successor = _SUCCESSOR.format(schema=schema, now=now)
    return table._replace(columns=table.columns.replace("records.superseded_by", successor))


def insertion(schema: str, *, replacing: bool = False) -> str:
    """Return the statement that inserts rows and counts them; with `replacing`, in the place of what is there.

    Its first parameters are the namespace, the writer's lock, and from when the rows' times are counted.
    """
    settled = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS if name != "id")
    return _INSERT.format(
        schema=schema,
        columns=", ".join(_COLUMNS),
        values=", ".join(_READ.get(name, f"given.{name}{_CASTS.get(name, '')}") for name in _COLUMNS),
        given=_given(_COLUMNS, first=4),
        clock=clock("clock_timestamp"),
        version=SCHEMA_VERSION,
        analysis=ANALYSIS_VERSION,
        otherwise=_REPLACE.format(settled=settled) if replacing else "",
    )


def insertion_values(rows: Iterable[tuple[RecordRow, DerivedRecord]]) -> list[list[str | None]]:
    """Return the parameters of an insertion."""
    return _columns((*map(_text, row), *derived) for row, derived in rows)


def update(schema: str) -> str:
    """Return the statement that writes what became of rows."""
    changes = ", ".join(f"{name} = given.{name}{cast}" for name, cast in _STATE_CASTS.items())
    return _UPDATE.format(schema=schema, changes=changes, given=_given(_CHANGED, first=2))


def update_values(rows: Iterable[RecordRow]) -> list[list[str | None]]:
    """Return the parameters of an update."""
    return _columns([_text(getattr(row, name)) for name in _CHANGED] for row in rows)


def record_row(row: asyncpg.Record) -> RecordRow:
    """Return a row as the core knows it."""
    values = [row[name] for name in RecordRow._fields]
    # the driver's ids are of a subclass
    return RecordRow._make(UUID(int=value.int) if isinstance(value, UUID) else value for value in values)


def _given(names: Sequence[str], *, first: int) -> str:
    places = ", ".join(f"${place}::text[]" for place in range(first, first + len(names)))
    return f"unnest({places}) AS given ({', '.join(names)})"


def _columns(rows: Iterable[Sequence[str | None]]) -> list[list[str | None]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _text(value: object) -> str | None:
    if value is None:
        return None
    return value.hex() if isinstance(value, bytes) else str(value)
