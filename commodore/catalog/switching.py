"""Find the repairs that a cluster of syn-commodore needs: a compile with all possible errors lowered to warnings."""

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
"""Warnings about settings that syn-commodore accepts silently, and that should be repaired, too."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A repair.

    Attributes:
        code: the code of the error or warning.
        message: its message, with the place.
        effect: the effect while it is allowed; empty for a warning, which is always allowed.
        repair: a description of the repair.
    """

    code: str
    message: str
    effect: str
    repair: str


def find_repairs(
    request: CatalogCompile, source: ClusterSource, context: Context, on_repair: Callable[[Repair], None]
) -> CatalogChange:
    """Compile a cluster without publishing it, as syn-commodore would, and report the needed repairs.

    Args:
        request: the compile; it is not pushed, and all possible errors are lowered to warnings.
        on_repair: called with each repair once, also if the compile fails later.

    Returns:
        the change of the catalog.

    Raises:
        CommodoreError: an error that cannot be lowered: it has to be repaired first.
    """
    known: set[tuple[str, str]] = set()

    def on_event(event: Event) -> None:
        if isinstance(event, Warned) and (event.code in LOWERABLE or event.code in _OTHERS):
            if (event.code, event.message) not in known:
                known.add((event.code, event.message))
                on_repair(_repair(event))
        else:
            context.announce(event)

    lenient = replace(request, push=False, options=replace(request.options, allowed=frozenset(LOWERABLE)))
    return run_compile(lenient, source, lambda _: False, context.with_announce(on_event)).change


def _repair(event: Warned) -> Repair:
    if event.code in LOWERABLE:
        lowered = LOWERABLE[event.code]
        return Repair(event.code, event.message, lowered.effect, lowered.repair)
    return Repair(event.code, event.message, "", event.hint)
