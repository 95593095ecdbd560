"""Fetch dependencies into the workspace."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, PolicyError, raise_all
from commodore.base.events import Noted, Warned
from commodore.base.files.workspace import Workspace, is_inside
from commodore.base.printable import some_of
from commodore.core.dependencies import Applications, DependencySpec, Kind
from commodore.core.sources.git import Checkout, RepositoryStore, check_out, open_checkout

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class DependencyCheckout:
    """A package, component or instance in the workspace: its specification and its checkout."""

    name: str
    spec: DependencySpec
    checkout: Checkout

    @property
    def directory(self) -> Path:
        """Return the dependency's own folder in its checkout."""
        return self.checkout.path / self.spec.path if self.spec.path else self.checkout.path


@dataclass(frozen=True, slots=True)
class Components:
    """All components and instances of a cluster.

    `bases` are the components themselves, whose libraries are published; `instances` are compiled, each with a checkout
    of its own unless it has its component's name. `parameters` are those of the bootstrap target before component
    defaults were merged. `allowed` are the codes that are lowered to warnings, by the command or by the hierarchy.
    """

    applications: Applications
    bases: Mapping[str, DependencyCheckout]
    instances: Mapping[str, DependencyCheckout]
    parameters: Mapping[str, Any]
    allowed: frozenset[str] = frozenset()

    def component_of(self, instance: str) -> str:
        """Return the name of an instance's component."""
        return self.applications.instances[instance]


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Gets dependencies into the workspace: from their remotes, or (`local`) as they are there already.

    `changed` is called as soon as a change since the last run is detected. Unless `cached`, no result of an earlier run
    is used, and none is stored for a later one.
    """

    workspace: Workspace
    store: RepositoryStore
    context: Context
    force: bool = False
    local: bool = False
    changed: Callable[[], None] = lambda: None
    cached: bool = True

    def fetch(self, specs: Sequence[tuple[DependencySpec, Path]], what: Kind) -> list[DependencyCheckout]:
        """Check out dependencies (specification and folder), each repository fetched once, all in parallel.

        In local mode dependencies without a folder are skipped with a warning.

        Raises:
            CommodoreError: unknown versions, local changes, failures of git; all of them are reported.
        """
        if self.local:
            return [dependency for spec, folder in specs if (dependency := self._open(spec, folder, what))]

        def explain(urls: Collection[str], error: CommodoreError) -> CommodoreError:
            users = [spec for spec, _ in specs if spec.url in urls]
            plural = "s" if len(users) > 1 else ""
            settings = [setting for spec in users for setting in spec.settings(what, "url")]
            return error.about(f"{what}{plural} {some_of(sorted(repr(spec.name) for spec in users))}", first=settings)

        self.store.sync(((spec.url, spec.version) for spec, _ in specs), explain)
        return collect(lambda pair: self._check_out(*pair, what), specs, self.context.limits.git_threads)

    def _check_out(self, spec: DependencySpec, folder: Path, what: Kind) -> DependencyCheckout:
        repository = self.store.repository(spec.url)
        try:
            revision = repository.resolve(spec.version)
        except CommodoreError as error:
            raise error.about(f"{what} {spec.name!r}", first=spec.settings(what, "version")) from error
        try:
            checkout = check_out(repository, folder, revision, force=self.force)
            moving = " (a branch, which moves)" if revision.kind == "branch" else ""
            self.context.announce(Noted(f"{what} {spec.name}: {revision.version}{moving} is {revision.sha}", level=1))
        except CommodoreError as error:
            raise error.about(f"{what} {spec.name!r}") from error
        return _confined(DependencyCheckout(spec.name, spec, checkout), what)

    def _open(self, spec: DependencySpec, folder: Path, what: Kind) -> DependencyCheckout | None:
        if not folder.is_dir():
            self.context.announce(
                Warned(
                    "CMD-DEP-040",
                    f"{what} {spec.name!r} is not in the working directory and is left out",
                    hint="run once without --local to fetch it",
                )
            )
            return None
        return _confined(
            DependencyCheckout(
                spec.name, spec, open_checkout(folder, self.context, url=spec.url, version=spec.version or "")
            ),
            what,
        )


def _confined(dependency: DependencyCheckout, what: Kind) -> DependencyCheckout:
    directory = dependency.directory
    if not directory.is_dir():
        raise InputError(
            "CMD-DEP-041",
            f"{what} {dependency.name!r}: there is no folder {dependency.spec.path!r} in its repository "
            f"at {dependency.checkout.version}",
            hint="correct its `path`",
            locations=dependency.spec.settings(what, "path"),
        )
    if not is_inside(directory, dependency.checkout.path):
        raise PolicyError(
            "CMD-DEP-042",
            f"{what} {dependency.name!r}: {dependency.spec.path!r} is a link that leads out of its repository",
            hint="name the folder itself as `path`",
            locations=dependency.spec.settings(what, "path"),
        )
    return dependency


def collect(work: Callable[[Item], Result], items: Sequence[Item], threads: int) -> list[Result]:
    """Call `work` for all items in threads, and return the results in the items' order.

    Raises:
        CommodoreError: the errors of all items together.
    """
    if not items:
        return []
    errors: list[CommodoreError] = []
    results: list[Result] = []
    with ThreadPoolExecutor(min(threads, len(items))) as pool:
        for future in [pool.submit(work, item) for item in items]:
            try:
                results.append(future.result())
            except CommodoreError as error:
                errors.append(error)
    raise_all(errors)
    return results
