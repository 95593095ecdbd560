"""What every stage of a run works with. It is handed on; nothing in the library makes one of its own."""

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
    """What a server lets git in by; nothing of it is on a command line.

    Attributes:
        settings: of git, as pairs of a key and a value.
        environment: variables of git.
    """

    settings: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


class Access(Protocol):
    """What servers are asked with, where that is not left to git and its user. May be used from several threads."""

    def variables(self) -> Mapping[str, str]:
        """All variables of git, in place of the caller's."""

    def rights(self, url: str) -> GitRights | None:
        """What lets git in at the repository of a URL; None for what the URL itself says."""

    def all_rights(self) -> GitRights:
        """What lets git in wherever it may, for programs that call it themselves."""

    def headers(self, url: str, named_by: str = "") -> Mapping[str, str]:
        """What lets in at the URL of a file or a registry (`oci://...`), as headers for its server alone.

        Args:
            named_by: the URL of what names this one, such as the index of a chart repository.
        """

    def authorities(self, url: str) -> Path | None:
        """A file with the certificate authorities of a server; None for those of the machine."""


@dataclass(frozen=True, slots=True)
class Context:
    """The surroundings of a run.

    Attributes:
        announce: gets what happens. It may be called from several threads.
        limits: bounds of sizes, counts and times.
        offline: work without network access, with what earlier runs have fetched.
        cancellation: ends the programs that the run has started, from another thread.
        allowed: the codes of errors that are lowered to warnings.
        check_host: raises an error for the URL of a host that git servers must not redirect to; None for the rule that
            holds without a trust policy.
        access: what servers are asked with; None for git's own ways, and for nothing where no git asks.
    """

    announce: Announce
    limits: Limits
    offline: bool = False
    cancellation: Cancellation = field(default_factory=Cancellation)
    allowed: frozenset[str] = frozenset()
    check_host: Callable[[str], None] | None = None
    access: Access | None = None

    def with_announce(self, announce: Announce) -> Context:
        """The same context with another listener."""
        return replace(self, announce=announce)

    def nested(self) -> Context:
        """The context of a part of the work that can be cancelled alone; it ends when the whole is cancelled."""
        return replace(self, cancellation=Cancellation(self.cancellation))

    def allowing(self, codes: Iterable[str]) -> Context:
        """The context in which these codes are lowered, too."""
        return replace(self, allowed=self.allowed | frozenset(codes))

    def problem(self, error: CommodoreError) -> None:
        """Meet an error that may be lowered: if it is, announce it as a warning; the caller goes on.

        Raises:
            CommodoreError: the error, which is not lowered. Its hint names the option.
        """
        raise_all(self.problems([error]))

    def problems(self, errors: Iterable[CommodoreError]) -> list[CommodoreError]:
        """The errors of these that stop the run; the others are announced as warnings. Hints name the option."""
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
