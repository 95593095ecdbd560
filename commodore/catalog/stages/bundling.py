"""Install Jsonnet libraries into `vendor/`."""

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
    """Fill `vendor/` with links to all components, their libraries, and the requirements of their jsonnetfiles.

    Args:
        sources: sources to share between several calls, so that each remote is requested once.
        policy: the hosts that libraries may come from, unless `sources` are given; see `CompileOptions`.

    Raises:
        CommodoreError: invalid jsonnetfiles or variables, versions that do not exist, failures of git.
    """
    parameters = inventory.nodes[BOOTSTRAP_TARGET].parameters
    with stage(fetcher.context.announce, "bundling jsonnet libraries"), contextlib.ExitStack() as stack:
        requirers = [
            Requirer(name, base.checkout.path, _variables(parameters, name)) for name, base in components.bases.items()
        ]
        files = effective_jsonnetfiles(requirers, fetcher.context)
        bundled = [
            BundledComponent(requirer.name, requirer.folder, file or JsonnetFile())
            for requirer, file in zip(requirers, files, strict=True)
        ]
        sources = sources or stack.enter_context(library_sources(fetcher, policy))
        try:
            bundle(fetcher.workspace, bundled, sources=sources)
        except CommodoreError as error:
            if fetcher.local and error.exit_code == EnvironmentFault.exit_code:
                raise error.hinting("with -F (--no-fetch-dependencies) `vendor` is used unchanged") from error
            raise


@contextlib.contextmanager
def library_sources(fetcher: Fetcher, policy: TrustPolicy | None) -> Iterator[LibrarySources]:
    """Open the sources of this run's Jsonnet libraries: the cache, and the remotes for missing ones.

    A run without the cache fetches all of them again, into a temporary folder, if it may fetch at all. If it may not,
    only `vendor` is left if earlier runs had no cache either.

    Args:
        policy: the policy of hosts; None for the one in the global repository, or the default.
    """
    store, policy = fetcher.store, effective_policy(fetcher.workspace, policy)
    if fetcher.cached or store.context.offline:
        yield LibrarySources(store, usable(library_cache()), policy=policy)
        return
    with fetcher.workspace.staging("libraries") as folder:
        yield LibrarySources(store, folder, reuse=False, policy=policy)


class StandaloneBundler:
    """Bundles libraries for a component that is compiled alone, once or many times with different parameters. Nothing
    is written to its folder.

    Parameters that lead to the same requirements share one `vendor/`, and every remote is requested once.

    Args:
        repositories: a folder for bare clones.
        component, directory: its name and folder.
        root: the folder of its `jsonnetfile.jsonnet`; without one, a `jsonnetfile.json` in `directory` is used, too.
        policy: the policy of hosts; None for the default.
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
        """Fill `vendor` with the component's requirements for these parameters; without requirements, do nothing.

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
            pairs = zip(self._folders, files, strict=True)
            self._files[key] = next(((folder, file) for folder, file in pairs if file is not None), None)
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
