"""Fetch the global defaults and the tenant's configuration, the upper part of the hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.errors import CommodoreError, Location, PolicyError, raise_all
from commodore.base.events import Warned, stage
from commodore.catalog.stages.checkouts import Fetcher, collect
from commodore.core.inventory import (
    bootstrap_target,
    find_removed_variables,
    foreign_class_folders,
    link_classes,
    write_cluster_params,
    write_targets,
)
from commodore.core.sources.git import Checkout, check_out, inspect, open_checkout, recover, repository_key

Places = Callable[[], list[Location]]
"""Returns the places that set a value; called for errors only."""


@dataclass(frozen=True, slots=True)
class ConfigurationRepository:
    """A repository of configuration: its name in messages, its URL, its revision, and the places that set these two.

    A revision of None is the remote's default branch.
    """

    what: str
    url: str
    revision: str | None
    url_places: Places
    revision_places: Places

    def check_url(self) -> None:
        """Refuse an invalid URL, before any file is changed.

        Raises:
            InputError: it is invalid.
        """
        try:
            repository_key(self.url)
        except CommodoreError as error:
            raise error.about(self.what, at=self.url_places()) from error

    def place(self, fetcher: Fetcher, folder: Path) -> Checkout:
        """Check the revision out.

        Raises:
            CommodoreError: an unknown revision, or local changes.
        """
        repository = fetcher.store.repository(self.url)
        try:
            revision = repository.resolve(self.revision)
        except CommodoreError as error:
            raise error.about(self.what, at=self.revision_places()) from error
        return check_out(repository, folder, revision, force=fetcher.force)


@dataclass(frozen=True, slots=True)
class ConfigurationSource:
    """The sources of a tenant's hierarchy."""

    tenant: str
    global_defaults: ConfigurationRepository
    tenant_config: ConfigurationRepository

    def explain(self, urls: Collection[str], error: CommodoreError) -> CommodoreError:
        """Add the names of the repositories at these URLs to an error."""
        users = [repository for repository in (self.global_defaults, self.tenant_config) if repository.url in urls]
        places = [place for repository in users for place in repository.url_places()]
        return error.about(" and ".join(repository.what for repository in users), at=places)


@dataclass(frozen=True, slots=True)
class Configuration:
    """The checkouts of both repositories in the hierarchy."""

    global_defaults: Checkout
    tenant: Checkout


def fetch_configuration(fetcher: Fetcher, source: ConfigurationSource, parameters: Mapping[str, Any]) -> Configuration:
    """Fetch both repositories, and start the hierarchy: the facts class and the bootstrap target.

    Args:
        parameters: the parameters of the facts class `params.cluster`.

    Raises:
        CommodoreError: failures of git, local changes, another tenant's checkout, removed variables.
    """
    workspace = fetcher.workspace
    with stage(fetcher.context.announce, "fetching configuration"):
        _refuse_foreign(fetcher, source.tenant)
        repositories = [
            (source.global_defaults, workspace.global_config),
            (source.tenant_config, workspace.tenant_config(source.tenant)),
        ]
        _look_for_untracked(fetcher, [folder for _, folder in repositories])
        fetcher.store.sync([(repository.url, repository.revision) for repository, _ in repositories], source.explain)
        threads = fetcher.context.limits.git_threads
        configuration = Configuration(*collect(lambda pair: pair[0].place(fetcher, pair[1]), repositories, threads))
        write_cluster_params(workspace, parameters)
        return _begin_hierarchy(fetcher, configuration)


def open_configuration(fetcher: Fetcher, tenant: str) -> Configuration:
    """Open both repositories as the last run left them, for local mode.

    Raises:
        CommodoreError: a checkout is missing, or removed variables.
    """
    workspace = fetcher.workspace
    with stage(fetcher.context.announce, "opening configuration"):
        folders = (workspace.global_config, workspace.tenant_config(tenant))
        if missing := [str(folder) for folder in folders if not folder.is_dir()]:
            raise PolicyError(
                "CMD-INV-013",
                "the checkout of the global defaults or of the tenant's configuration is missing",
                hint="run once without --local",
                locations=missing,
            )
        configuration = Configuration(
            *(open_checkout(folder, fetcher.context, url="", version="") for folder in folders)
        )
        return _begin_hierarchy(fetcher, configuration)


def _begin_hierarchy(fetcher: Fetcher, configuration: Configuration) -> Configuration:
    raise_all(find_removed_variables([configuration.global_defaults.path, configuration.tenant.path]))
    write_targets(fetcher.workspace, [bootstrap_target()])
    # Links of an earlier run may point to folders that were removed since, and reclass reads every class file.
    link_classes(fetcher.workspace, [])
    return configuration


def _look_for_untracked(fetcher: Fetcher, folders: list[Path]) -> None:
    """Refuse untracked files: they would be compiled, but no other machine could reproduce that."""
    errors: list[CommodoreError] = []

    def look(folder: Path) -> tuple[str, ...]:
        if not (folder / ".git").exists():
            return ()
        recover(folder, fetcher.context)
        return inspect(folder, fetcher.context).untracked

    for folder, untracked in zip(folders, collect(look, folders, fetcher.context.limits.git_threads), strict=True):
        if not untracked:
            continue
        text = f"{folder} has untracked files: {', '.join(untracked[:5])}{' …' if len(untracked) > 5 else ''}"
        if fetcher.force:
            fetcher.context.announce(
                Warned("CMD-INV-030", f"{text}; they are compiled", hint="commit them, or remove them")
            )
        else:
            errors.append(
                PolicyError(
                    "CMD-INV-031", text, hint="commit them, move them away, or compile them with --force or --local"
                )
            )
    raise_all(errors)


def _refuse_foreign(fetcher: Fetcher, tenant: str) -> None:
    """Remove checkouts of other tenants from the working directory; refuse to if one has changes."""
    errors: list[CommodoreError] = []
    for folder in foreign_class_folders(fetcher.workspace, {tenant}):
        recover(folder, fetcher.context)
        changes = inspect(folder, fetcher.context) if (folder / ".git").exists() else None
        if changes is not None and not changes.dirty and not changes.untracked:
            fetcher.workspace.discard(folder)
            continue
        errors.append(
            PolicyError(
                "CMD-INV-014",
                f"{folder} does not belong to this cluster's hierarchy and may have local changes",
                hint="move the folder away, or compile this cluster in another working directory",
            )
        )
    raise_all(errors)
