"""Where clusters are compiled if not in this process."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from commodore.base.errors import PolicyError, UsageError
from commodore.base.printable import printable
from commodore.core.sources.http import is_loopback


@dataclass(frozen=True, slots=True)
class DaskOptions:
    """Where the clusters are compiled.

    Attributes:
        scheduler: the address of a scheduler; empty starts one with workers on this machine.
        insecure: whether a scheduler on another machine may be reached without TLS.
        workers: how many clusters are worked on at once, and how many workers are started if no scheduler is given;
            0 for as many as the scheduler has, or one per usable CPU.
    """

    scheduler: str = ""
    insecure: bool = False
    workers: int = 0

    @property
    def is_secure(self) -> bool:
        """True if the connection to the scheduler uses TLS."""
        return self.scheduler.startswith("tls://")

    def check(self) -> None:
        """Refuse a scheduler that any process in the network could give tasks to, and so run code on all workers.

        Raises:
            UsageError: CMD-FLT-127, its address has another form than `tcp://host:port` or `tls://host:port`.
            PolicyError: CMD-FLT-105, it is on another machine and reached without TLS.
        """
        if not self.scheduler:
            return
        if not _is_address(self.scheduler):
            raise UsageError(
                "CMD-FLT-127",
                f"{printable(self.scheduler)} is not the address of a scheduler",
                hint="write it as tls://host:8786, or tcp://127.0.0.1:8786 on this machine",
            )
        if not self.is_secure and not self.insecure and not is_loopback(self.scheduler):
            raise PolicyError(
                "CMD-FLT-105",
                f"the scheduler {self.scheduler} is reached without TLS",
                hint="use a tls:// address, as a process that reaches its port can run code on all workers; or take "
                "the risk with --insecure-scheduler",
            )


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("tcp", "tls") and bool(parts.hostname and parts.port)
    except ValueError:
        return False
