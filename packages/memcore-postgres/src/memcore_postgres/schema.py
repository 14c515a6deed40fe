"""The tables, and the ladder of migrations that leads to them (B-05).

Every step is a transaction under an advisory lock and only leads forward, so that any number of processes may open at
once. Namespace comes first in every key: the tables can be partitioned or distributed by it. What is stored is the
exact payload; words and terms are derived from it and can be rebuilt at any time.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final, NamedTuple

import asyncpg
from memcore.errors import (
    MalformedMemoryPayload,
    MemoryAdapterError,
    MemoryAdapterUnavailable,
    MemoryConfigurationError,
)
from memcore.kit.text import ANALYSIS_VERSION

_ITEMS: Final = """
    CREATE TABLE {schema}.meta (
        only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
        schema_version integer NOT NULL,
        analysis integer NOT NULL,     -- of the words that are written now
        is_complete boolean NOT NULL   -- whether all words are of that analysis
    );
    CREATE TABLE {schema}.items (
        namespace text COLLATE "C" NOT NULL,
        id uuid NOT NULL,
        created_at double precision NOT NULL,
        payload text NOT NULL,
        words text NOT NULL,
        tag_words text NOT NULL,
        terms text[] COLLATE "C" NOT NULL,
        lexemes tsvector NOT NULL GENERATED ALWAYS AS (
            array_to_tsvector(string_to_array(words, ' ') || string_to_array(tag_words, ' '))
        ) STORED,
        PRIMARY KEY (namespace, id)
    );
    -- Statistics are copies of values, beyond the reach of any erasure; no plan needs those of content.
    ALTER TABLE {schema}.items ALTER payload SET STATISTICS 0, ALTER words SET STATISTICS 0,
        ALTER tag_words SET STATISTICS 0, ALTER lexemes SET STATISTICS 0;
    CREATE INDEX items_by_time ON {schema}.items (namespace, created_at, id);
    -- One index for words and terms, so that a search in one namespace, or under a filter, reads only what is there.
    -- What was written last waits in a list that every search reads: by default, 4 MB cost milliseconds.
    CREATE INDEX items_found ON {schema}.items USING gin (lexemes, terms) WITH (gin_pending_list_limit = 256);
    INSERT INTO {schema}.meta (schema_version, analysis, is_complete) VALUES (0, {analysis}, true);
    ANALYZE {schema}.meta;  -- which every statement reads: without this it is planned for thousands of rows
"""
_RECORDS: Final = """
    CREATE TABLE {schema}.records (
        namespace text COLLATE "C" NOT NULL,
        id uuid NOT NULL,
        payload text NOT NULL,
        kind text COLLATE "C" NOT NULL,
        -- All times are microseconds since 1970: no time zone moves them.
        created_at bigint NOT NULL,
        updated_at bigint NOT NULL,
        expires_at bigint,
        tier text COLLATE "C",
        written bytea,
        invalid_at bigint,
        ending text,
        superseded_by uuid,
        hits bigint NOT NULL,
        last_hit_at bigint,
        refreshed_at bigint,
        words text NOT NULL,
        tag_words text NOT NULL,
        context_words text NOT NULL,
        terms text[] COLLATE "C" NOT NULL,
        lexemes tsvector NOT NULL GENERATED ALWAYS AS (
            array_to_tsvector(
                string_to_array(words, ' ') || string_to_array(tag_words, ' ') || string_to_array(context_words, ' ')
            )
        ) STORED,
        PRIMARY KEY (namespace, id)
    );
    ALTER TABLE {schema}.records ALTER payload SET STATISTICS 0, ALTER ending SET STATISTICS 0,
        ALTER words SET STATISTICS 0, ALTER tag_words SET STATISTICS 0, ALTER context_words SET STATISTICS 0,
        ALTER lexemes SET STATISTICS 0;
    -- What was valid at some time is listed by the first of these, what is valid now by the second.
    CREATE INDEX records_by_time ON {schema}.records (namespace, created_at, id);
    CREATE INDEX records_valid ON {schema}.records (namespace, created_at, id) WHERE invalid_at IS NULL;
    CREATE INDEX records_found ON {schema}.records USING gin (lexemes, terms) WITH (gin_pending_list_limit = 256);
    CREATE INDEX records_superseded ON {schema}.records (namespace, superseded_by) WHERE superseded_by IS NOT NULL;
    CREATE INDEX records_expiring ON {schema}.records (namespace, expires_at) WHERE expires_at IS NOT NULL;
    -- No column of it moves with a use: counting one writes to no index.
    CREATE INDEX records_decaying ON {schema}.records (namespace, tier, created_at, id)
        WHERE invalid_at IS NULL AND tier IN ('short', 'long');
"""
_STEPS: Final = (_ITEMS, _RECORDS)
SCHEMA_VERSION: Final = len(_STEPS)
_LOOK: Final = """
    SELECT current_setting('server_version') AS version, current_setting('server_version_num')::integer AS number,
        current_setting('server_encoding') AS encoding,
        current_setting('fsync') = 'on' AND current_setting('synchronous_commit') <> 'off' AS flushes,
        current_user::text AS role, current_database()::text AS database
"""
# Functions such as to_regclass may answer from what the session remembers; this reads the catalog itself.
_FIND: Final = """
    SELECT count(*) > 0 AS schema, count(pg_class.oid) > 0 AS tables
    FROM pg_namespace LEFT JOIN pg_class ON relnamespace = pg_namespace.oid AND relname = 'meta'
    WHERE '"' || nspname || '"' = $1
"""
OLDEST_SERVER: Final = 13
"""The oldest PostgreSQL that has what is used here and is still maintained; tested with 15 and 18."""
_VERSION: Final = "SELECT schema_version FROM {schema}.meta"
_RAISE: Final = "UPDATE {schema}.meta SET schema_version = {version}"


class Server(NamedTuple):
    """What the first connection learned."""

    version: str
    flushes: bool
    """Whether a commit waits for the disk."""


async def prepare(connection: asyncpg.Connection, schema: str) -> Server:
    """Bring the schema to the newest step, and return what the server says about itself.

    Args:
        connection: no transaction is open on it.
        schema: the quoted name.

    Raises:
        MemoryAdapterUnavailable: a newer version wrote the tables; they are left untouched.
        MemoryAdapterError: the role lacks a right; the message holds the statement that grants it.
        MalformedMemoryPayload: the schema holds tables of another application; they are left untouched.
        MemoryConfigurationError: the server is too old, or the database cannot hold every text.
    """
    look = await connection.fetchrow(_LOOK)
    if look["number"] < OLDEST_SERVER * 10_000:
        raise MemoryConfigurationError(f"PostgreSQL {OLDEST_SERVER} or newer is needed; this is {look['version']}")
    if look["encoding"] != "UTF8":
        raise MemoryConfigurationError(
            f"database {look['database']!r} is encoded in {look['encoding']}: use one that is made with ENCODING 'UTF8'"
        )
    there = await connection.fetchrow(_FIND, schema)
    is_old = not there["tables"]
    try:
        if is_old or (is_old := await _read_version(connection, schema) < SCHEMA_VERSION):
            await _migrate(connection, schema)
    except asyncpg.InsufficientPrivilegeError as error:
        raise MemoryAdapterError(_missing_right(look, there, schema, is_old=is_old)) from error
    except (asyncpg.DuplicateTableError, asyncpg.UndefinedColumnError) as error:
        raise MalformedMemoryPayload(
            f"schema {schema} holds tables of another application; they were left untouched: name another schema"
        ) from error
    return Server(look["version"], look["flushes"])


def check_version(version: int, schema: str) -> None:
    """Check the step that the tables stand on; every statement reads it along.

    Raises:
        MemoryAdapterUnavailable: a newer version wrote them, perhaps a moment ago (I-32).
    """
    if version > SCHEMA_VERSION:
        raise MemoryAdapterUnavailable(
            f"schema {schema} has version {version}, written by a newer memcore-postgres; this one knows versions "
            f"up to {SCHEMA_VERSION}: upgrade it. The tables were left untouched"
        )


async def _read_version(connection: asyncpg.Connection, schema: str) -> int:
    version: int = await connection.fetchval(_VERSION.format(schema=schema))
    check_version(version, schema)
    return version


async def _migrate(connection: asyncpg.Connection, schema: str) -> None:
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _lock_of(schema))
        there = await connection.fetchrow(_FIND, schema)  # another process may have been faster
        if not there["schema"]:
            await connection.execute(f"CREATE SCHEMA {schema}")
        version = await _read_version(connection, schema) if there["tables"] else 0
        for step in _STEPS[version:]:
            await connection.execute(step.format(schema=schema, analysis=ANALYSIS_VERSION))
        await connection.execute(_RAISE.format(schema=schema, version=SCHEMA_VERSION))


def _lock_of(schema: str) -> int:
    """Return the key of the lock that only migrations of this schema take."""
    return int.from_bytes(blake2b(f"memcore {schema}".encode(), digest_size=8).digest(), "big", signed=True)


def _missing_right(look: asyncpg.Record, there: asyncpg.Record, schema: str, *, is_old: bool) -> str:
    """Return an error's text with the exact statements for who may execute them."""
    role = '"' + look["role"].replace('"', '""') + '"'
    if not there["schema"]:
        statements = f"CREATE SCHEMA {schema} AUTHORIZATION {role};"
    elif not there["tables"]:
        statements = f"GRANT USAGE, CREATE ON SCHEMA {schema} TO {role};"
    else:
        rights = "USAGE, CREATE" if is_old else "USAGE"
        statements = (
            f"GRANT {rights} ON SCHEMA {schema} TO {role}; "
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role};"
        )
    return f"role {role} lacks a right; let an administrator of database {look['database']!r} execute: {statements}"
