"""Common code of the commands of `argocd`: exit codes, options and diagnostics."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InternalError, UsageError
from commodore.base.events import Event, StageFinished, StageStarted
from commodore.base.exhaustion import judge, refusal
from commodore.base.limits import DEFAULT_LIMITS
from commodore.cli.shell.console import Console, console_of
from commodore.cli.shell.lazy import LazyGroup
from commodore.cli.shell.review import noise_of

if TYPE_CHECKING:
    from commodore.argocd import Diagnostic, Options, Tree

EQUAL, DIFFERENT, FAILED = 0, 1, 2


class ArgoGroup(LazyGroup):
    """A group whose commands have the exit codes of diff: 0 equal, 1 different, 2 failed.

    A pipeline that reads 1 as "there are changes" must not read a broken chart as a change. Internal errors stay 70.
    """

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except CommodoreError as error:
            if isinstance(error, InternalError):
                raise
            console_of(ctx).error(judge(error))
            return FAILED
        except (OSError, ValueError, RecursionError) as error:
            fault = refusal(error)
            if fault is None:
                raise
            console_of(ctx).error(fault)
            return FAILED


@dataclass(frozen=True, slots=True)
class Analysis:
    """The request of a command, from the options of `SEARCH` and `COMMON`."""

    values: Mapping[str, Any]
    console: Console

    @classmethod
    def of(cls, ctx: click.Context, values: Mapping[str, Any]) -> Analysis:
        """Return the request of the options of a command."""
        return cls(values, console_of(ctx))

    @property
    def options(self) -> Options:
        """The options of the library."""
        return options_by(self.values, self.console)

    @property
    def tree(self) -> Tree:
        """The tree under analysis."""
        return tree_by(self.values)

    def working(self) -> AbstractContextManager[None]:
        """Show progress on a terminal; elsewhere nothing."""
        return self.console.working(keep=False)

    def finish(self, diagnostics: Sequence[Diagnostic], exclude: Collection[Diagnostic] = ()) -> int:
        """Show diagnostics by `--diagnostics`, and return the exit code.

        Args:
            exclude: diagnostics that the result contains already.
        """
        return show_diagnostics(diagnostics, self.values["diagnostics"], self.console, exclude)


def context_of(console: Console, *, offline: bool = False) -> Context:
    """Return the context of an analysis. Its stages are announced only on a terminal."""

    def announce(event: Event) -> None:
        if console.is_watched or not isinstance(event, StageStarted | StageFinished):
            console.announce(event)

    return Context(announce, DEFAULT_LIMITS, offline)


def options_by(values: Mapping[str, Any], console: Console) -> Options:
    """Return the library's options from those of a command; others have the library's defaults.

    Raises:
        CommodoreError: the description of the installation cannot be read.
    """
    from commodore.argocd import Installation, Options, read_installation

    context = context_of(console, offline=values["offline"])
    given = {name: values[name] for name in Options.names() & values.keys() if values[name] is not None}
    file = given.pop("installation", None)
    installation = read_installation(file, context.limits) if file is not None else Installation()
    objects = (*installation.objects, *values["argocd_settings"])
    if "no_cache" in values:
        given["reuse"] = not values["no_cache"]
    if "noise" in given:
        given["noise"] = noise_of(values)
    return Options(context=context, installation=replace(installation, objects=objects)).having(**given)


def tree_by(values: Mapping[str, Any]) -> Tree:
    """Return the tree that `--path`, or `--repo` and `--ref` name.

    Raises:
        UsageError: CMD-ARGO-032, a repository is named without a revision.
    """
    from commodore.argocd import Tree

    if values.get("repo") is not None and not values["ref"]:
        raise _without_revision("--repo", "--ref")
    return Tree(values.get("repo") or values["path"] or Path(), values.get("ref") or "")


def _without_revision(repository: str, revision: str) -> UsageError:
    return UsageError(
        "CMD-ARGO-032", f"{repository} names a repository, but no revision of it", hint=f"name one by {revision}"
    )


def compared_by(values: Mapping[str, Any]) -> tuple[Tree | None, Tree]:
    """Return the two trees that the options of `SIDES` and `SEARCH` name; see `compared`."""
    from commodore.argocd import compared

    if values["base_repo"] is not None and not values["base"]:
        raise _without_revision("--base-repo", "--base")
    return compared(tree_by(values), values["base"] or "", values["base_path"], values["base_repo"])


def show_diagnostics(
    diagnostics: Sequence[Diagnostic], level: str, console: Console, exclude: Collection[Diagnostic] = ()
) -> int:
    """Show diagnostics, see `Console.diagnostics`, and return the exit code.

    Args:
        exclude: diagnostics that the result contains, which are not shown again.
    """
    console.diagnostics(
        [diagnostic for diagnostic in diagnostics if replace(diagnostic, count=1) not in exclude], level
    )
    return FAILED if any(diagnostic.severity == "error" for diagnostic in diagnostics) else EQUAL


def write_file(file: Path, text: str) -> None:
    """Write the file of an option.

    Raises:
        EnvironmentFault: CMD-WORK-003, the operating system refused.
    """
    from commodore.base.files.workspace import guard_disk

    with guard_disk(file):
        file.write_text(text, encoding="utf-8")
