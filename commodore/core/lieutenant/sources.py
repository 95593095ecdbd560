"""Sources of clusters, which also receive reports of compiles: the Lieutenant API, or a file in its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, did_you_mean

if TYPE_CHECKING:
    from commodore.core.lieutenant.client import LieutenantClient
    from commodore.core.lieutenant.models import Cluster


class ClusterSource(Protocol):
    """A source of clusters. Its methods may be called from several threads."""

    def load(self, cluster: str, context: Context) -> Cluster:
        """Return the cluster with this id, with its tenant and facts.

        Raises:
            CommodoreError: it is unknown or incomplete.
        """

    def report(self, cluster: str, body: Mapping[str, Any]) -> None:
        """Receive the report of a compile whose catalog was pushed.

        Raises:
            CommodoreError: it could not be received; the next run sends it again.
        """


@dataclass(frozen=True, slots=True)
class LieutenantApi:
    """The Lieutenant API.

    Args:
        client: the client of the API; the caller closes it.
        dynamic_facts: facts for clusters that do not report dynamic facts.
    """

    client: LieutenantClient
    dynamic_facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def at(cls, url: str, token: str, context: Context) -> LieutenantApi:
        """Return the API at a URL, with a token that stays valid as long as it is used.

        Raises:
            InputError: the URL is not valid.
        """
        from commodore.core.lieutenant.client import LieutenantClient

        return cls(LieutenantClient(url, lambda: token, context))

    def load(self, cluster: str, context: Context) -> Cluster:
        from commodore.core.lieutenant.load import load_cluster

        try:
            return load_cluster(self.client, cluster, self.dynamic_facts, context)
        except InputError as error:
            if error.code != "CMD-API-018":
                raise
            raise self._with_suggestions(error, cluster) from error

    def _with_suggestions(self, error: InputError, cluster: str) -> InputError:
        """Return the error with similar cluster ids before its hint."""
        try:
            known = [str(cluster_object.get("id")) for cluster_object in self.client.clusters()]
        except CommodoreError:  # the unknown cluster is the error to report
            return error
        hint = "; ".join(filter(None, (did_you_mean(cluster, known), error.hint)))
        return InputError(error.code, error.message, hint=hint, locations=error.locations)

    def report(self, cluster: str, body: Mapping[str, Any]) -> None:
        self.client.report_compile(cluster, dict(body))


@dataclass(frozen=True, slots=True)
class ClusterFile:
    """A file in place of the API; reports are ignored.

    Args:
        path: the file (see docs/reference/cluster-file.md).
        dynamic_facts: facts for clusters without dynamic facts in the file.
    """

    path: Path | str
    dynamic_facts: Mapping[str, Any] = field(default_factory=dict)

    def load(self, cluster: str, context: Context) -> Cluster:
        from commodore.core.lieutenant.cluster_file import load_cluster_file

        return load_cluster_file(Path(self.path), cluster, self.dynamic_facts, context)

    def report(self, cluster: str, body: Mapping[str, Any]) -> None:
        """Do nothing, without an API."""
