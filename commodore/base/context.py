"""The context of a run. It is passed to every stage; the library never creates one itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from commodore.base.cancellation import Cancellation
from commodore.base.errors import CommodoreError, Findings, raise_all
from commodore.base.events import Announce, Warned
from commodore.base.limits import Limits
from commodore.base.strictness import LOWERABLE, OPTION


@dataclass(frozen=True, slots=True)
class GitRights:
    """Git credentials, passed by environment and configuration, never on a command line.

    Attributes:
        settings: git's configuration, as pairs of key and value.
        environment: git's environment variables.
    """

    settings: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


class Access(Protocol):
    """Credentials and certificates for servers, unless that is left to git and its user. Thread-safe."""

    def variables(self) -> Mapping[str, str]:
        """All variables of git, instead of the caller's."""

    def rights(self, url: str) -> GitRights | None:
        """Credentials of git for the repository of a URL; None for the credentials in the URL."""

    def all_rights(self) -> GitRights:
        """Credentials of git for all servers, for programs that call git themselves."""

    def headers(self, url: str, named_by: str = "") -> Mapping[str, str]:
        """Headers with credentials for the URL of a file or a registry (`oci://...`), for its server only.

        Args:
            named_by: the URL of the referring document, such as the index of a chart repository.
        """

    def authorities(self, url: str) -> Path | None:
        """A file with the certificate authorities of a server; None for the system's."""


@dataclass(frozen=True, slots=True)
class Context:
    """The context of a run.

    Attributes:
        announce: called with events. It must be thread-safe.
        limits: limits of sizes, counts and times.
        offline: work without network access, with the caches of earlier runs.
        cancellation: terminates the programs of the run, from another thread.
        allowed: the codes of errors to lower to warnings.
        check_host: raises an error for the URL of a host that git servers must not redirect to; None for the rule
            without a trust policy.
        access: credentials for servers; None for git's own, and for none without git.
    """

    announce: Announce
    limits: Limits
    offline: bool = False
    cancellation: Cancellation = field(default_factory=Cancellation)
    allowed: frozenset[str] = frozenset()
    check_host: Callable[[str], None] | None = None
    access: Access | None = None

    def with_announce(self, announce: Announce) -> Context:
        """Return the context with another listener."""
        return replace(self, announce=announce)

    def nested(self) -> Context:
        """Return the context of a part that can be cancelled by itself, and with the whole."""
        return replace(self, cancellation=Cancellation(self.cancellation))

    def allowing(self, codes: Iterable[str]) -> Context:
        """Return the context with further codes to lower."""
        return replace(self, allowed=self.allowed | frozenset(codes))

    def problem(self, error: CommodoreError) -> None:
        """Announce an error as a warning if it may be lowered; raise it otherwise.

        Raises:
            CommodoreError: the error, if it is not lowered. Its hint names the option.
        """
        raise_all(self.problems([error]))

    def problems(self, errors: Iterable[CommodoreError]) -> list[CommodoreError]:
        """Return the errors that stop the run, and announce the others as warnings. Hints name the option."""
        stopping: list[CommodoreError] = []
        for error in _apart(errors):
            if error.code not in LOWERABLE:
                stopping.append(error)
            elif error.code in self.allowed:
                effect = f"allowed: {LOWERABLE[error.code].effect}"
                self.announce(Warned(error.code, error.message, "; ".join(filter(None, (effect, error.hint)))))
            else:
                stopping.append(error.hinting(f"{OPTION} {error.code} makes it a warning"))
        return stopping


def _apart(errors: Iterable[CommodoreError]) -> Iterator[CommodoreError]:
    for error in errors:
        yield from error.errors if isinstance(error, Findings) else (error,)
