"""What a cluster of syn-commodore needs repaired: one compile in which all that can be lowered is lowered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from commodore.base.context import Context
from commodore.base.events import Event, Warned
from commodore.base.strictness import LOWERABLE
from commodore.catalog import CatalogChange
from commodore.catalog.pipeline import CatalogCompile, run_compile
from commodore.core.lieutenant import ClusterSource

_OTHERS = frozenset({"CMD-DEP-025", "CMD-NAME-007"})
"""Warnings about what syn-commodore takes without a word, and that should be repaired, too."""


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing to repair.

    Attributes:
        code: of the error, or of the warning.
        message: what is wrong, and where.
        effect: what happens while it is allowed; empty for a warning, which needs no leave.
        repair: how to mend the cause.
    """

    code: str
    message: str
    effect: str
    repair: str


def find_repairs(
    request: CatalogCompile, source: ClusterSource, context: Context, found: Callable[[Repair], None]
) -> CatalogChange:
    """Compile a cluster without publishing anything, as syn-commodore would, and tell what needs repair.

    Args:
        request: what to compile; it is not pushed, and all codes that can be lowered are.
        found: is given each thing once, also those before an error.

    Returns:
        what would change in the catalog.

    Raises:
        CommodoreError: what stops the compile nevertheless: it has to be repaired first.
    """
    known: set[tuple[str, str]] = set()

    def on_event(event: Event) -> None:
        if isinstance(event, Warned) and (event.code in LOWERABLE or event.code in _OTHERS):
            if (event.code, event.message) not in known:
                known.add((event.code, event.message))
                found(_repair(event))
        else:
            context.announce(event)

    lenient = replace(request, push=False, options=replace(request.options, allowed=frozenset(LOWERABLE)))
    return run_compile(lenient, source, lambda _: False, context.with_announce(on_event)).change


def _repair(event: Warned) -> Repair:
    if event.code in LOWERABLE:
        lowered = LOWERABLE[event.code]
        return Repair(event.code, event.message, lowered.effect, lowered.repair)
    return Repair(event.code, event.message, "", event.hint)
