"""Who owns which store: `Branch` and `Session`, for hosts that want it (O-01 to O-09).

Scope is object identity: branches that hold the same store share memory, others do not. Nothing here stores,
searches or closes anything by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcore.items.reference import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memcore.items.store import MemoryStore


class Branch:
    """One line of work with its own or an adopted store."""

    def __init__(self, *, memory: MemoryStore | None = None) -> None:
        self._memory = memory
        self._session: Session | None = None

    @property
    def memory(self) -> MemoryStore:
        """The store; the first access makes an `InMemoryStore` where none was given (O-01), read-only (O-08)."""
        if self._memory is None:
            self._memory = InMemoryStore()
        return self._memory

    @property
    def session(self) -> Session | None:
        """The session that owns this branch now."""
        return self._session


class Session:
    """Owns branches and offers its store to those that have none."""

    def __init__(self, branches: Iterable[Branch] = (), *, memory: MemoryStore | None = None) -> None:
        """Include the branches, or one default branch that shares the session's store (O-03).

        Raises:
            ValueError: a branch belongs to another session.
        """
        self._memory = memory
        self._branches: list[Branch] = []
        self.include_branches(list(branches) or [Branch()])

    @property
    def memory(self) -> MemoryStore:
        """The store; the first access makes an `InMemoryStore` where none was given (O-02), read-only (O-08)."""
        if self._memory is None:
            self._memory = InMemoryStore()
        return self._memory

    @property
    def branches(self) -> tuple[Branch, ...]:
        """The branches in the order of their inclusion."""
        return tuple(self._branches)

    def include_branches(self, branches: Branch | Iterable[Branch]) -> None:
        """Claim the branches; those without a store adopt this session's: the first claim wins (O-06).

        Raises:
            ValueError: one of them is owned by another session; none is claimed (O-05).
        """
        batch = [branches] if isinstance(branches, Branch) else list(branches)
        if any(branch._session not in (None, self) for branch in batch):  # noqa: SLF001 - one module
            msg = "a branch belongs to another session; remove it there first"
            raise ValueError(msg)
        for branch in batch:
            if branch._session is None:  # noqa: SLF001
                branch._session = self  # noqa: SLF001
                self._branches.append(branch)
            if branch._memory is None:  # noqa: SLF001
                branch._memory = self.memory  # noqa: SLF001

    def remove_branch(self, branch: Branch) -> None:
        """Release a branch; it keeps its store (O-07).

        Raises:
            ValueError: the branch is not of this session.
        """
        if branch not in self._branches:
            msg = "the branch is not of this session"
            raise ValueError(msg)
        self._branches.remove(branch)
        branch._session = None  # noqa: SLF001
