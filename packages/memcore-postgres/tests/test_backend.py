"""The life of a backend, what it claims, and what it tells about itself (B-02)."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING

import memcore
import pytest
from memcore import MemoryConfigurationError, MemoryItem
from memcore.backend import Maintenance

if TYPE_CHECKING:
    from conftest import Store
    from memcore_postgres.backend import PostgresBackend


async def test_it_opens_on_first_use(store: Store) -> None:
    assert await store.connect().items.count() == 0


async def test_calls_that_come_first_at_the_same_time_open_it_once(store: Store) -> None:
    backend = store.connect()
    assert await asyncio.gather(*(backend.items.count() for _ in range(10))) == [0] * 10


async def test_claims_are_known_once_it_is_open(store: Store) -> None:
    backend = store.connect()
    for read in (lambda: backend.capabilities, lambda: backend.items.manifest):
        with pytest.raises(MemoryConfigurationError, match="known once it is open"):
            read()
    await backend.open()
    assert backend.items.manifest is backend.items.manifest
    assert backend.capabilities is backend.capabilities


async def test_it_claims_what_it_does(backend: PostgresBackend) -> None:
    claims = backend.capabilities
    assert claims.contracts == {"items", "records"}
    assert claims.extensions == {"managed", "maintenance", "history", "lifecycle", "transfer"}
    assert (claims.durable, claims.power_safe, claims.shared, claims.analysed) == (True, True, True, True)
    assert claims.search == "keyword"
    assert isinstance(backend, Maintenance)


async def test_a_server_that_does_not_wait_for_its_disk_is_not_called_power_safe(
    backend: PostgresBackend, store: Store
) -> None:
    await store.server.execute("CREATE ROLE hasty LOGIN SUPERUSER", "ALTER ROLE hasty SET synchronous_commit = off")
    hasty = store.connect(user="hasty")
    await hasty.open()
    assert backend.capabilities.power_safe
    assert not hasty.capabilities.power_safe
    await hasty.close()
    await store.server.execute("DROP ROLE hasty")


async def test_its_manifest_loses_nothing(backend: PostgresBackend) -> None:
    backend.items.manifest.require(
        fields=["id", "created_at", "content", "metadata", "tags"],
        filters=["anything"],
        retrieve_fidelity="full",
        search_fidelity="full",
        search_consistency="immediate",
        search_returns_tags=True,
        preserves_metadata=True,
    )


async def test_a_ping_tells_what_takes_part(backend: PostgresBackend) -> None:
    health = await backend.ping()
    assert (health.status, health.detail) == ("ok", None)
    assert set(health.versions) == {"memcore-postgres", "asyncpg", "postgresql", "schema"}


async def test_a_contract_that_is_not_offered_is_refused(backend: PostgresBackend) -> None:
    with pytest.raises(MemoryConfigurationError, match="does not offer the conversations contract"):
        _ = backend.conversations


async def test_closing_again_does_nothing_and_use_after_it_is_refused(backend: PostgresBackend) -> None:
    await backend.close()
    await backend.close()
    with pytest.raises(MemoryConfigurationError, match="closed"):
        await backend.items.count()


async def test_closing_finishes_what_was_accepted(store: Store) -> None:
    backend = store.connect()
    await backend.open()
    stores = [asyncio.create_task(backend.items.store(MemoryItem(content="tea"))) for _ in range(300)]
    await asyncio.sleep(0)
    await backend.close()
    assert len(await asyncio.gather(*stores)) == 300
    assert len(await store.fetch("SELECT FROM items")) == 300


async def test_closing_leaves_no_session(backend: PostgresBackend, store: Store) -> None:
    await asyncio.gather(*(backend.items.count() for _ in range(5)))
    await backend.close()
    while await store.sessions():  # noqa: ASYNC110 - the server ends them a moment later
        await asyncio.sleep(0.01)


async def test_closing_what_was_never_opened_connects_to_nothing() -> None:
    await memcore.connect("postgresql://ada@db.invalid/db").close()


def test_another_event_loop_is_refused(store_url: str) -> None:
    backend = memcore.connect(store_url)
    with asyncio.Runner() as runner:
        runner.run(backend.items.store(MemoryItem(content="tea")))
        with pytest.raises(MemoryConfigurationError, match="another event loop"):
            asyncio.run(backend.items.retrieve(MemoryItem().id))
        runner.run(backend.close())


@pytest.fixture
async def store_url(store: Store) -> str:
    return store.url()


def test_a_process_that_forgot_to_close_ends(store_url: str) -> None:
    program = (
        "import asyncio, sys, memcore\n"
        "backend = memcore.connect(sys.argv[1])\n"
        "asyncio.run(backend.items.store(memcore.MemoryItem(content='tea')))\n"
    )
    subprocess.run([sys.executable, "-c", program, store_url], check=True, timeout=60)


def test_discovery_loads_no_driver() -> None:
    program = (
        "import sys, memcore.plugins\n"
        "names = [a.name for a in memcore.plugins.registry().adapters()]\n"
        "assert 'postgres' in names and 'asyncpg' not in sys.modules, names\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
async def test_both_schemes_of_postgres_are_served(store: Store, scheme: str) -> None:
    backend = memcore.connect(store.url().replace("postgresql", scheme, 1))
    assert "schema" in repr(backend)
    await backend.open()
    await backend.close()
