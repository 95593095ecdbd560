"""Where clusters are compiled if not in this process."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from commodore.errors import PolicyError
from commodore.http import is_loopback


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

    def check(self) -> None:
        """Refuse a scheduler that any process in the network could give tasks to, and so run code on all workers.

        Raises:
            PolicyError: CMD-FLT-105, it is on another machine and reached without TLS.
        """
        secure = not self.scheduler or urlsplit(self.scheduler).scheme == "tls"
        if not secure and not self.insecure and not is_loopback(self.scheduler):
            raise PolicyError(
                "CMD-FLT-105",
                f"the scheduler {self.scheduler} is reached without TLS",
                hint="use a tls:// address, as a process that reaches its port can run code on all workers; or take "
                "the risk with --insecure-scheduler",
            )
