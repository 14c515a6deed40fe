"""The tables, and the ladder of migrations that leads to them (B-05).

Every step is a transaction and only leads forward; `PRAGMA user_version` is the step that a file stands on. What is
stored is the exact payload; words and terms are derived from it and can be rebuilt at any time.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from memcore.errors import MalformedMemoryPayload, MemoryAdapterUnavailable
from memcore.kit.text import ANALYSIS_VERSION

if TYPE_CHECKING:
    from memcore_sqlite.session import Session

APPLICATION_ID: Final = 0x6D656D63
"""Marks a file as ours: "memc"."""
MIXED: Final = 0
"""Stands for the analysis of an index that several analyses wrote into."""
IDLE_SINCE: Final = "max(created_at, ifnull(last_hit_at, created_at), ifnull(refreshed_at, created_at))"
"""Since when a record has not been used: an indexed expression, found again by its very text."""

_ITEMS: Final = (
    "CREATE TABLE namespaces (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    # The analysed words are stored: taking words out of FTS5 needs exactly those that were put in, whatever the
    # analysis says today, and ranking needs them again.
    """CREATE TABLE items (
        seq INTEGER PRIMARY KEY,
        namespace INTEGER NOT NULL,
        id BLOB NOT NULL,
        created_at REAL NOT NULL,
        payload TEXT NOT NULL,
        words TEXT NOT NULL,
        tag_words TEXT NOT NULL,
        UNIQUE (namespace, id)
    )""",
    "CREATE INDEX items_by_time ON items (namespace, created_at)",
    """CREATE VIRTUAL TABLE item_words USING fts5 (
        words, tag_words, namespace, content = 'items', content_rowid = 'seq', tokenize = 'ascii'
    )""",
    """CREATE TABLE item_terms (
        term BLOB NOT NULL, created_at REAL NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (term, created_at, seq)
    ) WITHOUT ROWID""",
)
_RECORDS: Final = (
    # What conditions ask about stands before what may be long: SQLite reads a row from its start. Each `scope` holds a
    # word for every pair of the scope, so that a search in one scope reads what is there alone.
    """CREATE TABLE records (
        seq INTEGER PRIMARY KEY,
        namespace INTEGER NOT NULL,
        id BLOB NOT NULL,
        kind TEXT NOT NULL,
        tier TEXT,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        expires_at INTEGER,
        invalid_at INTEGER,
        superseded_by BLOB,
        hits INTEGER NOT NULL,
        last_hit_at INTEGER,
        refreshed_at INTEGER,
        written BLOB,
        ending TEXT,
        payload TEXT NOT NULL,
        scope TEXT NOT NULL,
        words TEXT NOT NULL,
        tag_words TEXT NOT NULL,
        context_words TEXT NOT NULL,
        UNIQUE (namespace, id)
    )""",
    "CREATE INDEX records_by_time ON records (namespace, created_at, id)",
    "CREATE INDEX records_valid ON records (namespace, created_at, id) WHERE invalid_at IS NULL",
    "CREATE INDEX records_expiring ON records (namespace, expires_at) WHERE expires_at IS NOT NULL",
    f"""CREATE INDEX records_idle ON records (namespace, tier, {IDLE_SINCE})
        WHERE invalid_at IS NULL AND tier IS NOT NULL""",
    "CREATE INDEX records_superseded ON records (namespace, superseded_by) WHERE superseded_by IS NOT NULL",
    """CREATE VIRTUAL TABLE record_words USING fts5 (
        words, tag_words, context_words, scope, namespace,
        content = 'records', content_rowid = 'seq', tokenize = 'ascii'
    )""",
    # The term of a record that has ended is another one: the newest that are valid stand side by side.
    """CREATE TABLE record_terms (
        term BLOB NOT NULL, created_at INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (term, created_at, seq)
    ) WITHOUT ROWID""",
)
_STEPS: Final = (_ITEMS, _RECORDS)
SCHEMA_VERSION: Final = len(_STEPS)
_FIND_NAMESPACE: Final = "SELECT number FROM namespaces WHERE name = ?"


def prepare(session: Session) -> None:
    """Bring the file to the newest step and learn the number of the namespace; safe when many processes do so at once.

    Raises:
        MalformedMemoryPayload: the file belongs to another application; it is left untouched.
        MemoryAdapterUnavailable: a newer version wrote it; it is left untouched.
    """
    version = session.insist(partial(_look, session))
    if session.path is not None:
        session.insist(partial(session.execute, "PRAGMA journal_mode = WAL"))
        if session.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            raise MemoryAdapterUnavailable(f"the file system of {session.path} lacks what SQLite's log (WAL) needs")
    known = session.execute(_FIND_NAMESPACE, (session.namespace,)).fetchone() if version == SCHEMA_VERSION else None
    session.number = known[0] if known else _migrate(session)


def read_version(session: Session) -> int:
    """Return the step that the file stands on, 0 for an empty one.

    Raises:
        MalformedMemoryPayload: the file belongs to another application.
        MemoryAdapterUnavailable: a newer version wrote it.
    """
    ((owner,),) = session.execute("PRAGMA application_id")
    if owner != APPLICATION_ID and (owner or session.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()):
        raise MalformedMemoryPayload(f"{session.path} belongs to another application; it was left untouched")
    return check_version(session)


def check_version(session: Session) -> int:
    """Return the step that the file stands on now.

    Raises:
        MemoryAdapterUnavailable: a newer version wrote it, perhaps a moment ago (I-32).
    """
    ((version,),) = session.execute("PRAGMA user_version")
    if version > SCHEMA_VERSION:
        raise MemoryAdapterUnavailable(
            f"{session.path} has schema {version}, written by a newer memcore-sqlite; this one knows schemas up to "
            f"{SCHEMA_VERSION}: upgrade it. The file was left untouched"
        )
    return int(version)


def analysis_version(session: Session) -> int:
    """Return the analysis that made all words of the index; none that exists if they are a mixture or being rebuilt."""
    return int(session.execute("SELECT value FROM meta WHERE key = 'analysis'").fetchone()[0])


def set_analysis_version(session: Session, version: int) -> None:
    """Declare which analysis made the words of the index."""
    session.execute("UPDATE meta SET value = ? WHERE key = 'analysis'", (version,))


def _look(session: Session) -> int:
    """Read the version in one snapshot: another process may be making the file ours at this moment."""
    session.execute("BEGIN")
    try:
        return read_version(session)
    finally:
        session.execute("ROLLBACK")


def _migrate(session: Session) -> int:
    session.insist(partial(session.execute, "BEGIN IMMEDIATE"))
    try:
        version = read_version(session)  # another process may have been faster
        for step in _STEPS[version:]:
            for statement in step:
                session.execute(statement)
        session.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        session.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        session.execute("INSERT OR IGNORE INTO meta VALUES ('analysis', ?)", (ANALYSIS_VERSION,))
        session.execute("INSERT OR IGNORE INTO namespaces (name) VALUES (?)", (session.namespace,))
        ((number,),) = session.execute(_FIND_NAMESPACE, (session.namespace,)).fetchall()
        session.execute("COMMIT")
    except BaseException:
        if session.in_transaction:
            session.execute("ROLLBACK")
        raise
    return int(number)
