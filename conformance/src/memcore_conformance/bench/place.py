"""Where one candidate keeps its data: a folder and a namespace, both disposable."""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import memcore

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """A folder for files, and a namespace for a service that many share."""

    folder: Path
    namespace: str

    @classmethod
    def fresh(cls, folder: Path) -> Self:
        """Make the folder, and choose a namespace that nobody uses."""
        folder.mkdir(parents=True)
        return cls(folder, f"bench-{random.getrandbits(64):016x}")

    def connect(self, url: str) -> memcore.Backend:
        """Return a backend in this namespace; a relative path in the URL lies in this folder."""
        with contextlib.chdir(self.folder):
            return memcore.connect(url, namespace=self.namespace)

    def size(self) -> int:
        """Return the bytes of all files in the folder."""
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())

    async def forget(self, url: str) -> None:
        """Drop the namespace, unless the data lie in the folder, which goes as a whole."""
        if not self.size():
            async with self.connect(url) as backend:
                await backend.drop_namespace()
