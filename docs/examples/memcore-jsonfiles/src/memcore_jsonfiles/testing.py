"""The harness by which memcore-conformance judges `jsonfiles://`: a folder of its own for every case.

Nothing here is imported from the suite: a harness is any object with these methods.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeVar, TypeVarTuple, get_args

from memcore_jsonfiles.backend import JsonFilesBackend
from memcore_jsonfiles.folder import FORMAT, Folder
from memcore_jsonfiles.settings import JsonFilesSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

T = TypeVar("T")
Given = TypeVarTuple("Given")

Fault = Literal["refused", "timeout", "lost_answer", "malformed", "no_identity", "denied"]
StorageFault = Literal["full", "read_only", "garbage", "missing", "locked"]


class JsonFilesHarness:
    """Makes backends on one disposable folder."""

    name: ClassVar[str] = "jsonfiles"

    def __init__(self) -> None:
        self._temporary = TemporaryDirectory(prefix="memcore-")
        self._place = Path(self._temporary.name, "data")
        self._away = Path(self._temporary.name, "away")
        self._place.mkdir()
        self._wire = _Wire()

    async def make_backend(self, **settings: object) -> JsonFilesBackend:
        """Make a backend on the folder."""
        resolved = JsonFilesSettings.resolve(self.url(), settings, prefix="MEMCORE_JSONFILES_", environ={})
        return JsonFilesBackend(resolved, make_folder=partial(_WiredFolder, self._wire))

    async def reset(self) -> None:
        """Start without a folder."""
        await self.mend_storage()
        shutil.rmtree(self._place)
        self._place.mkdir()

    async def make_search_index_visible(self) -> None:
        """There is none."""

    async def make_transport_unavailable(self) -> None:
        """Move what the folder stands in away."""
        await self.break_storage("missing")

    async def restore_transport(self) -> None:
        """Put it back."""
        await self.mend_storage()

    async def close(self) -> None:
        """Remove everything."""
        await self.mend_storage()
        self._temporary.cleanup()

    # --- processes: others reach the same data by this URL ---

    def url(self) -> str:
        """Return the URL of the folder."""
        return f"jsonfiles:///{self._root}"

    # --- faults: one call of the file system fails ---

    @property
    def faults(self) -> frozenset[Fault]:
        """All of them."""
        return frozenset(get_args(Fault))

    def calls(self) -> int:
        """Return how often something was asked of the folder."""
        return self._wire.calls

    def fail_next(self, fault: Fault) -> None:
        """Make the next call fail."""
        self._wire.fault = fault

    # --- storage: the place itself is broken ---

    @property
    def storage_faults(self) -> frozenset[StorageFault]:
        """All of them."""
        return frozenset(get_args(StorageFault))

    async def break_storage(self, fault: StorageFault) -> None:
        """Break the place: what can be is really broken, the rest is what the system would say."""
        self._wire.storage = fault
        if fault in {"missing", "garbage"}:
            self._place.rename(self._away)
        if fault == "garbage":
            self._root.mkdir(parents=True)
            (self._root / "holiday.jpg").write_bytes(b"\xff\xd8\xff")

    async def mend_storage(self) -> None:
        """Make everything as it was."""
        self._wire.fault = self._wire.storage = None
        if self._away.exists():
            shutil.rmtree(self._place, ignore_errors=True)
            self._away.rename(self._place)

    # --- raw: what is stored, past the adapter ---

    async def plant_foreign(self, item_id: UUID) -> None:
        """Write a file of that name that is somebody else's JSON."""
        for folder in self._folders():
            (folder / f"{item_id}.json").write_text('{"shopping": ["milk"]}', encoding="ascii")

    async def truncate(self, item_id: UUID) -> None:
        """Cut three characters off the file."""
        for folder in self._folders():
            path = folder / f"{item_id}.json"
            os.truncate(path, path.stat().st_size - 3)

    async def make_newer(self) -> None:
        """Raise the number of the format."""
        (self._root / "format").write_text(str(FORMAT + 1), encoding="ascii")

    async def fingerprint(self) -> str:
        """Return a digest of all files and their names."""
        parts = [f"{path}".encode() + path.read_bytes() for path in self._files()]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()

    async def holds(self, text: str) -> bool:
        """Tell whether a file has this text."""
        return any(text.encode() in path.read_bytes() for path in self._files())

    @property
    def _root(self) -> Path:
        return self._place / "memory"

    def _folders(self) -> list[Path]:
        return [path for path in self._root.iterdir() if path.is_dir()]

    def _files(self) -> list[Path]:
        return sorted(path for path in self._root.rglob("*") if path.is_file())


class _Wire:
    """What the folders of one harness are to do."""

    def __init__(self) -> None:
        self.calls = 0
        self.fault: Fault | None = None
        self.storage: StorageFault | None = None


class _WiredFolder(Folder):
    """A folder that counts its calls and fails as it is told."""

    def __init__(self, wire: _Wire, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - as Folder
        super().__init__(*arguments, **options)
        self._wire = wire

    def perform(self, action: Callable[[*Given], T], *given: *Given) -> T:
        self._wire.calls += 1
        fault, self._wire.fault = self._wire.fault, None
        if fault in _SAID_BEFORE:
            raise _error(_SAID_BEFORE[fault])
        answer = super().perform(action, *given)
        if fault == "lost_answer":
            raise _error(errno.EIO)
        return _damaged(answer) if fault else answer

    def put(self, path: Path, text: str) -> int:
        if self._wire.storage in _SAID_OF_WRITES:
            raise _error(_SAID_OF_WRITES[self._wire.storage])
        return super().put(path, text)


_SAID_BEFORE: Final[dict[Fault | None, int]] = {
    "refused": errno.ENODEV,
    "timeout": errno.ETIMEDOUT,
    "denied": errno.EACCES,
}
_SAID_OF_WRITES: Final[dict[StorageFault | None, int]] = {
    "full": errno.ENOSPC,
    "read_only": errno.EROFS,
    "locked": errno.EBUSY,
}


def _damaged(answer: Any) -> Any:  # noqa: ANN401 - whatever a folder answers
    """Return a text that is cut short, or a write that wrote nothing."""
    if isinstance(answer, dict):
        return dict.fromkeys(answer, "{")
    return "{" if isinstance(answer, str) else 0


def _error(code: int) -> OSError:
    return OSError(code, os.strerror(code))
