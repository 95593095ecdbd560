"""What every stage of a run works with. It is handed on; nothing in the library makes one of its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from commodore.cancellation import Cancellation
from commodore.events import Announce
from commodore.limits import Limits


@dataclass(frozen=True, slots=True)
class Context:
    """The surroundings of a run.

    Attributes:
        announce: hears what happens. It may be called from several threads.
        limits: bounds of sizes, counts and times.
        offline: work without network access, with what earlier runs have fetched.
        cancellation: ends the programs that the run has started, from another thread.
    """

    announce: Announce
    limits: Limits
    offline: bool = False
    cancellation: Cancellation = field(default_factory=Cancellation)

    def heard_by(self, announce: Announce) -> Context:
        """The same context with another listener."""
        return replace(self, announce=announce)

    def nested(self) -> Context:
        """The context of a part of the work that can be cancelled alone; it ends when the whole is cancelled."""
        return replace(self, cancellation=Cancellation(self.cancellation))
