"""The file: who may read it, what is refused untouched, and outages of the disk that pass."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from memcore import (
    MalformedMemoryPayload,
    MemoryAdapterUnavailable,
    MemoryItem,
    MemoryQuery,
)
from memcore_sqlite import schema, session
from memcore_sqlite.backend import SqliteBackend
from memcore_sqlite.settings import SqliteSettings

if TYPE_CHECKING:
    from memcore_sqlite.session import Session

Connect = Callable[..., SqliteBackend]

UNPRIVILEGED = textwrap.dedent("""
    import asyncio, os, sys, memcore
    from memcore import MemoryAdapterUnavailable, MemoryItem, MemoryQuery

    async def warm_up():
        async with memcore.connect("sqlite://") as backend:
            await backend.items.store(MemoryItem(content="tea", metadata={"k": 1}))
            await backend.items.search(MemoryQuery(text="tea"))

    asyncio.run(warm_up())
    if os.getuid() == 0:
        os.setuid(65534)
""")


@pytest.fixture
def shelf() -> Iterator[Path]:
    """A folder that every user can reach."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


@pytest.fixture
def make_file(run: Callable[..., str]) -> Callable[[Path], None]:
    """Make a store with one item, owned by an unprivileged user."""
    program = """
        async def main():
            async with memcore.connect(f"sqlite:///{sys.argv[1]}") as backend:
                await backend.items.store(MemoryItem(content="tea"))

        asyncio.run(main())
    """
    return lambda path: run(UNPRIVILEGED + textwrap.dedent(program), path) and None


def test_every_file_is_its_owners_alone_under_any_umask(run: Callable[..., str], path: Path) -> None:
    program = """
        import asyncio, os, sys, memcore

        async def main():
            async with memcore.connect(f"sqlite:///{sys.argv[1]}") as backend:
                await backend.items.store(memcore.MemoryItem())
                for name in sorted(os.listdir(os.path.dirname(sys.argv[1]))):
                    print(name, oct(os.stat(os.path.join(os.path.dirname(sys.argv[1]), name)).st_mode & 0o777))

        os.umask(0)
        asyncio.run(main())
    """
    assert run(program, path) == "memory.db 0o600\nmemory.db-shm 0o600\nmemory.db-wal 0o600\n"


async def test_a_link_leads_to_a_private_file(connect: Connect, tmp_path: Path) -> None:
    link, target = tmp_path / "link.db", tmp_path / "target.db"
    link.symlink_to(target)
    await connect(path=link).items.store(MemoryItem())
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


async def test_a_missing_folder_is_named_with_what_makes_it(connect: Connect, tmp_path: Path) -> None:
    with pytest.raises(MemoryAdapterUnavailable, match=f"mkdir -p '{tmp_path}/a/b'"):
        await connect(path=tmp_path / "a" / "b" / "memory.db").open()


async def test_opening_works_once_the_folder_is_there(connect: Connect, tmp_path: Path) -> None:
    backend = connect(path=tmp_path / "a" / "memory.db")
    with pytest.raises(MemoryAdapterUnavailable):
        await backend.items.store(MemoryItem())
    make_folder(tmp_path / "a")
    await backend.items.store(MemoryItem())
    assert await backend.items.count() == 1


async def test_a_folder_is_no_file(connect: Connect, tmp_path: Path) -> None:
    with pytest.raises(MemoryAdapterUnavailable, match="is a folder"):
        await connect(path=tmp_path).open()


@pytest.mark.parametrize("content", [b"garbage", b"\0" * 8_192, b"SQLite format 3\0" + b"\xff" * 8_000], ids=range(3))
async def test_what_is_no_database_is_refused_untouched(connect: Connect, path: Path, content: bytes) -> None:
    write(path, content)
    with pytest.raises(MalformedMemoryPayload, match="is not a sound"):
        await connect().items.store(MemoryItem())
    assert read(path) == content


async def test_an_empty_file_becomes_a_store(connect: Connect, path: Path) -> None:
    write(path, b"")
    await connect().items.store(MemoryItem())


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
@pytest.mark.parametrize("setup", ["CREATE TABLE notes (text)", "PRAGMA application_id = 7", "PRAGMA user_version = 0"])
async def test_another_applications_database_is_refused_untouched(
    connect: Connect, path: Path, setup: str, journal: str
) -> None:
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA journal_mode = {journal}")
        other.execute("CREATE VIEW one AS SELECT 1")
        other.execute(setup)
        other.commit()
    before = read(path)
    with pytest.raises(MalformedMemoryPayload, match="another application"):
        await connect().open()
    assert read(path) == before
    assert folder(path) == [path.name]


async def test_a_newer_schema_is_refused_untouched_with_both_versions(connect: Connect, path: Path) -> None:
    async with connect() as backend:
        await backend.items.store(MemoryItem())
    execute(path, f"PRAGMA user_version = {schema.SCHEMA_VERSION + 1}")
    before = read(path)
    with pytest.raises(
        MemoryAdapterUnavailable, match=rf"schema {schema.SCHEMA_VERSION + 1}.* {schema.SCHEMA_VERSION}"
    ):
        await connect().open()
    assert read(path) == before


async def test_a_schema_that_becomes_newer_meanwhile_stops_reads_and_writes(backend: SqliteBackend, path: Path) -> None:
    item = MemoryItem()
    await backend.items.store(item)
    execute(path, "PRAGMA user_version = 99")
    for call in (backend.items.retrieve(item.id), backend.items.store(item), backend.ping()):
        with pytest.raises(MemoryAdapterUnavailable, match="schema 99"):
            await call


async def test_a_full_database_refuses_and_keeps_what_it_has_and_works_again(backend: SqliteBackend) -> None:
    kept = MemoryItem(content="tea")
    await backend.items.store(kept)

    def limit(session: Session, pages: int) -> None:
        session.execute(f"PRAGMA max_page_count = {pages}")

    await backend._database.maintain(lambda session: limit(session, 1))  # as many as there are
    with pytest.raises(MemoryAdapterUnavailable, match="no space"):
        await backend.items.store(MemoryItem(content="x" * 100_000))
    assert await backend.items.retrieve(kept.id) == kept
    await backend._database.maintain(lambda session: limit(session, 1_000_000))
    await backend.items.store(MemoryItem(content="x" * 100_000))
    assert await backend.items.count() == 2


def test_a_full_disk_loses_nothing_acknowledged_and_passes(run: Callable[..., str], path: Path) -> None:
    program = """
        import asyncio, os, resource, sys, memcore
        from memcore import MemoryAdapterUnavailable, MemoryItem

        def allow(size):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

        async def main():
            async with memcore.connect(f"sqlite:///{sys.argv[1]}") as backend:
                stored = [await backend.items.store(MemoryItem(content="tea"))]
                allow(200_000)
                try:
                    while True:
                        stored.append(await backend.items.store(MemoryItem(content="x" * 20_000)))
                except MemoryAdapterUnavailable:
                    print("full")
                assert len(stored) < 30
                allow(resource.RLIM_INFINITY)
                stored.append(await backend.items.store(MemoryItem(content="tea again")))
                print(all([await backend.items.retrieve(id) is not None for id in stored]))
                print((await backend.check()).faults)

        asyncio.run(main())
    """
    assert run(program, path) == "full\nTrue\n()\n"


def test_a_read_only_file_can_be_read_and_says_why_it_cannot_be_written(
    run: Callable[..., str], make_file: Callable[[Path], None], shelf: Path
) -> None:
    path = shelf / "memory.db"
    make_file(path)
    path.chmod(0o400)
    program = """
        async def main():
            async with memcore.connect(f"sqlite:///{sys.argv[1]}") as backend:
                print(len(await backend.items.search(MemoryQuery(text="tea"))))
                try:
                    await backend.items.store(MemoryItem())
                except MemoryAdapterUnavailable as error:
                    print(error)
                for name in ("", "-wal", "-shm"):
                    os.chmod(sys.argv[1] + name, 0o600)
                while await backend.items.count() < 2:
                    try:
                        await backend.items.store(MemoryItem())
                    except MemoryAdapterUnavailable:  # another connection still holds it as it was
                        await asyncio.sleep(0.01)
                print("written")

        asyncio.run(main())
    """
    message = f"this user may not read and write {path}; change its permissions: chmod u+rw '{path}'"
    assert run(UNPRIVILEGED + textwrap.dedent(program), path) == f"1\n{message}\nwritten\n"


@pytest.mark.parametrize("exists", [True, False])
def test_a_read_only_folder_is_named(
    run: Callable[..., str], make_file: Callable[[Path], None], shelf: Path, *, exists: bool
) -> None:
    path = shelf / "memory.db"
    if exists:
        make_file(path)
    shelf.chmod(0o555)
    program = """
        try:
            asyncio.run(memcore.connect(f"sqlite:///{sys.argv[1]}").open())
        except MemoryAdapterUnavailable as error:
            print(error)
    """
    try:
        output = run(UNPRIVILEGED + textwrap.dedent(program), path)
    finally:
        shelf.chmod(0o777)
    assert output.startswith(f"this user may not write in the folder {shelf}")


def test_a_folder_that_this_user_may_not_enter_is_named(run: Callable[..., str], shelf: Path) -> None:
    (shelf / "private" / "inner").mkdir(parents=True)
    (shelf / "private").chmod(0o700 if os.getuid() == 0 else 0o600)
    program = """
        for place in ("inner/memory.db", "memory.db", "missing/memory.db"):
            try:
                asyncio.run(memcore.connect(f"sqlite:///{sys.argv[1]}/{place}").open())
            except MemoryAdapterUnavailable as error:
                print(error)
    """
    try:
        output = run(UNPRIVILEGED + textwrap.dedent(program), shelf / "private")
    finally:
        (shelf / "private").chmod(0o700)
    assert output == f"this user may not enter the folder {shelf / 'private'}; change its permissions\n" * 3


async def test_a_name_that_no_file_can_have_is_told(connect: Connect, tmp_path: Path) -> None:
    with pytest.raises(MemoryAdapterUnavailable, match="cannot be opened: File name too long"):
        await connect(path=tmp_path / ("n" * 300)).open()


async def test_a_file_that_was_moved_is_missed_and_found_again(backend: SqliteBackend, path: Path) -> None:
    item = MemoryItem(content="tea")
    await backend.items.store(item)
    move(path, path.with_suffix(".away"))
    for call in (
        backend.items.store(item),
        backend.items.retrieve(item.id),
        backend.items.search(MemoryQuery(text="tea")),
    ):
        with pytest.raises(MemoryAdapterUnavailable, match="moved or deleted"):
            await call
    move(path.with_suffix(".away"), path)
    await backend.items.store(MemoryItem())
    assert await backend.items.count() == 2


async def test_a_file_that_took_its_place_is_left_alone(backend: SqliteBackend, connect: Connect, path: Path) -> None:
    await backend.items.store(MemoryItem())
    async with connect(path=path.with_name("other.db")) as other:
        await other.items.store_many([MemoryItem(), MemoryItem()])
    move(path.with_name("other.db"), path)
    before = read(path)
    for call in (backend.items.store(MemoryItem()), backend.items.count()):
        with pytest.raises(MemoryAdapterUnavailable, match="connect again"):
            await call
    await backend.close()
    assert read(path) == before
    for left_over in path.parent.glob("memory.db-*"):
        left_over.unlink()
    assert await connect().items.count() == 2


async def test_a_connection_that_broke_is_made_anew(backend: SqliteBackend) -> None:
    item = MemoryItem()
    await backend.items.store(item)

    def fail(_session: Session) -> None:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_READ
        error.sqlite_errorname = "SQLITE_IOERR_READ"
        raise error

    def identity(session: Session) -> int:
        return id(session)

    for submit in (backend._database.write, backend._database.read):
        before = await submit(identity)
        with pytest.raises(MemoryAdapterUnavailable, match="SQLITE_IOERR_READ"):
            await submit(fail)
        assert await submit(identity) != before
    await backend.items.store(item)
    assert await backend.items.retrieve(item.id) == item


async def test_a_database_in_memory_outlives_an_error(connect: Connect) -> None:
    backend = connect(path=None)
    item = MemoryItem()
    await backend.items.store(item)

    def fail(_session: Session) -> None:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise error

    with pytest.raises(MemoryAdapterUnavailable):
        await backend._database.write(fail)
    assert await backend.items.retrieve(item.id) == item


async def test_an_older_sqlite_is_refused_with_both_versions(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "OLDEST_SQLITE", (99, 0, 0))
    with pytest.raises(MemoryAdapterUnavailable, match=rf"SQLite 99\.0\.0 is needed.* {sqlite3.sqlite_version}"):
        await connect().open()


async def test_an_sqlite_without_full_text_search_is_refused(path: Path) -> None:
    class Plain(session.Session):
        def execute(self, sql: str, *parameters: object) -> sqlite3.Cursor:
            return super().execute(sql.replace("fts5_source_id", "no_such_function"), *parameters)

    backend = SqliteBackend(SqliteSettings(path=path), make_session=Plain)
    with pytest.raises(MemoryAdapterUnavailable, match="FTS5"):
        await backend.open()


def make_folder(path: Path) -> None:
    path.mkdir()


def move(path: Path, target: Path) -> None:
    path.rename(target)


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def read(path: Path) -> bytes:
    return path.read_bytes()


def folder(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


def execute(path: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)
