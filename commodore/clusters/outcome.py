"""The outcome of one cluster, as data that goes to the journal and the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from commodore.base.errors import CommodoreError, EnvironmentFault, ErrorRecord, Refused

State = Literal["unchanged", "changed", "pushed", "failed", "timeout", "cancelled", "not-begun"]
FAILURES_IN_A_ROW = 3
"""The number of consecutive failures after which a machine or worker gets no more clusters."""
FAILED: tuple[State, ...] = ("failed", "timeout")


@dataclass(frozen=True, slots=True)
class Failure(ErrorRecord):
    """The error of a cluster; `may_pass` is True if another attempt may succeed."""

    exit_code: int
    may_pass: bool = False

    @classmethod
    def of(cls, error: CommodoreError) -> Failure:
        is_refused = isinstance(error, Refused) or isinstance(error.__cause__, Refused)
        may_pass = error.exit_code == EnvironmentFault.exit_code and not is_refused
        places = error.as_plain().locations
        return cls(error.code, error.family, error.message, error.hint, places, error.exit_code, may_pass)


@dataclass(frozen=True, slots=True)
class Instances:
    """Counts of instances; `remote` counts reused instances from a remote cache in this run."""

    json_properties: ClassVar = ("total",)

    rendered: int = 0
    reused: int = 0
    remote: int = 0

    @property
    def total(self) -> int:
        """All instances."""
        return self.rendered + self.reused


@dataclass(frozen=True, slots=True)
class ClusterOutcome:
    """The current outcome of a cluster.

    Attributes:
        state: `changed` is compiled and not pushed; `pushed` has changed, too.
        attempts: the number of attempts.
        seconds: the wall time of the last attempt.
        tree: the SHA-256 of the lines `mode sha256 path` of all files in `manifests/` and `refs/`, sorted by path;
            empty if it has failed.
        base_commit: the commit that the change is compared with.
        commit: the pushed commit.
        summary: counts of files by kind of change.
        groups: the ids of the groups of equal changes.
        notices: messages for the end of the run.
    """

    json_properties: ClassVar = ("log",)

    id: str
    display_name: str
    tenant: str
    wave: str
    state: State = "not-begun"
    attempts: int = 0
    seconds: float = 0.0
    instances: Instances = Instances()
    tree: str = ""
    base_commit: str = ""
    commit: str = ""
    summary: Mapping[str, int] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    error: Failure | None = None
    notices: tuple[str, ...] = ()

    @property
    def log(self) -> str:
        """The file with all messages, relative to the folder of the report."""
        return f"logs/{self.id}.jsonl"

    @property
    def has_failed(self) -> bool:
        return self.state in FAILED

    @property
    def may_pass(self) -> bool:
        """True if another attempt may succeed."""
        return self.state == "failed" and self.error is not None and self.error.may_pass

    @property
    def exit_code(self) -> int:
        return self.error.exit_code if self.error is not None else 0

    def failing(self, error: CommodoreError, state: State = "failed") -> ClusterOutcome:
        """Return the outcome after an error."""
        return replace(self, state=state, error=Failure.of(error))
