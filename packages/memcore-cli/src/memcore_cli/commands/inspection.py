"""Commands that look at what is installed and at what a store claims: `adapters`, `manifest`, `ping`."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import typer
from memcore.settings import mask_url

from memcore_cli.claims import claims_document, claims_fields
from memcore_cli.connection import connected, installed
from memcore_cli.environment import foreign_modules
from memcore_cli.group import plugin_commands
from memcore_cli.output import show_fields, show_table, tell, write_document
from memcore_cli.parameters import AsJson, Url

if TYPE_CHECKING:
    from memcore.plugins import Adapter, BrokenPlugin, Registry


def adapters(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List the installed adapters, and broken plugins."""
    registry = installed(context)
    found = [_adapter_document(registry, adapter) for adapter in registry.adapters()]
    broken = _broken(context, registry)
    warnings = foreign_modules() + _rivals(registry.adapters())
    if as_json:
        faults = [{"distribution": b.distribution, "entry_point": b.entry_point, "error": b.error} for b in broken]
        write_document({"adapters": found, "broken": faults, "warnings": warnings})
        return
    show_table(("adapter", "URLs", "contracts", "what it is", "distribution", "version"), map(_adapter_row, found))
    for plugin in broken:
        tell(f"broken: {plugin.entry_point} of {plugin.distribution}: {' '.join(plugin.error.split())}")
    for warning in warnings:
        tell(f"warning: {warning}")


def manifest(context: typer.Context, url: Url, *, as_json: AsJson = False) -> None:
    """Show what a store keeps, loses and claims."""
    with connected(context, url) as store:
        document = claims_document(store.described.manifest)
        capabilities = claims_document(store.backend.capabilities)
    if as_json:
        write_document(document | {"capabilities": capabilities})
    else:
        show_fields(claims_fields(document | capabilities))


def ping(context: typer.Context, url: Url, *, as_json: AsJson = False) -> None:
    """Show whether a store answers, how quickly, and its versions."""
    for warning in foreign_modules():
        tell(f"warning: {warning}")
    with connected(context, url) as store:
        health = store.run(store.backend.ping())
    if as_json:
        write_document(health.model_dump(mode="json"))
        return
    fields = [("store", mask_url(url)), ("status", health.status), ("latency", f"{health.latency * 1000:.2f} ms")]
    fields += [("detail", health.detail)] if health.detail else []
    show_fields(fields + sorted(health.versions.items()))


def _adapter_document(registry: Registry, adapter: Adapter) -> dict[str, object]:
    distribution = registry.origin(adapter)
    return {
        "name": adapter.name,
        "schemes": list(adapter.schemes),
        "contracts": sorted(adapter.contracts),
        "summary": adapter.summary,
        "distribution": distribution,
        "version": _version(distribution),
    }


def _adapter_row(document: dict[str, object]) -> list[str]:
    return [" ".join(map(str, value)) if isinstance(value, list) else str(value) for value in document.values()]


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _broken(context: typer.Context, registry: Registry) -> list[BrokenPlugin]:
    group = context.find_root().command
    commands = plugin_commands(registry, list(getattr(group, "commands", ())))[1]
    return [*registry.broken, *commands]


def _rivals(adapters: list[Adapter]) -> list[str]:
    claims: dict[str, list[str]] = {}
    for adapter in adapters:
        for scheme in adapter.schemes:
            claims.setdefault(scheme, []).append(adapter.name)
    return [f"{scheme}:// is claimed by {' and '.join(names)}" for scheme, names in claims.items() if len(names) > 1]
