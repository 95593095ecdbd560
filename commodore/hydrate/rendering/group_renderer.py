"""Rendering of the Applications of a dry commit with `commodore argocd`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from commodore.argocd import (
    ArgoSettings,
    Rendered,
    Renderer,
    Trace,
    expand_lists,
    in_namespace,
    read_application,
)
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostics
from commodore.base.errors import CommodoreError, InputError, PolicyError, raise_all
from commodore.base.events import Noted, Warned
from commodore.base.kubernetes import key_of
from commodore.base.programs.threads import threads
from commodore.base.programs.workers import usable_cpus
from commodore.hydrate.branches import layout
from commodore.hydrate.model import NO_PINS, Catalog, DryCommit, Group, Hydration, PathOutput, Pins
from commodore.hydrate.reading.catalogs import Catalogs
from commodore.hydrate.reading.job import Rules
from commodore.hydrate.rendering.secrets import find_private_keys, find_secrets
from commodore.version import __version__

_PROPOSED = ".argocd-hydrator.yaml"
"""A file for further sources, proposed by Argo CD but never implemented."""


@dataclass(frozen=True, slots=True)
class GroupRenderer:
    """Render groups of one installation."""

    settings: ArgoSettings
    renderer: Renderer
    rules: Rules
    context: Context
    diagnostics: Diagnostics
    catalogs: Catalogs | None = None

    def render(
        self,
        group: Group,
        applications: Mapping[str, Mapping[str, Any]],
        commit: DryCommit,
        pins: Mapping[str, Pins] = MappingProxyType({}),
    ) -> tuple[PathOutput, ...]:
        """Render the content of the output paths of a group.

        Args:
            applications: the Applications of the group's members, by output path.
            pins: additional commits of catalogs and of Applications with additional sources, by output path.

        Raises:
            CommodoreError: rendering failed; CMD-HYD-040, secrets in objects; CMD-HYD-028, too many objects.
        """
        root = layout.root_data(group.first.dry_url, commit)
        outputs: list[PathOutput] = []
        errors: list[CommodoreError] = []
        with threads(self.rules.jobs or usable_cpus(), self.context, "render") as (pool, _):
            rendering = [
                pool.submit(self._compile, item.catalog, commit.sha, pins[item.path])
                if item.catalog is not None
                else pool.submit(self._render, item, applications[item.path], pins.get(item.path, NO_PINS))
                for item in group.members
            ]
        for member, future in zip(group.members, rendering, strict=True):
            try:
                output = self._output(member, *future.result(), pins.get(member.path, NO_PINS))
                readme = self.rules.texts.readme_of(output, {**root, **output.metadata}, commit)
                outputs.append(PathOutput(output.path, output.objects, readme, output.metadata))
            except CommodoreError as error:
                errors.append(error.about(f"Application {member.name}"))
        raise_all(errors)
        self._check_number(group, sum(len(item.objects) for item in outputs))
        return tuple(outputs)

    def _check_number(self, group: Group, objects: int) -> None:
        most = self.context.limits.hydrate_objects
        if objects > most:
            raise InputError(
                "CMD-HYD-028",
                f"{objects} objects are rendered for the branch {group.branch}, which is more than {most}",
                hint="hydrate fewer Applications to one branch",
            )

    def _compile(self, catalog: Catalog, tenant_sha: str, pins: Pins) -> tuple[list[Rendered], list[str]]:
        """Return the objects of a catalog, and the command that reproduces them."""
        assert self.catalogs is not None, "catalogs are read where they can be compiled"
        global_sha = pins.reference.sha if pins.reference is not None else ""
        objects = self.catalogs.objects(catalog.cluster, tenant_sha, global_sha, self.context)
        options = f"--global-repo-revision-override {global_sha} --tenant-repo-revision-override {tenant_sha}"
        return [Rendered(item) for item in objects], [f"commodore catalog compile {catalog.cluster} {options}"]

    def _render(self, member: Hydration, data: Mapping[str, Any], pins: Pins) -> tuple[Sequence[Rendered], list[str]]:
        """Return the objects of an Application, and the commands that reproduce them."""
        trace = Trace()
        application = _with_sources(data, member, pins) if member.additional else data
        rendered = self.renderer.render(read_application(application, member.place, dry=True), trace)
        root = self.renderer.repositories.tree(member.dry_url, member.dry_revision).root
        if (root / member.dry_path / _PROPOSED).is_file():
            path = f"{member.dry_path}/{_PROPOSED}"
            self.context.announce(Noted(f"Application {member.name}: {path} is not read; there is one dry source."))
        return rendered, trace.commands

    def _output(self, member: Hydration, rendered: Sequence[Rendered], commands: list[str], pins: Pins) -> PathOutput:
        objects = [item.data for item in expand_lists(rendered, member.name, self.diagnostics)]
        if self.rules.set_namespace:
            objects = in_namespace(objects, member.target_namespace)
        self._check_secrets(objects)
        self._check_identities(objects)
        used = {command.split(" ", 1)[0] for command in commands}
        known = {**self.rules.tools, "commodore": __version__}
        tools = {name: version for name, version in known.items() if name in used}
        # Commands run in the dry repository, which does not contain the other sources.
        data = layout.path_data(member, [] if member.additional else commands, tools, pins)
        return PathOutput(member.path, layout.ordered(objects, self.rules.order), "", data)

    def _check_secrets(self, objects: Sequence[Mapping[str, Any]]) -> None:
        if self.rules.secrets != "allow":
            secrets = find_secrets(objects, self.rules.allowed)
            names = "; ".join(f"{secret.name} ({', '.join(secret.keys)})" for secret in secrets)
            if secrets and self.rules.secrets == "refuse":
                raise PolicyError(
                    "CMD-HYD-040",
                    f"secret values would be committed: {names}",
                    hint="keep them in a store and commit references, or name the Secrets by --allow-secret"
                    " NAMESPACE/NAME",
                )
            if secrets:
                self._warn("CMD-HYD-042", f"secret values are committed: {names}", "keep them in a store")
        for key in find_private_keys(objects):
            message = f"{key.name} holds a private key in {', '.join(key.keys)}"
            self._warn("CMD-HYD-041", message, "keep it in a store, and commit a reference")

    def _check_identities(self, objects: Sequence[Mapping[str, Any]]) -> None:
        seen = set[str]()
        for item in objects:
            name = str(key_of(item))
            if name in seen and key_of(item).name:
                self._warn("CMD-HYD-023", f"{name} is rendered several times", "keep one of them; all are written")
            seen.add(name)

    def _warn(self, code: str, message: str, hint: str) -> None:
        self.context.announce(Warned(code, message, hint=hint))


def _with_sources(data: Mapping[str, Any], member: Hydration, pins: Pins) -> dict[str, Any]:
    """Return an Application with its dry and additional sources, each at its commit."""
    spec = {key: value for key, value in data["spec"].items() if key != "sourceHydrator"}
    sources = [dict(data["spec"]["sourceHydrator"]["drySource"])]
    for entry, sha in zip(member.additional, pins.additional, strict=True):
        sources.append({**entry.data, **({} if entry.is_chart else {"targetRevision": sha})})
    return {**data, "spec": {**spec, "sources": sources}}


def check_equal(first: Sequence[PathOutput], second: Sequence[PathOutput]) -> None:
    """Check that rendering twice gives the same objects.

    Raises:
        InputError: CMD-HYD-045, the objects differ.
    """
    errors: list[CommodoreError] = []
    for value, other in zip(first, second, strict=True):
        mine, others = (_by_name(output.objects) for output in (value, other))
        names = sorted(name for name in mine.keys() | others.keys() if mine.get(name) != others.get(name))
        if names:
            errors.append(
                InputError(
                    "CMD-HYD-045",
                    f"rendering {value.path} is not reproducible: {', '.join(names)}",
                    hint="remove random functions and times from the templates, and pin the charts",
                )
            )
    raise_all(errors)


def _by_name(objects: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    results: dict[str, list[Mapping[str, Any]]] = {}
    for item in objects:
        results.setdefault(str(key_of(item)), []).append(item)
    return results
