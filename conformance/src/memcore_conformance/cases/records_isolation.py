"""Records in namespaces of their own, and in the life of a backend (B-02, B-04)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memcore import MemoryConfigurationError

from memcore_conformance import expect
from memcore_conformance.catalogue import case
from memcore_conformance.records import Records

if TYPE_CHECKING:
    from memcore_conformance.trial import Trial

_ALIKE: Final = ("user_1", "User_1", "user_10", "user%", "user", "caf\u00e9", "cafe\u0301")


@case("B-04ra", claims=("backend", "records"))
async def namespaces_never_see_each_others_records(trial: Trial) -> None:
    """Records of the same id in namespaces that look alike are different ones, which no search mixes up."""
    shared = trial.id()
    stores: list[tuple[Records, str]] = []
    for name in _ALIKE:
        records = await trial.records(namespace=name)
        await records.keep(trial.write(f"tea of {name}", id=shared))
        stores.append((records, f"tea of {name}"))
    for records, content in stores:
        expect.equal((await records.known(shared)).content, content, what="the content")
        for text in (None, "tea"):
            expect.equal([found.content for found in await records.find(text)], [content], what="what is found")


@case("B-04rb", claims=("backend", "records"))
async def work_on_records_leaves_other_namespaces(trial: Trial) -> None:
    """Ending and erasing records in one namespace changes nothing in another that holds the same ids."""
    mine, theirs = await trial.records(namespace="one"), await trial.records(namespace="two")
    writes = [trial.write(f"tea {number}") for number in range(4)]
    await mine.keep(*writes)
    kept = await theirs.keep(*writes)
    await mine.keep(trial.write("new", supersedes=[writes[0].id]))
    await mine.invalidate(writes[1].id)
    await mine.delete(writes[2].id)
    await mine.delete_where({"user": "ada"})
    for record in kept:
        expect.same_record(await theirs.get(record.id), record)
    for text in (None, "tea"):
        expect.ids(await theirs.find(text), kept, ordered=False)


@case("B-04rc", claims=("backend", "records", "history", "lifecycle"))
async def extensions_stay_in_their_namespace(trial: Trial) -> None:
    """History, scan, count, uses and sweeps of one namespace neither show nor change the records of another."""
    mine, theirs = await trial.records(namespace="one"), await trial.records(namespace="two")
    write = trial.write("tea", tier="short")
    await mine.keep(write)
    (kept,) = await theirs.keep(write)
    await theirs.keep(trial.write("other"))
    (new,) = await mine.keep(trial.write("new", supersedes=[kept.id]))
    expect.ids(await mine.history(new.id), [kept, new])
    expect.ids(await theirs.history(kept.id), [kept])
    expect.ids(await mine.scan_all(), [kept, new], ordered=False)
    expect.equal(await mine.count(), 2, what="how many records there are")
    await mine.touch(kept.id)
    await mine.refresh(new.id)
    await mine.sweep()
    expect.same_record(await theirs.get(kept.id), kept)


@case("B-02ra", claims=("backend", "records"))
async def a_dropped_namespace_has_no_records(trial: Trial) -> None:
    """`drop_namespace` erases every record of its own namespace, and none of another; the backend goes on."""
    backend, other = await trial.backend(namespace="one"), await trial.records(namespace="two")
    records = Records(backend.records, trial)
    write = trial.write()
    await records.keep(write)
    (kept,) = await other.keep(write)
    await trial.does("drop_namespace()", backend.drop_namespace())
    expect.none(await records.get(write.id))
    for text in (None, "tea"):
        expect.ids(await records.find(text, include_invalidated=True), [])
    expect.same_record(await other.get(write.id), kept)
    await records.keep(write)


@case("B-02rb", claims=("backend", "records"))
async def records_open_their_backend_and_close_with_it(trial: Trial) -> None:
    """A backend that nobody opened opens when its records are used; when it is closed they are used no more."""
    backend = await trial.make_backend()
    records = Records(backend.records, trial)
    await records.keep(trial.write())
    await trial.does("close()", backend.close())
    for call in (lambda: records.write(trial.write()), records.find, lambda: records.get(trial.id())):
        with expect.raises(MemoryConfigurationError):
            await call()
