"""What every stage of a run works with. It is handed on; nothing in the library makes one of its own."""

from __future__ import annotations

from dataclasses import dataclass

from commodore.events import Announce, Event
from commodore.limits import Limits


@dataclass(frozen=True, slots=True)
class Context:
    """The surroundings of a run.

    Attributes:
        announce: hears what happens. It may be called from several threads.
        limits: bounds of sizes, counts and times.
        offline: work without network access, with what earlier runs have fetched.
    """

    announce: Announce
    limits: Limits
    offline: bool = False

    def say(self, event: Event) -> None:
        """Announce an event."""
        self.announce(event)
