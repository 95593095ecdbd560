"""Jsonnet libraries into `vendor/`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, Setting
from commodore.base.events import stage
from commodore.base.files.workspace import link_relative
from commodore.base.names import BOOTSTRAP_TARGET, parameter_key
from commodore.catalog.stages.checkouts import Components, Fetcher
from commodore.catalog.stages.policy import effective_policy
from commodore.core.dependencies.bundle import (
    BundledComponent,
    JsonnetFile,
    LibrarySources,
    Requirer,
    bundle,
    bundle_component,
    effective_jsonnetfiles,
)
from commodore.core.inventory import Inventory
from commodore.core.results.caches import library_cache, usable
from commodore.core.sources.git import RepositoryStore

if TYPE_CHECKING:
    from commodore.core.confinement import TrustPolicy


def bundle_libraries(
    fetcher: Fetcher,
    components: Components,
    inventory: Inventory,
    sources: LibrarySources | None = None,
    policy: TrustPolicy | None = None,
) -> None:
    """Fill `vendor/` with links to all components, their libraries, and what their jsonnetfiles require.

    Args:
        sources: those that are shared by several calls, so that remotes that it has asked are not asked again.
        policy: which hosts libraries may come from, unless `sources` are given; see `CompileOptions`.

    Raises:
        CommodoreError: wrong jsonnetfiles or variables, versions that do not exist, git's failures.
    """
    parameters = inventory.nodes[BOOTSTRAP_TARGET].parameters
    with stage(fetcher.context.announce, "bundling jsonnet libraries"), contextlib.ExitStack() as stack:
        requirers = [
            Requirer(name, base.checkout.path, _variables(parameters, name)) for name, base in components.bases.items()
        ]
        files = effective_jsonnetfiles(requirers, fetcher.context)
        bundled = [
            BundledComponent(one.name, one.folder, file or JsonnetFile())
            for one, file in zip(requirers, files, strict=True)
        ]
        sources = sources or stack.enter_context(library_sources(fetcher, policy))
        try:
            bundle(fetcher.workspace, bundled, sources=sources)
        except CommodoreError as error:
            if fetcher.local and error.exit_code == EnvironmentFault.exit_code:
                raise error.hinting("with -F (--no-fetch-dependencies) `vendor` is taken as it is") from error
            raise


@contextlib.contextmanager
def library_sources(fetcher: Fetcher, policy: TrustPolicy | None) -> Iterator[LibrarySources]:
    """Where this run's Jsonnet libraries come from: the cache, and what it lacks from the remotes.

    A run without the cache fetches all of them anew, into a folder that goes at the end, if it may fetch at all. If it
    may not, `vendor` is all that is there when the runs before it had no cache either.

    Args:
        policy: which hosts they may come from; None for the one in the global repository, or the default.
    """
    store, policy = fetcher.store, effective_policy(fetcher.workspace, policy)
    if fetcher.cached or store.context.offline:
        yield LibrarySources(store, usable(library_cache()), policy=policy)
        return
    with fetcher.workspace.staging("libraries") as folder:
        yield LibrarySources(store, folder, reuse=False, policy=policy)


class StandaloneBundler:
    """Bundles for one component that is compiled alone, once or many times with different parameters. Nothing is
    written to its folder.

    Parameters that lead to the same requirements share one `vendor/`, and every remote is asked once.

    Args:
        repositories: a folder for bare clones.
        component, directory: its name and folder.
        root: where its `jsonnetfile.jsonnet` lies; without one, a `jsonnetfile.json` in `directory` counts too.
        policy: which hosts libraries may come from; None for the default.
    """

    def __init__(
        self,
        repositories: Path,
        component: str,
        root: Path,
        directory: Path,
        context: Context,
        policy: TrustPolicy | None,
    ) -> None:
        self._component = component
        self._folders = list(dict.fromkeys((root, directory)))
        self._context = context
        store = RepositoryStore(repositories, context)
        self._sources = LibrarySources(store, usable(library_cache()), policy=policy)
        self._files: dict[str, tuple[Path, JsonnetFile] | None] = {}
        self._vendors: dict[tuple[Path, JsonnetFile], Path] = {}

    def fill(self, vendor: Path, parameters: Mapping[str, Any]) -> None:
        """Make `vendor` hold what the component requires with these parameters; without requirements, nothing.

        Raises:
            CommodoreError: see `bundle_libraries`.
        """
        required = self._required(parameters)
        if required is None:
            return
        if required in self._vendors:
            link_relative(vendor, self._vendors[required])
            return
        folder, file = required
        bundle_component(folder, file, vendor=vendor, sources=self._sources)
        self._vendors[required] = vendor

    def _required(self, parameters: Mapping[str, Any]) -> tuple[Path, JsonnetFile] | None:
        variables = _variables(parameters, self._component)
        key = json.dumps(variables, sort_keys=True, default=str)
        if key not in self._files:
            requirers = [Requirer(self._component, folder, variables) for folder in self._folders]
            files = effective_jsonnetfiles(requirers, self._context)
            found = zip(self._folders, files, strict=True)
            self._files[key] = next(((folder, file) for folder, file in found if file is not None), None)
        return self._files[key]


def _variables(parameters: Mapping[str, Any], component: str) -> Mapping[str, object]:
    own = parameters.get(parameter_key(component))
    variables = own.get("jsonnetfile_parameters") if isinstance(own, Mapping) else None
    if variables is None:
        return {}
    if not isinstance(variables, Mapping):
        raise InputError(
            "CMD-DEP-051",
            f"parameters.{parameter_key(component)}.jsonnetfile_parameters must be a map of strings",
            hint="write for example: jsonnetfile_parameters: {library_version: 'v1.0.0'}",
            locations=[Setting.of(parameter_key(component), "jsonnetfile_parameters")],
        )
    return variables
