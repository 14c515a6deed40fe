"""What an adapter promises, read from its manifest and its capabilities, as names that cases refer to.

A case is owed where everything that it names is claimed. That what is not claimed is absent (the protocol is not
satisfied, the contract refused, the filter rejected before transport) is proven by cases of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

from memcore import Capabilities, MemoryAdapterManifest
from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from memcore.items.manifest import MemoryItemField

Claim = Literal[
    "items",
    "backend",
    "transport",
    "immediate",
    "created_at",
    "metadata",
    "filters",
    "open_filters",
    "hit_tags",
    "full_retrieve",
    "full_search",
    "lossy",
    "eventual",
    "analysed",
    "managed",
    "maintenance",
    "durable",
    "power_safe",
    "shared",
    "semantic",
    "records",
    "history",
    "lifecycle",
    "transfer",
    "conversations",
]
CLAIMS: Final[tuple[Claim, ...]] = get_args(Claim)

CONTRACTS: Final[frozenset[Claim]] = frozenset({"items", "records", "conversations"})
"""An adapter that offers none of these is no adapter."""

CORE: Final[frozenset[Claim]] = frozenset({"items", "backend"})
"""What an adapter must claim, and prove completely, to be graded `core`."""

CAPABILITIES: Final[tuple[Claim, ...]] = CLAIMS[CLAIMS.index("analysed") :]
"""What a grade lists beside `core`, as claimed or as not claimed."""

TO_BE_PROVEN: Final[frozenset[Claim]] = frozenset({"lossy", *CAPABILITIES})
"""Claims that make the faculties which prove them mandatory."""

LIMITS: Final[tuple[Claim, ...]] = CLAIMS[CLAIMS.index("transport") : CLAIMS.index("lossy")]
"""What a grade mentions only where it is not claimed: most adapters do."""


class Claims(BaseModel):
    """The promises of one adapter as configured by its harness."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    manifest: MemoryAdapterManifest | None
    """Of the items contract; `None` where it is not offered."""
    capabilities: Capabilities | None
    """`None` where the harness makes plain stores without a backend."""
    transport: bool
    """Whether something stands between the adapter and its data that can fail."""

    @property
    def names(self) -> frozenset[Claim]:
        """Every claim by name."""
        return frozenset(name for name in CLAIMS if self._holds(name))

    @property
    def exact_fields(self) -> frozenset[MemoryItemField]:
        """The item fields that come back from `retrieve` exactly (I-51)."""
        manifest = self.manifest
        if manifest is None or manifest.retrieve_fidelity == "lossy":
            return frozenset({"id"})
        return manifest.native_item_fields

    @property
    def hit_fields(self) -> frozenset[MemoryItemField]:
        """The item fields that come back from `search` exactly (I-60)."""
        manifest = self.manifest
        if manifest is None or manifest.search_fidelity == "lossy":
            return frozenset({"id"})
        if manifest.search_fidelity == "full":
            return manifest.native_item_fields
        return frozenset({"id", "content", "tags"} if manifest.search_returns_tags else {"id", "content"})

    def _holds(self, name: Claim) -> bool:
        match name:
            case "backend":
                return self.capabilities is not None
            case "transport":
                return self.transport
            case "items" | "immediate" | "created_at" | "metadata" | "filters" | "open_filters" | "hit_tags":
                return self._manifest_holds(name)
            case "full_retrieve" | "full_search" | "lossy" | "eventual":
                return self._manifest_holds(name)
            case _:
                return self._capabilities_hold(name)

    def _manifest_holds(self, name: Claim) -> bool:
        manifest = self.manifest
        if manifest is None:
            return False
        held = {
            "items": True,
            "immediate": manifest.search_consistency == "immediate",
            "eventual": manifest.search_consistency == "eventual",
            "created_at": "created_at" in manifest.native_item_fields,
            "metadata": manifest.preserves_metadata,
            "filters": manifest.open_filters or bool(manifest.supported_filters),
            "open_filters": manifest.open_filters,
            "hit_tags": manifest.search_returns_tags,
            "full_retrieve": manifest.retrieve_fidelity == "full",
            "full_search": manifest.search_fidelity == "full",
            "lossy": "lossy" in {manifest.retrieve_fidelity, manifest.search_fidelity},
        }
        return held[name]

    def _capabilities_hold(self, name: Claim) -> bool:
        claimed = self.capabilities
        if claimed is None:
            return False
        if name == "semantic":
            return claimed.search in {"semantic", "hybrid"}
        if name in {"analysed", "durable", "power_safe", "shared"}:
            return bool(getattr(claimed, name))
        return name in claimed.contracts or name in claimed.extensions
