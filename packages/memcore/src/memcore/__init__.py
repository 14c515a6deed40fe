"""Agent memory that you can swap, and prove.

`connect(url)` gives a backend, the same whatever the url: `backend.items` stores, retrieves and searches typed items,
`backend.records` keeps scoped facts that are superseded, never overwritten.
"""

from memcore.backend import Backend, Capabilities, CheckReport, Health, Maintenance
from memcore.errors import (
    MalformedMemoryPayload,
    MemcoreError,
    MemoryAdapterError,
    MemoryAdapterUnavailable,
    MemoryConfigurationError,
    MemoryConflict,
    MemoryNotFound,
    UnsupportedMemoryItem,
    UnsupportedMemoryQuery,
)
from memcore.items.manifest import MemoryAdapterManifest
from memcore.items.model import MemoryItem, MemoryQuery
from memcore.items.payload import SizeLimits
from memcore.items.reference import InMemoryStore
from memcore.items.store import ExternalMemoryStore, ManagedMemoryStore, MemoryStore, Page
from memcore.plugins import Adapter, connect, hookimpl
from memcore.records.model import Invalidation, MemoryHit, MemoryRecord, MemoryWrite, Provenance, RecordQuery
from memcore.records.store import (
    RecordCapabilities,
    RecordHistory,
    RecordLifecycle,
    RecordPage,
    RecordStore,
    SweepPolicy,
    SweepReport,
    Transfer,
)
from memcore.scope import Scope
from memcore.settings import AdapterSettings

__all__ = [
    "Adapter",
    "AdapterSettings",
    "Backend",
    "Capabilities",
    "CheckReport",
    "ExternalMemoryStore",
    "Health",
    "InMemoryStore",
    "Invalidation",
    "Maintenance",
    "MalformedMemoryPayload",
    "ManagedMemoryStore",
    "MemcoreError",
    "MemoryAdapterError",
    "MemoryAdapterManifest",
    "MemoryAdapterUnavailable",
    "MemoryConfigurationError",
    "MemoryConflict",
    "MemoryHit",
    "MemoryItem",
    "MemoryNotFound",
    "MemoryQuery",
    "MemoryRecord",
    "MemoryStore",
    "MemoryWrite",
    "Page",
    "Provenance",
    "RecordCapabilities",
    "RecordHistory",
    "RecordLifecycle",
    "RecordPage",
    "RecordQuery",
    "RecordStore",
    "Scope",
    "SizeLimits",
    "SweepPolicy",
    "SweepReport",
    "Transfer",
    "UnsupportedMemoryItem",
    "UnsupportedMemoryQuery",
    "connect",
    "hookimpl",
]
