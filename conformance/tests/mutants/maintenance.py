"""Backends that look badly after what they derive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcore.backend import CheckReport

from mutants import FileBackend, mutant

if TYPE_CHECKING:
    from collections.abc import Callable

    Progress = Callable[[int, int], None] | None


@mutant("B-02u")
class FindsGhosts(FileBackend):
    """A check always finds something."""

    async def check(self, *, repair: bool = True, progress: Progress = None) -> CheckReport:
        report = await super().check(repair=repair, progress=progress)
        return report.model_copy(update={"faults": (*report.faults, "something is wrong")})


@mutant("B-02v")
class FindsNothing(FileBackend):
    """A check looks at nothing."""

    async def check(self, *, repair: bool = True, progress: Progress = None) -> CheckReport:
        return CheckReport(checked=await self.items.count())


@mutant("B-02v")
class RepairsUnasked(FileBackend):
    """A check that is only to look repairs."""

    async def check(self, *, repair: bool = True, progress: Progress = None) -> CheckReport:
        report = await super().check(repair=True, progress=progress)
        return report.model_copy(update={"repaired": repair and report.repaired})


@mutant("B-02v")
class ShowsContent(FileBackend):
    """A fault quotes the item."""

    async def check(self, *, repair: bool = True, progress: Progress = None) -> CheckReport:
        report = await super().check(repair=repair, progress=progress)
        contents = [str(item.content) for item in (await self.items.scan()).items]
        return report.model_copy(update={"faults": report.faults and tuple(contents)})


@mutant("B-02w")
class SaysThatItRepaired(FileBackend):
    """A check says that it repaired, and did not."""

    async def check(self, *, repair: bool = True, progress: Progress = None) -> CheckReport:
        report = await super().check(repair=False, progress=progress)
        return report.model_copy(update={"repaired": repair and bool(report.faults)})


@mutant("B-02x")
class ReindexesNothing(FileBackend):
    """`reindex` only counts."""

    async def reindex(self, *, progress: Progress = None) -> int:
        count = await self.items.count()
        if progress:
            progress(count, count)
        return count


@mutant("B-02x")
class ReindexesSilently(FileBackend):
    """`reindex` tells nobody how far it is."""

    async def reindex(self, *, progress: Progress = None) -> int:
        return await super().reindex()


@mutant("B-02y")
class RestoresTheOldState(FileBackend):
    """`reindex` removes what came meanwhile."""

    async def reindex(self, *, progress: Progress = None) -> Any:
        before = {item.id for item in (await self.items.scan()).items}
        count = await super().reindex(progress=progress)
        await self.items.delete_many([item.id for item in (await self.items.scan()).items if item.id not in before])
        return count


@mutant("I-81m")
class PurgesNothing(FileBackend):
    """`purge` leaves the bytes where they are."""

    async def purge(self) -> None:
        await self.open()
