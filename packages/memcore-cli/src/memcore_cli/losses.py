"""What a store cannot keep of what comes from another: refused before it is lost, unless it is accepted by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memcore.items.store import ExternalMemoryStore
from memcore.records.model import MemoryRecord

from memcore_cli.exit_codes import ExitCode
from memcore_cli.failures import CommandFailed

if TYPE_CHECKING:
    from collections.abc import Collection

    from memcore.items.model import MemoryItem

    from memcore_cli.connection import Connection

RECORDS: Final = "records"
"""The name of the loss of all records; a loss of items is named by the field, or is their exactness."""
_EXACTNESS: Final = "exactness"


def losses_of(store: Connection, kind: type[MemoryItem | MemoryRecord]) -> list[str]:
    """Return what a store loses of items or records, by name."""
    if issubclass(kind, MemoryRecord):
        claims = store.backend.capabilities
        return [] if "records" in claims.contracts and "transfer" in claims.extensions else [RECORDS]
    if not isinstance(store.items, ExternalMemoryStore):  # of three methods alone, nothing is known
        return []
    manifest = store.items.manifest
    lost = {str(field) for field in manifest.dropped_item_fields}
    lost |= set() if manifest.preserves_metadata else {"metadata"}
    return sorted(lost | ({_EXACTNESS} if manifest.retrieve_fidelity == "lossy" else set()))


def refuse_losses(what: str, losses: Collection[str], accepted: Collection[str]) -> None:
    """Refuse what would be lost without being accepted.

    Args:
        what: the beginning of the message, as in `a store of adapter 'x' does not keep`.
        losses: what would be lost, by name.
        accepted: what may be.

    Raises:
        CommandFailed: some loss is not accepted; the message names it, and the option that accepts it.
    """
    refused = [loss for loss in losses if loss not in accepted]
    if refused:
        options = " ".join(f"--accept-loss {loss}" for loss in refused)
        advice = f"choose a store that does, or accept the loss with {options}"
        raise CommandFailed(f"{what}: {', '.join(refused)}", advice=advice, code=ExitCode.CONFIGURATION)
