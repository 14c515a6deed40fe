"""The manifest: its coherence, its filters, and what an application requires of it (I-30, I-31, I-33)."""

from __future__ import annotations

from typing import Any

import pytest
from memcore import MemoryAdapterManifest, MemoryConfigurationError
from pydantic import ValidationError

ALL_FIELDS = frozenset({"id", "created_at", "metadata", "content", "tags"})
FULL: dict[str, Any] = {
    "adapter": "example",
    "native_item_fields": ALL_FIELDS,
    "dropped_item_fields": frozenset(),
    "supported_filters": frozenset({"kind", "year"}),
    "search_consistency": "immediate",
    "retrieve_fidelity": "full",
    "search_fidelity": "full",
    "search_returns_tags": True,
    "preserves_metadata": True,
}
POOR: dict[str, Any] = FULL | {
    "native_item_fields": ALL_FIELDS - {"metadata", "created_at"},
    "dropped_item_fields": {"metadata", "created_at"},
    "supported_filters": frozenset(),
    "search_consistency": "eventual",
    "retrieve_fidelity": "native_fields",
    "search_fidelity": "lossy",
    "search_returns_tags": False,
    "preserves_metadata": False,
}


def test_a_full_and_a_poor_manifest_are_coherent() -> None:
    assert MemoryAdapterManifest(**FULL | {"adapter": "x"}).retrieve_fidelity == "full"
    assert MemoryAdapterManifest(**POOR).dropped_item_fields == {"metadata", "created_at"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dropped_item_fields": {"tags"}}, "native and dropped item fields must be disjoint"),
        ({"native_item_fields": ALL_FIELDS - {"created_at"}}, "every item field must be classified"),
        (
            {"native_item_fields": ALL_FIELDS - {"tags"}, "dropped_item_fields": {"tags"}},
            "id, content and tags must be native fields",
        ),
        (
            {"native_item_fields": ALL_FIELDS - {"metadata"}, "dropped_item_fields": {"metadata"}},
            "preserved metadata must be a native field",
        ),
        (
            {
                "native_item_fields": ALL_FIELDS - {"created_at"},
                "dropped_item_fields": {"created_at"},
                "search_fidelity": "lossy",
            },
            "full retrieve fidelity must preserve every item field",
        ),
        (
            {"preserves_metadata": False, "search_fidelity": "lossy"},
            "full retrieve fidelity must preserve every item field",
        ),
        ({"search_returns_tags": False}, "full search fidelity must preserve every item field and return tags"),
        (
            {"preserves_metadata": False, "retrieve_fidelity": "lossy"},
            "full search fidelity must preserve every item field and return tags",
        ),
        (
            {
                "native_item_fields": ALL_FIELDS - {"created_at"},
                "dropped_item_fields": {"created_at"},
                "retrieve_fidelity": "native_fields",
            },
            "full search fidelity must preserve every item field and return tags",
        ),
    ],
)
def test_each_incoherence_has_its_own_message(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        MemoryAdapterManifest(**FULL | change)


@pytest.mark.parametrize("anchor", ["id", "content", "tags"])
def test_no_anchor_may_be_dropped(anchor: str) -> None:
    change = {"native_item_fields": ALL_FIELDS - {anchor}, "dropped_item_fields": {anchor}}

    with pytest.raises(ValidationError, match="id, content and tags must be native fields"):
        MemoryAdapterManifest(**POOR | change)


@pytest.mark.parametrize(
    "change",
    [
        {"adapter": ""},
        {"native_item_fields": ALL_FIELDS | {"score"}},
        {"search_consistency": "soon"},
        {"retrieve_fidelity": "most"},
        {"search_fidelity": None},
        {"vendor": "Acme"},
    ],
)
def test_an_unknown_word_or_field_is_a_validation_error(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        MemoryAdapterManifest(**FULL | change)


@pytest.mark.parametrize("field", FULL)
def test_every_field_must_be_stated(field: str) -> None:
    with pytest.raises(ValidationError, match=field):
        MemoryAdapterManifest(**{name: value for name, value in FULL.items() if name != field})


def test_a_manifest_is_frozen_in_depth() -> None:
    manifest = MemoryAdapterManifest(**FULL | {"supported_filters": {"kind"}})

    with pytest.raises(ValidationError, match="frozen"):
        manifest.adapter = "other"  # type: ignore[misc]
    assert isinstance(manifest.supported_filters, frozenset)
    assert hash(manifest) == hash(MemoryAdapterManifest(**FULL | {"supported_filters": {"kind"}}))


def test_a_manifest_survives_json() -> None:
    manifest = MemoryAdapterManifest(**FULL)

    assert MemoryAdapterManifest.model_validate_json(manifest.model_dump_json()) == manifest


def test_only_the_named_filters_are_supported_unless_they_are_open() -> None:
    closed = MemoryAdapterManifest(**FULL)
    opened = MemoryAdapterManifest(**FULL | {"open_filters": True})

    assert [closed.supports_filter(key) for key in ("kind", "year", "color")] == [True, True, False]
    assert opened.supports_filter("color")
    assert not closed.open_filters


def test_requirements_that_are_met_pass() -> None:
    MemoryAdapterManifest(**FULL).require(
        fields=["metadata"],
        filters=["year"],
        retrieve_fidelity="full",
        search_fidelity="native_fields",
        search_consistency="immediate",
        search_returns_tags=True,
        preserves_metadata=True,
    )


def test_nothing_is_required_by_default() -> None:
    MemoryAdapterManifest(**POOR).require()


def test_all_shortfalls_come_in_one_error() -> None:
    with pytest.raises(MemoryConfigurationError) as caught:
        MemoryAdapterManifest(**POOR).require(
            fields=["metadata", "content"],
            filters=["year"],
            retrieve_fidelity="full",
            search_fidelity="native_fields",
            search_consistency="immediate",
            search_returns_tags=True,
            preserves_metadata=True,
        )

    message = str(caught.value)
    assert message.startswith("adapter 'example' does not meet the requirements: ")
    assert message.split(": ", 1)[1].split("; ") == [
        "field 'metadata'",
        "filter 'year'",
        "retrieve_fidelity 'full' (is 'native_fields')",
        "search_fidelity 'native_fields' (is 'lossy')",
        "immediate search consistency",
        "tags in search results",
        "preserved metadata",
    ]


@pytest.mark.parametrize(
    ("need", "shortfall"),
    [
        ({"fields": ["created_at"]}, "field 'created_at'"),
        ({"filters": ["year"]}, "filter 'year'"),
        ({"retrieve_fidelity": "full"}, "retrieve_fidelity"),
        ({"search_fidelity": "native_fields"}, "search_fidelity"),
        ({"search_consistency": "immediate"}, "immediate search consistency"),
        ({"search_returns_tags": True}, "tags in search results"),
        ({"preserves_metadata": True}, "preserved metadata"),
    ],
)
def test_each_requirement_is_checked_alone(need: dict[str, Any], shortfall: str) -> None:
    with pytest.raises(MemoryConfigurationError, match=shortfall) as caught:
        MemoryAdapterManifest(**POOR).require(**need)

    assert ";" not in str(caught.value)
