"""The folder: one small text file an item. All that this adapter asks of the file system is asked here.

One thread does it all, in the order of the calls. So the event loop never waits for a disk, and a write that was
cancelled while the thread was at it is finished before the next one begins.
"""

from __future__ import annotations

import asyncio
import os
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Final, TypeVar, TypeVarTuple
from uuid import UUID

from memcore import MalformedMemoryPayload, MemoryAdapterError, MemoryAdapterUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")
Given = TypeVarTuple("Given")

FORMAT: Final = 1
"""What the file `format` holds; a version that writes files of another shape raises it."""
_PART: Final = ".part"
_NAME: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json")
_OWNER_ONLY: Final = 0o700


class Folder:
    """The files of one namespace."""

    def __init__(self, root: Path, *, namespace: str) -> None:
        self._root = root
        self._format = root / "format"
        # a digest: names may be long, hold a slash, or differ by case alone
        self._path = root / blake2b(namespace.encode(), digest_size=16).hexdigest()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="jsonfiles")

    async def open(self) -> None:
        """Make the folder if there is none; refuse what somebody else or a newer version made."""
        await self._call(self._prepare)

    async def close(self) -> None:
        """Finish what was begun and end the thread."""
        await asyncio.to_thread(self._thread.shutdown)

    async def check(self) -> None:
        """See whether the folder is still there."""
        await self._call(self._check_format)

    async def write(self, item_id: UUID, text: str) -> int:
        """Write or replace the file of an item at once, and return how many bytes are in it."""
        return await self._call(self._write, item_id, text)

    async def read(self, item_id: UUID) -> str | None:
        """Return the text of an item's file, or `None` if there is none."""
        return await self._call(self._read, item_id)

    async def read_all(self) -> dict[UUID, str]:
        """Return every text by its id."""
        return await self._call(self._read_all)

    async def clear(self) -> None:
        """Remove every file."""
        await self._call(self._clear)

    def perform(self, action: Callable[[*Given], T], *given: *Given) -> T:
        """Do one thing, in the thread; the harness counts and breaks it here."""
        return action(*given)

    def put(self, path: Path, text: str) -> int:
        """Write a file beside its place, then move it there: nobody ever sees half of it."""
        handle, name = mkstemp(dir=path.parent, suffix=_PART)
        part = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(text)
            size = part.stat().st_size
            part.replace(path)
        except OSError:
            part.unlink(missing_ok=True)
            raise
        return size

    async def _call(self, action: Callable[[*Given], T], *given: *Given) -> T:
        with _told():
            return await asyncio.get_running_loop().run_in_executor(self._thread, self.perform, action, *given)

    def _prepare(self) -> None:
        self._root.mkdir(mode=_OWNER_ONLY, exist_ok=True)
        if not self._format.exists():
            if any(path.suffix != _PART for path in self._root.iterdir()):
                msg = "the folder holds files, but is no folder of memcore-jsonfiles; it is left as it is"
                raise MalformedMemoryPayload(msg)
            self.put(self._format, str(FORMAT))
        self._check_format()
        self._path.mkdir(mode=_OWNER_ONLY, exist_ok=True)

    def _check_format(self) -> None:
        """Begin every action: a folder that is gone must not look like one that is empty."""
        text = _text(self._format)
        if not text.isdecimal():
            msg = "the file 'format' in the folder holds no number"
            raise MalformedMemoryPayload(msg)
        if int(text) > FORMAT:
            msg = "a newer version of memcore-jsonfiles wrote this folder; upgrade to use it"
            raise MemoryAdapterUnavailable(msg)

    def _write(self, item_id: UUID, text: str) -> int:
        self._check_format()
        return self.put(self._file(item_id), text)

    def _read(self, item_id: UUID) -> str | None:
        self._check_format()
        try:
            return _text(self._file(item_id))
        except FileNotFoundError:
            return None

    def _read_all(self) -> dict[UUID, str]:
        self._check_format()
        return {item_id: _text(self._file(item_id)) for item_id in self._ids()}

    def _clear(self) -> None:
        self._check_format()
        for item_id in self._ids():
            self._file(item_id).unlink(missing_ok=True)

    def _file(self, item_id: UUID) -> Path:
        return self._path / f"{item_id}.json"

    def _ids(self) -> list[UUID]:
        """List the items; a file that is not named by an id is somebody else's."""
        return [UUID(path.stem) for path in self._path.iterdir() if _NAME.fullmatch(path.name)]


def _text(path: Path) -> str:
    """Read a text; what is not ASCII becomes an escape that is no JSON, so that it is found out."""
    return path.read_text(encoding="ascii", errors="backslashreplace")


@contextmanager
def _told() -> Iterator[None]:
    """Turn what the file system says into an error of memcore (I-70); the one place that does."""
    try:
        yield
    except PermissionError as error:
        raise MemoryAdapterError(f"access to the folder is denied: {error.strerror}") from error
    except OSError as error:
        raise MemoryAdapterUnavailable(f"the folder cannot be used now: {error.strerror}") from error
