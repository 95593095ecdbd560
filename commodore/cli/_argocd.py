"""What the commands of `argocd` share: their exit codes, and how they show diagnostics."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from commodore.cli._lazy import LazyGroup
from commodore.cli.console import Console, console_of
from commodore.context import Context
from commodore.errors import CommodoreError, InternalError
from commodore.events import stage
from commodore.exhaustion import judge, refusal
from commodore.limits import DEFAULT_LIMITS
from commodore.printable import printable_lines

if TYPE_CHECKING:
    from commodore.argocd import Diagnostic, Diagnostics
    from commodore.argocd.acquiring import RepoMap
    from commodore.argocd.comparing import Sought
    from commodore.argocd.discovery import Kinds, Narrowing
    from commodore.argocd.model.application import Application
    from commodore.argocd.model.plugins import PluginRule
    from commodore.argocd.rendering import Capabilities
    from commodore.argocd.running import Listing, Named, Run

EQUAL, DIFFERENT, FAILED = 0, 1, 2
_COLOURS = {"error": "red", "warning": "yellow", "boundary": "cyan", "info": "white"}


class ArgoGroup(LazyGroup):
    """The commands of `argocd` have exit codes of their own, those of diff: 0 equal, 1 different, 2 trouble.

    A pipeline that reads 1 as "there are changes" must not read a broken chart as a change. Bugs stay 70.
    """

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except CommodoreError as error:
            if isinstance(error, InternalError):
                raise
            console_of(ctx).error(judge(error))
            return FAILED
        except OSError as error:
            fault = refusal(error)
            if fault is None:
                raise
            console_of(ctx).error(fault)
            return FAILED


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the commands that look for Applications work with, from the options of `SEARCH` and `COMMON`."""

    values: Mapping[str, Any]
    console: Console
    context: Context
    found: Diagnostics
    repo_map: RepoMap
    capabilities: Capabilities

    @classmethod
    def of(cls, ctx: click.Context, values: Mapping[str, Any]) -> Analysis:
        """The analysis that options ask for."""
        from commodore.argocd.acquiring import RepoMap, parse_repo_map
        from commodore.argocd.diagnostics import Diagnostics
        from commodore.argocd.rendering import Capabilities

        console = console_of(ctx)
        context = context_of(console, offline=values["offline"], reuse=not values["no_reuse"])
        capabilities = Capabilities(values["kube_version"] or "", values["api_version"])
        repo_map = RepoMap(parse_repo_map(values["repo_map"]))
        return cls(values, console, context, Diagnostics(), repo_map, capabilities)

    def listing(self) -> Listing:
        """The Applications with the settings that count."""
        from commodore.argocd.running import list_applications

        named = named_by(self.values, self.context)
        with self.working("looking for Applications"):
            return list_applications(named, self.context, self.found, self.repo_map, self.capabilities)

    @contextlib.contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Show a person at a terminal what goes on; elsewhere nothing."""
        with contextlib.ExitStack() as shown:
            shown.enter_context(self.console.working(keep=False))
            if self.console.is_watched:
                shown.enter_context(stage(self.console.announce, what))
            yield

    def narrowing(self) -> Narrowing:
        """Which Applications count."""
        from commodore.argocd.discovery import Narrowing, parse_selector

        values = self.values
        labels = parse_selector(values["selector"] or "")
        return Narrowing(
            values["project"] or "", labels, values["cluster"] or "", values["destination_namespace"] or ""
        )

    def selected(self, listing: Listing, apps: Sequence[str]) -> list[Application]:
        """The Applications of a listing that are wanted."""
        from commodore.argocd.discovery import select

        settings = listing.settings
        return select(
            listing.applications,
            apps,
            controller=settings.namespace,
            narrowing=self.narrowing(),
            clusters=settings.clusters,
        )

    @contextlib.contextmanager
    def open_run(self, listing: Listing) -> Iterator[Run]:
        """What renders the Applications of a listing."""
        from commodore.argocd.running import open_run

        opened = open_run(listing.settings, self.repo_map, self.capabilities, self.context, self.found, listing.own)
        with self.working("rendering"), opened as run:
            yield run

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was found so far, for documents."""
        return self.found.found(strict=self.values["strict"])

    def finish(self, but: Collection[Diagnostic] = ()) -> int:
        """Show the diagnostics that are wanted. Returns the exit code they make.

        Args:
            but: those that the result has.
        """
        return show_diagnostics(self.found, self.values, self.console, but)


def context_of(console: Console, *, offline: bool = False, reuse: bool = True) -> Context:
    """The surroundings of an analysis."""
    limits = DEFAULT_LIMITS if reuse else replace(DEFAULT_LIMITS, result_bytes=0)
    return Context(console.announce, limits, offline)


def named_by(values: Mapping[str, Any], context: Context) -> Named:
    """What the options of `SEARCH`, and perhaps `--app`, say of where to look for Applications."""
    from commodore.argocd.acquiring import own_urls
    from commodore.argocd.appsets import read_facts
    from commodore.argocd.running import Named

    return Named(
        folder=values["path"],
        files=values.get("app", ()),
        settings=values["argocd_settings"],
        values=values.get("argocd_values", ()),
        self_urls=(*values["self_url"], *own_urls(values["repo_map"])),
        entries=values["entry"],
        depth=values["max_depth"] if values["discovery"] == "full" else 0,
        facts=read_facts(values["facts"], context.limits),
        jobs=values["jobs"],
        plugins=_plugins(values, context),
        version=values.get("argocd_version") or "",
    )


def kinds_by(values: Mapping[str, Any]) -> Kinds:
    """Which kinds of objects `KIND` and `SKIPPED` want."""
    from commodore.argocd.discovery import Kinds

    flags = (("skip_crds", "CustomResourceDefinition"), ("skip_secrets", "Secret"))
    left_out = (*values["skip_kind"], *(kind for name, kind in flags if values[name]))
    return Kinds(values["kind"], left_out)


def _plugins(values: Mapping[str, Any], context: Context) -> tuple[PluginRule, ...]:
    from commodore.argocd.configuration import read_policy
    from commodore.argocd.rendering.plugins import AVP

    policy = values.get("plugin_policy")
    given = read_policy(policy, context.limits) if policy is not None else ()
    return (*given, *(AVP if values.get("avp") else ()))


def sought_by(values: Mapping[str, Any], context: Context) -> Sought:
    """Which two trees the options of `SIDES` and `SEARCH` name."""
    from commodore.argocd.comparing import Sought

    named = named_by(values, context)
    version = values.get("base_argocd_version") or named.version
    return Sought(named, values["ref"] or "", values["base"] or "", values["base_path"], version)


def show_diagnostics(
    found: Diagnostics, values: Mapping[str, Any], console: Console, but: Collection[Diagnostic] = ()
) -> int:
    """Show the diagnostics that are wanted, on standard error; errors always. Returns the exit code they make."""
    shown = found.found(strict=values["strict"])
    left = [one for one in shown if replace(one, count=1) not in but] if but else shown
    show_wanted(left, values["diagnostics"], console)
    return FAILED if any(one.severity == "error" for one in shown) else EQUAL


def show_wanted(shown: Sequence[Diagnostic], wanted: str, console: Console) -> None:
    """Show diagnostics on standard error: `all`, the `actionable` ones, or `none`; errors always."""
    for one in shown:
        if one.severity == "error" or wanted == "all" or (wanted == "actionable" and one.actionable):
            _show(one, console)


def _show(one: Diagnostic, console: Console) -> None:
    if console.quiet and one.severity != "error":
        return
    if console.log_format == "json":
        click.echo(json.dumps({"event": "Diagnostic", **one.as_dict()}, sort_keys=True), err=True)
        return
    for line in diagnostic_lines(one):
        click.echo(line, err=True)


def diagnostic_lines(one: Diagnostic) -> Iterator[str]:
    """A diagnostic as lines for people."""
    about = one.application or one.set
    about += f", source {one.source}" if one.source is not None else ""
    times = f" ({one.count} times)" if one.count > 1 else ""
    head = click.style(one.severity, fg=_COLOURS[one.severity], bold=one.severity == "error")
    subject = f"{about}: " if about else ""
    yield f"{head}: {printable_lines(subject + one.message)}{times} [{one.code}]"
    yield from places_and_hint(one)


def places_and_hint(one: Diagnostic) -> Iterator[str]:
    """Where a diagnostic is, and what to do."""
    for place in one.locations:
        yield f"  at {printable_lines(str(place))}"
    if one.hint:
        yield f"  hint: {printable_lines(one.hint)}"


def document(command: str, found: Sequence[Diagnostic], **parts: Any) -> dict[str, Any]:
    """The JSON-ready result of a command, with what every one has."""
    diagnostics = [one.as_dict() for one in found]
    partial = any(one.severity == "error" for one in found)
    return {"schema": f"commodore.argocd/{command}/v1", **parts, "diagnostics": diagnostics, "partial": partial}
