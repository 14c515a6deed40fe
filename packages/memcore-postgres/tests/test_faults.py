"""Every failure of the server or the network is of the right type, says nothing secret, and passes (I-70, I-71)."""

from __future__ import annotations

import asyncio
import traceback
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
from memcore import (
    MalformedMemoryPayload,
    MemoryAdapterError,
    MemoryAdapterUnavailable,
    MemoryConfigurationError,
    MemoryItem,
    MemoryQuery,
)
from memcore.plugins import connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from conftest import Server, Store
    from memcore_postgres.backend import PostgresBackend

SECRET = "s3cr3t-pass"


def calls(backend: PostgresBackend, item: MemoryItem) -> list[Callable[[], Awaitable[object]]]:
    """Return one call of every operation that reaches the server."""
    items = backend.items
    return [
        lambda: items.store(item),
        lambda: items.retrieve(item.id),
        lambda: items.search(MemoryQuery()),
        lambda: items.search(MemoryQuery(text="tea")),
        lambda: items.store_many([item]),
        lambda: items.delete_many([MemoryItem().id]),
        lambda: items.delete_where({"never": 1}),
        items.scan,
        items.count,
        backend.ping,
        backend.check,
    ]


@asynccontextmanager
async def listening(
    answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[str]:
    """Serve something else than PostgreSQL and yield its address."""

    visits: list[asyncio.Task[None]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await answer(reader, writer)
            writer.close()
            await writer.wait_closed()

    def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visits.append(asyncio.create_task(serve(reader, writer)))

    other = await asyncio.start_server(visit, "127.0.0.1", 0)
    host, port = other.sockets[0].getsockname()
    yield f"{host}:{port}"
    other.close()
    await asyncio.gather(*visits)


async def fails_to_open(url: str, kind: type[Exception], **settings: Any) -> str:
    """Check that opening fails with exactly this error, and return all that it shows."""
    backend = connect(url, **settings)
    with pytest.raises(kind) as caught:
        await backend.open()
    assert type(caught.value) is kind
    await backend.close()
    return "".join(traceback.format_exception(caught.value))


async def test_nobody_listens() -> None:
    async with listening(lambda *_: asyncio.sleep(0)) as address:
        pass
    shown = await fails_to_open(f"postgresql://ada:{SECRET}@{address}/db", MemoryAdapterUnavailable)
    assert address in shown
    assert SECRET not in shown


async def test_the_folder_has_no_socket(store: Store) -> None:
    await fails_to_open(store.server.url(host="/nowhere"), MemoryAdapterUnavailable)


async def test_the_server_never_answers() -> None:
    async with listening(lambda reader, _: reader.read()) as address:
        await fails_to_open(f"postgresql://ada@{address}/db", MemoryAdapterUnavailable, connect_timeout=0.2)


async def test_the_server_hangs_up() -> None:
    async with listening(lambda reader, _: reader.read(1)) as address:
        await fails_to_open(f"postgresql://ada@{address}/db?sslmode=disable", MemoryAdapterUnavailable)


async def test_something_else_answers() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 11\r\n\r\nBad Request")
        await writer.drain()

    async with listening(answer) as address:
        backend = connect(f"postgresql://ada@{address}/db?sslmode=disable", connect_timeout=2)
        with pytest.raises((MalformedMemoryPayload, MemoryAdapterUnavailable)):
            await backend.open()


async def test_the_database_does_not_exist(store: Store) -> None:
    shown = await fails_to_open(store.url(database="no_such_db"), MemoryAdapterUnavailable)
    assert "create it first" in shown


async def test_a_database_that_accepts_no_connections_is_an_outage(store: Store) -> None:
    await store.server.execute("CREATE DATABASE shut ALLOW_CONNECTIONS false")
    shown = await fails_to_open(store.url(database="shut"), MemoryAdapterUnavailable)
    assert "accepts no connections" in shown
    await store.server.execute("DROP DATABASE shut")


async def test_a_database_that_cannot_hold_every_text_is_refused(store: Store) -> None:
    await store.server.execute("CREATE DATABASE narrow TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    shown = await fails_to_open(store.url(database="narrow"), MemoryConfigurationError)
    assert "ENCODING 'UTF8'" in shown
    await store.server.execute("DROP DATABASE narrow")


@pytest.fixture
async def locked_out(store: Store) -> AsyncIterator[str]:
    """A role that must give a password."""
    rules = store.server.data / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all guarded scram-sha-256\n{before}")
    await store.server.execute(f"CREATE ROLE guarded LOGIN PASSWORD '{SECRET}'", "SELECT pg_reload_conf()")
    yield "guarded"
    rules.write_text(before)
    await store.server.execute("DROP OWNED BY guarded", "DROP ROLE guarded", "SELECT pg_reload_conf()")


@pytest.mark.parametrize("password", [None, "wr0ng-pass"])
async def test_a_refused_password_is_no_outage_and_is_not_shown(
    store: Store, locked_out: str, password: str | None
) -> None:
    given = {} if password is None else {"password": password}
    shown = await fails_to_open(store.url(user=locked_out), MemoryAdapterError, **given)
    assert "refused the role or its password" in shown
    assert "wr0ng-pass" not in shown


async def test_the_right_password_opens_and_is_shown_nowhere(
    store: Store, locked_out: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    await store.server.execute(f"CREATE SCHEMA {store.schema} AUTHORIZATION {locked_out}")
    backend = store.connect(user=locked_out, password=SECRET)
    await backend.items.store(MemoryItem(content="tea"))
    assert SECRET not in repr(backend) + repr(await backend.ping()) + caplog.text


async def test_a_role_with_too_many_connections_is_told_what_to_do(store: Store) -> None:
    await store.server.execute("CREATE ROLE crowd LOGIN CONNECTION LIMIT 0")
    shown = await fails_to_open(store.url(user="crowd"), MemoryAdapterUnavailable)
    assert "lower max_size" in shown
    await store.server.execute("DROP ROLE crowd")


async def test_a_read_only_server_is_read_and_refuses_writes(backend: PostgresBackend, store: Store) -> None:
    item = MemoryItem(content="tea")
    await backend.items.store(item)
    await store.server.execute(
        "CREATE ROLE reader LOGIN SUPERUSER", "ALTER ROLE reader SET default_transaction_read_only = on"
    )
    reader = store.connect(user="reader")
    assert await reader.items.search(MemoryQuery(text="tea")) == [item]
    with pytest.raises(MemoryAdapterUnavailable, match="read-only"):
        await reader.items.store(item)
    await reader.close()
    await store.server.execute("DROP ROLE reader")


@pytest.mark.parametrize("number", range(11))
async def test_a_statement_that_takes_too_long_ends_in_time(store: Store, number: int) -> None:
    backend = store.connect(command_timeout=0.3)
    item = MemoryItem(content="tea")
    await backend.items.store(item)
    call = calls(backend, item)[number]
    holder = await store.server.connect()
    async with holder.transaction():
        await holder.execute(f"LOCK TABLE {store.schema}.items, {store.schema}.meta IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(MemoryAdapterUnavailable, match=r"in time|too long"):
            await call()
    await holder.close()
    await call()
    assert await store.sessions("state <> 'idle'") == []


@pytest.mark.parametrize("number", range(11))
async def test_a_session_that_is_terminated_in_the_middle_fails_its_call_alone(store: Store, number: int) -> None:
    backend = store.connect()
    item = MemoryItem(content="tea")
    await backend.items.store(item)
    holder = await store.server.connect()
    async with holder.transaction():
        await holder.execute(f"LOCK TABLE {store.schema}.items, {store.schema}.meta IN ACCESS EXCLUSIVE MODE")
        call = asyncio.ensure_future(calls(backend, item)[number]())
        while not (waiting := await store.sessions("wait_event_type = 'Lock'")):  # noqa: ASYNC110 - the server's doing
            await asyncio.sleep(0.01)
        await holder.execute("SELECT pg_terminate_backend($1)", waiting[0]["pid"])
        with pytest.raises(MemoryAdapterUnavailable):
            await call
    await holder.close()
    await calls(backend, item)[number]()


async def test_sessions_that_died_while_idle_are_replaced_without_a_failure(
    backend: PostgresBackend, store: Store
) -> None:
    item = MemoryItem(content="tea")
    await backend.items.store(item)
    for session in await store.sessions():
        await store.fetch("SELECT pg_terminate_backend($1, 10000)", session["pid"])
    assert await backend.items.retrieve(item.id) == item


async def test_the_same_object_works_again_after_the_server_was_away(server: Server, store: Store) -> None:
    backend = store.connect()
    item = MemoryItem(content="tea")
    await backend.items.store(item)
    server.stop()
    try:
        for call in calls(backend, item):
            with pytest.raises(MemoryAdapterUnavailable):
                await call()
    finally:
        server.start()
    for call in calls(backend, item):
        await call()
    assert await backend.items.retrieve(item.id) == item


async def test_closing_works_while_the_server_is_away(server: Server, store: Store) -> None:
    backend = store.connect()
    await backend.items.store(MemoryItem(content="tea"))
    server.stop()
    try:
        await backend.close()
    finally:
        server.start()


async def test_a_pool_that_is_exhausted_says_what_to_do(store: Store) -> None:
    backend = store.connect(max_size=1, acquire_timeout=0.2)
    await backend.open()
    async with backend._database.connection():
        with pytest.raises(MemoryAdapterUnavailable, match="raise max_size"):
            await backend.items.count()
    assert await backend.items.count() == 0


async def test_tables_that_are_gone_are_an_outage(backend: PostgresBackend, store: Store) -> None:
    await store.fetch("DROP TABLE items")
    with pytest.raises(MemoryAdapterUnavailable, match="tables are gone"):
        await backend.items.count()


async def test_a_newer_schema_stops_everything_of_an_open_backend(backend: PostgresBackend, store: Store) -> None:
    item = MemoryItem(content="tea")
    await backend.items.store(item)
    await store.fetch("UPDATE meta SET schema_version = 99")
    before = await store.fetch("SELECT * FROM items")
    for call in [*calls(backend, item), lambda: backend.items.delete(item.id), backend.drop_namespace]:
        with pytest.raises(MemoryAdapterUnavailable, match=r"version 99.*upgrade"):
            await call()
    assert await store.fetch("SELECT * FROM items") == before


async def test_a_success_that_stored_nothing_is_a_failure(backend: PostgresBackend, store: Store) -> None:
    await store.fetch("CREATE RULE nothing AS ON INSERT TO items DO INSTEAD NOTHING")
    with pytest.raises(MemoryAdapterError):
        await backend.items.store(MemoryItem(content="tea"))
    await store.fetch("DROP RULE nothing ON items")
    await store.fetch("CREATE FUNCTION ignore() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
    await store.fetch("CREATE TRIGGER ignore BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION ignore()")
    with pytest.raises(MalformedMemoryPayload, match="0 of 1 rows"):
        await backend.items.store(MemoryItem(content="tea"))


async def test_words_of_a_newer_analysis_stop_writes_of_an_open_backend(backend: PostgresBackend, store: Store) -> None:
    await store.fetch("UPDATE meta SET analysis = analysis + 1")
    with pytest.raises(MemoryAdapterUnavailable, match="upgrade memcore"):
        await backend.items.store(MemoryItem(content="tea"))
    assert await backend.items.count() == 0


async def test_the_native_error_is_the_cause_and_the_message_holds_no_content(
    backend: PostgresBackend, store: Store
) -> None:
    await store.fetch("ALTER TABLE items ADD CHECK (payload NOT LIKE '%private%')")
    with pytest.raises(MemoryAdapterError) as caught:
        await backend.items.store(MemoryItem(content="very private"))
    assert type(caught.value.__cause__).__name__ == "CheckViolationError"
    assert "private" not in str(caught.value)
