"""The sources of a catalog: the data of the report to Lieutenant and of the commit message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from commodore.core.sources.git.urls import redact
from commodore.version import __version__


@dataclass(frozen=True, slots=True)
class RepositoryVersion:
    """A repository at the used version.

    Attributes:
        url: normalised URL of the remote; credentials in it are never shown.
        version: the requested version: configured or overridden, else the default branch.
        sha: the checked out commit, 40 or 64 hexadecimal digits.
        short_sha: git's abbreviation of it, at least six digits.
        path: the configured sub-path of the repository, if any.
        component: of an instance, the component's name.
    """

    url: str
    version: str
    sha: str
    short_sha: str
    path: str | None = None
    component: str | None = None

    @property
    def display_url(self) -> str:
        """Return the URL without user name and password."""
        return redact(self.url)

    def as_report(self) -> dict[str, Any]:
        """Return the repository as JSON-ready data; `component` and `path` only if they are set."""
        report = {"url": self.display_url, "version": self.version, "gitSha": self.sha}
        if self.component is not None:
            report["component"] = self.component
        if self.path:
            report["path"] = self.path
        return report


@dataclass(frozen=True, slots=True)
class CompileMetadata:
    """The sources and the time of a compile.

    Attributes:
        instances: per instance the repository of its component.
        packages: per package its repository.
        global_config: the global configuration at the revision used (override, else the API's, else default branch).
        tenant_config: the tenant's configuration, likewise.
        compiled_at: the time of the compile, with its UTC offset.
        version: version of this program.
        git_version: git's description of the commit this program was built from.
    """

    instances: Mapping[str, RepositoryVersion]
    packages: Mapping[str, RepositoryVersion]
    global_config: RepositoryVersion
    tenant_config: RepositoryVersion
    compiled_at: datetime
    version: str = __version__
    git_version: str = f"v{__version__}"

    @property
    def timestamp(self) -> str:
        """Return the time as reported: ISO 8601 with milliseconds and offset."""
        return self.compiled_at.isoformat(timespec="milliseconds")

    def as_report(self) -> dict[str, Any]:
        """Return the body of the report, JSON-ready, with names sorted."""
        return {
            "commodoreBuildInfo": {"version": self.version, "gitVersion": self.git_version},
            "global": self.global_config.as_report(),
            "tenant": self.tenant_config.as_report(),
            "instances": {name: self.instances[name].as_report() for name in sorted(self.instances)},
            "packages": {name: self.packages[name].as_report() for name in sorted(self.packages)},
            "lastCompile": self.timestamp,
        }


def local_now() -> datetime:
    """Return the current local time with its offset, for `compiled_at`."""
    return datetime.now().astimezone()
