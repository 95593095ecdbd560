"""The request of a run over many clusters: its options, and the identity that `--resume` compares."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from commodore.base.errors import PolicyError, UsageError
from commodore.base.printable import printable
from commodore.catalog import CatalogCompile
from commodore.clusters.report.model import FleetReport
from commodore.clusters.selection import ClusterSelection, Shard
from commodore.clusters.task import Keep
from commodore.clusters.waves import ALL_CLUSTERS, Wave
from commodore.core.sources.git import Pin
from commodore.core.sources.http import is_loopback


@dataclass(frozen=True, slots=True)
class DaskOptions:
    """Workers of a Dask cluster that compile the clusters.

    Attributes:
        scheduler: the address of a scheduler; empty starts one with workers on this machine.
        insecure: allow connections without TLS to a scheduler on another machine.
        workers: the number of clusters processed at once, and of started workers if no scheduler is given;
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
        """Refuse a scheduler that accepts tasks, and so code for all workers, from any process in the network.

        Raises:
            UsageError: CMD-FLT-127, its address has another form than `tcp://host:port` or `tls://host:port`.
            PolicyError: CMD-FLT-105, it is on another machine, without TLS.
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


@dataclass(frozen=True, slots=True)
class FleetCompile:
    """The options of `fleet compile`.

    Attributes:
        request: the options for each cluster. Its workspace is the folder of the run; its cluster is ignored.
        approved: names of waves with a manual gate that may be published.
        ahead: compile clusters of later waves while earlier waves are judged, published and soaking.
        status: files with the state of applications; if given, a wave must be healthy after soaking.
        status_age: the maximum age of status files in seconds.
        workers: the number of clusters compiled at once; 0 for one per usable CPU.
        retries: the number of retries of a cluster after an environment error.
        timeout: the maximum seconds of an attempt.
        keep: the part of the clusters' workspaces to keep: all, the state for the next run, or nothing.
        resume: the run to resume, empty for the newest unfinished one; None begins a new run.
        pins: commits of branches and tags, by URL and name; others are queried.
        dask: the workers to use; None for threads of this process.
        judged: the report of a run whose catalogs are published without compiling others.
    """

    request: CatalogCompile
    selection: ClusterSelection = field(default_factory=ClusterSelection)
    waves: tuple[Wave, ...] = ALL_CLUSTERS
    shard: Shard | None = None
    approved: frozenset[str] = frozenset()
    ahead: bool = False
    status: tuple[str, ...] = ()
    status_age: float = 900.0
    workers: int = 0
    retries: int = 2
    timeout: float = 1800.0
    keep: Keep = "all"
    resume: str | None = None
    pins: Mapping[Pin, str] = field(default_factory=dict)
    dask: DaskOptions | None = None
    judged: FleetReport | None = None

    def check(self) -> None:
        """Refuse options that cannot be combined.

        Raises:
            CommodoreError: as `CatalogCompile.check` and `DaskOptions.check`.
        """
        self.request.check()
        if self.dask is not None:
            self.dask.check()

    @property
    def deciding(self) -> dict[str, str]:
        """Return the digest of each option that affects the catalogs or their waves, and is not at its default.

        So an option of a later version changes nothing unless it is used.
        """
        values: dict[str, Any] = {}
        if self.waves != ALL_CLUSTERS:
            values["--waves, --canary or --max-failures"] = self.waves
        for given in (self.request, self.request.options, self.selection):
            for name, value in _changed(given).items():
                if name not in _NOT_DECIDING:
                    values[_OPTIONS.get(name, f"--{name.replace('_', '-')}")] = value
        return {option: _digest(_plain(value)) for option, value in values.items()}

    @property
    def digest(self) -> str:
        """The identity of the run except for its clusters: `sha256:` and the digest of `deciding`."""
        return f"sha256:{_digest(self.deciding)}"


# Caches are excluded: some jobs of a run may write to them, others only read.
_NOT_DECIDING = {"cluster", "workspace", "push", "author", "options"}
_NOT_DECIDING |= {"processes", "verbose", "cached", "shadow", "remote", "allowed"}
_OPTIONS = {
    "global_revision": "--global-repo-revision-override",
    "tenant_revision": "--tenant-repo-revision-override",
    "diff_mode": "--migration",
    "fetch": "--fetch-dependencies",
    "policy": "--trust-policy",
    "ids": "CLUSTER",
    "tenants": "--tenant",
    "facts": "--fact",
}


def _changed(record: Any) -> dict[str, Any]:
    """Return the fields of a record that take part in comparisons and differ from their defaults."""
    changed = {}
    for item in fields(record):
        value = getattr(record, item.name)
        default = item.default_factory() if item.default_factory is not MISSING else item.default
        if item.compare and value != default:
            changed[item.name] = value
    return changed


def _plain(value: Any) -> Any:
    """Convert the value of an option to JSON-ready data, equal for equal values.

    Raises:
        TypeError: its type has no such form.
    """
    if is_dataclass(value):
        return {name: _plain(inner) for name, inner in _changed(value).items()}
    if isinstance(value, Mapping):
        return sorted((_plain(key), _plain(inner)) for key, inner in value.items())
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value))
    if isinstance(value, tuple | list):
        return [_plain(inner) for inner in value]
    if isinstance(value, PurePath):
        return str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{type(value).__name__} has no form that identifies a run")


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
