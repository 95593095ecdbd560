"""The outcome of one cluster, as data that goes to the journal and the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from commodore.base.errors import CommodoreError, EnvironmentFault, Refused

State = Literal["unchanged", "changed", "pushed", "failed", "timeout", "cancelled", "not-begun"]
FAILURES_IN_A_ROW = 3
"""After so many, what they failed on gets no more clusters."""
FAILED: tuple[State, ...] = ("failed", "timeout")


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of a cluster: its error as `CommodoreError.as_dict`, and the exit code of the error. `may_pass` says
    that another attempt may end otherwise.
    """

    error: Mapping[str, Any]
    exit_code: int
    may_pass: bool = False

    @classmethod
    def of(cls, error: CommodoreError) -> Failure:
        is_refused = isinstance(error, Refused) or isinstance(error.__cause__, Refused)
        may_pass = error.exit_code == EnvironmentFault.exit_code and not is_refused
        return cls(error.as_dict(), error.exit_code, may_pass)


@dataclass(frozen=True, slots=True)
class ClusterOutcome:
    """The outcome of a cluster so far.

    Attributes:
        state: `changed` is compiled and not pushed; `pushed` has changed, too.
        attempts: how often it was begun.
        seconds: of wall time that the last attempt took.
        rendered, reused: numbers of instances; `brought` of the latter came from a remote cache in this run.
        tree: the digest of its trees (`catalog.tree_digest`); empty if it has failed.
        base_commit: what the change is compared with; `commit` is what was pushed.
        summary: numbers of files by what happened to them.
        groups: the changes, by the ids of the groups of equal ones.
    """

    id: str
    display_name: str
    tenant: str
    wave: str
    state: State = "not-begun"
    attempts: int = 0
    seconds: float = 0.0
    rendered: int = 0
    reused: int = 0
    brought: int = 0
    tree: str = ""
    base_commit: str = ""
    commit: str = ""
    summary: Mapping[str, int] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    failure: Failure | None = None
    notices: tuple[str, ...] = ()

    @property
    def has_failed(self) -> bool:
        return self.state in FAILED

    @property
    def may_pass(self) -> bool:
        """It has failed for a reason that another attempt may not meet."""
        return self.state == "failed" and self.failure is not None and self.failure.may_pass

    @property
    def exit_code(self) -> int:
        return self.failure.exit_code if self.failure is not None else 0

    def failing(self, error: CommodoreError, state: State = "failed") -> ClusterOutcome:
        """The same cluster after an error."""
        return replace(self, state=state, failure=Failure.of(error))

    def as_dict(self) -> dict[str, Any]:
        """As JSON-ready data; `parse` reads it again."""
        return asdict(self)

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> ClusterOutcome:
        """Read what `as_dict` has written.

        Raises:
            TypeError, KeyError: it is something else.
        """
        failure = data["failure"]
        return cls(
            **{
                **data,
                "failure": Failure(**failure) if failure else None,
                "groups": tuple(data["groups"]),
                "notices": tuple(data["notices"]),
            }
        )
