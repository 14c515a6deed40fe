"""What a store is, and what its manifest says of it (I-10, I-11, I-30 to I-32)."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, cast

from memcore import ExternalMemoryStore, MemoryAdapterManifest, MemoryConfigurationError, MemoryStore

from memcore_conformance import expect
from memcore_conformance.cases.values import HostItem
from memcore_conformance.catalogue import case

if TYPE_CHECKING:
    from memcore import MemoryItem

    from memcore_conformance.trial import Trial


@case("I-10a")
async def store_has_the_three_methods(trial: Trial) -> None:
    """A store satisfies the protocol of three asynchronous methods."""
    store = (await trial.items()).raw
    expect.that(isinstance(store, MemoryStore), expected="an instance of MemoryStore", got=type(store).__name__)
    methods = (store.store, store.retrieve, store.search)
    sync = [method.__name__ for method in methods if not inspect.iscoroutinefunction(method)]
    expect.equal(sync, [], what="methods that are not asynchronous")


@case("I-11a")
async def any_object_with_the_five_attributes_is_an_item(trial: Trial) -> None:
    """An object of a host's own class is accepted, and comes back as a `MemoryItem`."""
    items = await trial.items()
    wanted = trial.item("tea", tags=["t"], metadata={"k": 1} if "metadata" in trial.claims.names else {})
    host = HostItem(wanted.id, wanted.created_at, wanted.metadata, wanted.content, wanted.tags)
    expect.equal(await items.store(cast("MemoryItem", host)), wanted.id)
    expect.same_item(await items.retrieve(wanted.id), wanted, fields=trial.claims.exact_fields)


@case("I-30a")
async def the_manifest_is_coherent(trial: Trial) -> None:
    """The manifest is a frozen, valid `MemoryAdapterManifest`."""
    manifest = cast("ExternalMemoryStore", (await trial.items()).raw).manifest
    expect.that(type(manifest) is MemoryAdapterManifest, expected="a MemoryAdapterManifest", got=manifest)
    expect.equal(
        MemoryAdapterManifest.model_validate(manifest.model_dump()) == manifest, True, what="valid when read again"
    )


@case("I-32a")
async def the_manifest_is_one_object(trial: Trial) -> None:
    """The manifest is one object for the life of a store, and every store of the same settings claims the same."""
    items = await trial.items()
    store = cast("ExternalMemoryStore", items.raw)
    manifest = store.manifest
    await items.keep(trial.item())
    expect.that(store.manifest is manifest, expected="the same manifest after a write", got="another object")
    other = cast("ExternalMemoryStore", (await trial.items()).raw).manifest
    expect.that(other == trial.claims.manifest, expected=f"{trial.claims.manifest}", got=str(other))


@case("I-32b", claims=("items", "backend"))
async def the_manifest_is_not_told_before_opening(trial: Trial) -> None:
    """Manifest and capabilities are fixed when the backend opens; before that, asking is an error."""
    backend = await trial.make_backend()
    with expect.raises(MemoryConfigurationError):
        _ = backend.items.manifest
    with expect.raises(MemoryConfigurationError):
        _ = backend.capabilities
