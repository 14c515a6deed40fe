"""Agent memory that you can swap, and prove.

`connect(url)` gives a backend; `backend.items` stores, retrieves and searches typed items, the same on every backend.
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
    "Maintenance",
    "MalformedMemoryPayload",
    "ManagedMemoryStore",
    "MemcoreError",
    "MemoryAdapterError",
    "MemoryAdapterManifest",
    "MemoryAdapterUnavailable",
    "MemoryConfigurationError",
    "MemoryConflict",
    "MemoryItem",
    "MemoryNotFound",
    "MemoryQuery",
    "MemoryStore",
    "Page",
    "Scope",
    "SizeLimits",
    "UnsupportedMemoryItem",
    "UnsupportedMemoryQuery",
    "connect",
    "hookimpl",
]
