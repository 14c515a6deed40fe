"""Every clause of the contract, and what proves it: cases, or the reason why there can be none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from memcore_conformance.catalogue import catalogue

CLAUSES: Final = {
    "I-01": "MemoryItem: fields, defaults, coercions, equality by id",
    "I-02": "MemoryQuery: text, tags, filters, limit; empty is no predicate",
    "I-03": "validation errors of the models are pydantic's own",
    "I-10": "MemoryStore: store, retrieve, search",
    "I-11": "adapters are structural, take any object with the five attributes and return fresh items",
    "I-20": "InMemoryStore: insertion order, replacement in place, live objects",
    "I-21": "InMemoryStore.search: text, tags, filters, limit",
    "I-30": "the manifest: frozen, complete, coherent",
    "I-31": "open filters: any top-level metadata key",
    "I-32": "the manifest is one object, fixed when the backend opens",
    "I-33": "manifest.require: every shortfall in one error",
    "I-40": "validated before transport, refused with field, path and reason",
    "I-41": "exact JSON by exact type",
    "I-42": "create or replace by id, atomically",
    "I-43": "a failed write raises; after a successful one retrieve returns the item",
    "I-44": "durable: what was acknowledged survives a kill",
    "I-45": "stated size limits; the same bound of indexing everywhere",
    "I-50": "retrieve: direct; unknown or of another kind is None",
    "I-51": "fidelity of retrieve as the manifest says",
    "I-60": "hits: fresh items, fields as claimed, no hidden retrieve",
    "I-61": "the empty query is a real listing",
    "I-62": "limits: 0, negative, huge",
    "I-63": "unsupported filters are refused together, sorted, before transport",
    "I-64": "eventual consistency delays the search alone",
    "I-65": "ordering and matching are documented by each adapter",
    "I-66": "analysed: any shared word, ranked; user text is never syntax",
    "I-67": "analysed: tags any-of, filters all-of by JSON equality",
    "I-68": "analysed: without text the newest first",
    "I-70": "failures of the service are typed, chained, never empty results",
    "I-71": "the same store works after an outage and after a cancellation",
    "I-80": "store_many: all or nothing, input order",
    "I-81": "delete, delete_many, delete_where",
    "I-82": "scan and count",
    "B-01": "connect(url, **settings), errors that name what is wrong",
    "B-02": "the backend: contracts, capabilities, life, ping, drop_namespace",
    "B-03": "discovery of plugins, guarded",
    "B-04": "namespaces never see each other",
    "B-05": "migrations at open, newer data refused and untouched",
    "R-01": "Scope: a flat, canonical map of strings",
    "R-02": "MemoryRecord: every field comes back; its status at a moment",
    "R-03": "kinds: a search finds the internal ones only by name",
    "R-04": "MemoryWrite and Invalidation: the caller's part, what it supersedes, the client's id",
    "R-05": "RecordQuery: tags any or all, tiers, pages by cursor",
    "R-10": "write: one transaction, input order, times that rise",
    "R-11": "the same write again is the same record, whatever became of it",
    "R-12": "superseding: linked, one winner, losers get the valid head",
    "R-13": "invalidate: the first stands",
    "R-14": "delete: true erasure; nothing is revived, links lead on",
    "R-15": "get: invalid ones too; unknown or expired is None",
    "R-16": "search: every condition holds before the limit; what is expired is found by nothing",
    "R-17": "capabilities of a record store",
    "R-18": "time is the store's own, and never runs back within a chain",
    "R-19": "delete_where: a scope, exactly; an empty one is refused",
    "R-20": "history, scan and count",
    "R-21": "touch, refresh and sweep",
    "R-22": "restore: records as they were",
    "E-01": "events: frozen, versioned, without content",
    "E-02": "observing changes no behaviour",
    "E-03": "a sink that fails never breaks the operation",
    "E-04": "a generated schema of the events",
    "O-01": "Branch.memory makes one store and keeps it",
    "O-02": "Session.memory likewise",
    "O-03": "a Session without branches shares its store with one default Branch",
    "O-04": "Session(memory=…) rewires only temporary defaults",
    "O-05": "include_branches checks the whole batch first",
    "O-06": "the first claim wins",
    "O-07": "remove_branch keeps the branch's store",
    "O-08": "both properties are read-only",
    "O-09": "scope is object identity; nothing happens by itself",
}

_OF_THE_CORE: Final = "the core's alone, no adapter takes part: proven by the core's own tests"
REASONS: Final = {
    **dict.fromkeys(("I-01", "I-02", "I-03", "I-20", "I-21", "I-33", "B-03", "R-01"), _OF_THE_CORE),
    **dict.fromkeys((name for name in CLAUSES if name.startswith("E-")), _OF_THE_CORE),
    **dict.fromkeys((name for name in CLAUSES if name.startswith("O-")), _OF_THE_CORE),
    "I-65": "a page for people, which no program can judge",
}
"""Why a clause has no case."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What proves one clause."""

    clause: str
    summary: str
    cases: tuple[str, ...]
    reason: str | None
    """Why there is no case, where there is none."""

    @property
    def missing(self) -> bool:
        """Whether nothing proves the clause, and nobody says why."""
        return not self.cases and self.reason is None


def traceability() -> list[Trace]:
    """Return one line for every clause, those that only cases name included."""
    cases = {name: tuple(part.id for part in catalogue() if part.clause == name) for name in CLAUSES}
    strays = sorted({part.clause for part in catalogue()} - CLAUSES.keys())
    lines = [Trace(name, text, cases[name], REASONS.get(name)) for name, text in CLAUSES.items()]
    return lines + [Trace(name, "no clause of the contract", (), None) for name in strays]
