"""What a store keeps and what it loses, as immutable data (I-30 to I-33)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from pydantic import BaseModel, Field, model_validator

from memcore.errors import MemoryConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

MemoryItemField = Literal["id", "created_at", "metadata", "content", "tags"]
SearchConsistency = Literal["immediate", "eventual"]
Fidelity = Literal["full", "native_fields", "lossy"]

ITEM_FIELDS: frozenset[MemoryItemField] = frozenset(get_args(MemoryItemField))
_FIDELITY_RANK: dict[Fidelity, int] = {"lossy": 0, "native_fields": 1, "full": 2}


class MemoryAdapterManifest(BaseModel, frozen=True, extra="forbid"):
    """The fidelity of one store instance as configured (I-30).

    Every item field is either native or dropped. `full` loses nothing; `native_fields` keeps the native fields
    exactly; `lossy` changes at least one of them, by documented rules.
    """

    adapter: str = Field(min_length=1)
    native_item_fields: frozenset[MemoryItemField]
    dropped_item_fields: frozenset[MemoryItemField]
    supported_filters: frozenset[str]
    open_filters: bool = False
    """Any top-level metadata key may be filtered, besides the named ones (I-31)."""
    search_consistency: SearchConsistency
    retrieve_fidelity: Fidelity
    search_fidelity: Fidelity
    search_returns_tags: bool
    preserves_metadata: bool

    @classmethod
    def lossless(cls, adapter: str) -> Self:
        """Return the manifest of a store that keeps everything, finds it at once, and may be filtered by any key."""
        return cls(
            adapter=adapter,
            native_item_fields=ITEM_FIELDS,
            dropped_item_fields=frozenset(),
            supported_filters=frozenset(),
            open_filters=True,
            search_consistency="immediate",
            retrieve_fidelity="full",
            search_fidelity="full",
            search_returns_tags=True,
            preserves_metadata=True,
        )

    @model_validator(mode="after")
    def _check_coherence(self) -> Self:
        for broken, message in self._rules():
            if broken:
                raise ValueError(message)
        return self

    def _rules(self) -> Iterable[tuple[bool, str]]:
        native, dropped = self.native_item_fields, self.dropped_item_fields
        yield bool(native & dropped), "native and dropped item fields must be disjoint"
        yield native | dropped != ITEM_FIELDS, "every item field must be classified as native or dropped"
        yield not {"id", "content", "tags"} <= native, "id, content and tags must be native fields"
        yield self.preserves_metadata and "metadata" not in native, "preserved metadata must be a native field"
        yield (
            self.retrieve_fidelity == "full" and (bool(dropped) or not self.preserves_metadata),
            "full retrieve fidelity must preserve every item field",
        )
        yield (
            self.search_fidelity == "full"
            and (bool(dropped) or not self.search_returns_tags or not self.preserves_metadata),
            "full search fidelity must preserve every item field and return tags",
        )

    def supports_filter(self, key: str) -> bool:
        """Tell whether a query may filter on this metadata key (I-31)."""
        return self.open_filters or key in self.supported_filters

    def require(
        self,
        *,
        fields: Iterable[MemoryItemField] = (),
        filters: Iterable[str] = (),
        retrieve_fidelity: Fidelity = "lossy",
        search_fidelity: Fidelity = "lossy",
        search_consistency: SearchConsistency = "eventual",
        search_returns_tags: bool = False,
        preserves_metadata: bool = False,
    ) -> None:
        """Check the needs of an application before first use (I-33).

        Raises:
            MemoryConfigurationError: at least one need is not met; the message lists every shortfall.
        """
        needs = [(f"field {name!r}", name in self.native_item_fields) for name in sorted(fields)]
        needs += [(f"filter {key!r}", self.supports_filter(key)) for key in sorted(filters)]
        for name, wanted in (("retrieve_fidelity", retrieve_fidelity), ("search_fidelity", search_fidelity)):
            offered: Fidelity = getattr(self, name)
            needs.append((f"{name} {wanted!r} (is {offered!r})", _FIDELITY_RANK[offered] >= _FIDELITY_RANK[wanted]))
        needs += [
            ("immediate search consistency", search_consistency in ("eventual", self.search_consistency)),
            ("tags in search results", self.search_returns_tags or not search_returns_tags),
            ("preserved metadata", self.preserves_metadata or not preserves_metadata),
        ]
        missing = [need for need, met in needs if not met]
        if missing:
            msg = f"adapter {self.adapter!r} does not meet the requirements: " + "; ".join(missing)
            raise MemoryConfigurationError(msg)
