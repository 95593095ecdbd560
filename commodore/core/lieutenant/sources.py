"""Where a compile learns about its cluster, and to whom it reports: the Lieutenant API, or a file in its place."""

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
    """Who knows clusters. One source may be asked for many of them, from several threads."""

    def load(self, cluster: str, context: Context) -> Cluster:
        """The cluster with this id, with its tenant and facts.

        Raises:
            CommodoreError: it is not known, or not complete.
        """

    def report(self, cluster: str, body: Mapping[str, Any]) -> None:
        """Take the report of a compile whose catalog was pushed.

        Raises:
            CommodoreError: it could not be taken; the next run sends it again.
        """


@dataclass(frozen=True, slots=True)
class LieutenantApi:
    """The Lieutenant API.

    Args:
        client: asks the API; its creator closes it.
        dynamic_facts: facts for clusters that report none themselves.
    """

    client: LieutenantClient
    dynamic_facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def at(cls, url: str, token: str, context: Context) -> LieutenantApi:
        """The API at a URL, with a token that lasts as long as it is needed.

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
            raise self._suggesting(error, cluster) from error

    def _suggesting(self, error: InputError, cluster: str) -> InputError:
        """The same error, with the clusters that may be meant before its hint."""
        try:
            known = [str(one.get("id")) for one in self.client.clusters()]
        except CommodoreError:  # that the cluster is not known is what counts
            return error
        hint = "; ".join(filter(None, (did_you_mean(cluster, known), error.hint)))
        return InputError(error.code, error.message, hint=hint, locations=error.locations)

    def report(self, cluster: str, body: Mapping[str, Any]) -> None:
        self.client.report_compile(cluster, dict(body))


@dataclass(frozen=True, slots=True)
class ClusterFile:
    """A file in place of the API; reports go nowhere.

    Args:
        path: the file (see docs/reference/cluster-file.md).
        dynamic_facts: facts for clusters that have none in the file.
    """

    path: Path | str
    dynamic_facts: Mapping[str, Any] = field(default_factory=dict)

    def load(self, cluster: str, context: Context) -> Cluster:
        from commodore.core.lieutenant.cluster_file import load_cluster_file

        return load_cluster_file(Path(self.path), cluster, self.dynamic_facts, context)

    def report(self, cluster: str, body: Mapping[str, Any]) -> None:
        """Does nothing: there is no API."""
