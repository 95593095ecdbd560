"""`commodore inventory`: look at the hierarchy."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.errors import UsageError
from commodore.base.printable import counted
from commodore.cli.inventory.parameter_completion import complete_parameters
from commodore.cli.inventory.settings import INVENTORY_LIST, INVENTORY_SHOW
from commodore.cli.shell.completion import complete_instances
from commodore.cli.shell.console import Console, console_of, working_dir
from commodore.cli.shell.lazy import LazyCommand, LazyGroup
from commodore.cli.shell.options import options
from commodore.cli.shell.parameters import show_differences, show_parameters

if TYPE_CHECKING:
    from commodore.core.inventory import ParameterDifference, ParameterPath, Preview


@click.group(
    cls=LazyGroup,
    lazy={
        "components": LazyCommand(
            "commodore.cli.inventory.commands:inventory_components", "Show the components that the hierarchy knows."
        ),
        "explain": LazyCommand(
            "commodore.cli.inventory.explain:explain", "Show where the value of a parameter comes from."
        ),
        "lint": LazyCommand("commodore.cli.inventory.lint:lint", "Look for mistakes in class files."),
        "packages": LazyCommand(
            "commodore.cli.inventory.commands:inventory_packages", "Show the packages that the hierarchy knows."
        ),
        "show": LazyCommand("commodore.cli.inventory.commands:inventory_show", "Show the parameters of the hierarchy."),
    },
)
@options()
def inventory() -> None:
    """Inspect the hierarchy, without compiling anything.

    GLOBAL_CONFIG and TENANT_CONFIG are local folders.
    """


def hierarchy_folders(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command with the arguments GLOBAL_CONFIG and TENANT_CONFIG, folders that need not be named; see
    `open_inventory`.
    """
    folder = click.Path(exists=True, file_okay=False, path_type=Path)
    function = click.argument("tenant_config", cls=_Argument, type=folder, required=False)(function)
    return click.argument("global_config", type=folder, required=False)(function)


class _Argument(click.Argument):
    """An argument that treats an empty text as absent, as scripts pass on unset variables."""

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        return super().type_cast_value(ctx, None if value == "" else value)


@click.command("components")
@hierarchy_folders
@options(*INVENTORY_LIST)
@click.pass_context
def inventory_components(ctx: click.Context, /, **values: Any) -> None:
    """Show the URLs and versions of components that the hierarchy sets.

    The hierarchy is that of the folders GLOBAL_CONFIG and TENANT_CONFIG for a fake cluster; without them, that of
    the cluster that was last compiled in the working directory.
    """
    _show_section(ctx, "components", values)


@click.command("packages")
@hierarchy_folders
@options(*INVENTORY_LIST)
@click.pass_context
def inventory_packages(ctx: click.Context, /, **values: Any) -> None:
    """Show the URLs and versions of packages that the hierarchy sets.

    The hierarchy is that of the folders GLOBAL_CONFIG and TENANT_CONFIG for a fake cluster; without them, that of
    the cluster that was last compiled in the working directory.
    """
    _show_section(ctx, "packages", values)


@click.command("show")
@hierarchy_folders
@options(*INVENTORY_SHOW, complete={"instance": complete_instances, "path": complete_parameters})
@click.pass_context
def inventory_show(ctx: click.Context, /, **values: Any) -> None:
    """Show the parameters of the hierarchy, or how they differ between two clusters.

    The hierarchy is that of the folders GLOBAL_CONFIG and TENANT_CONFIG for a fake cluster, whose facts and ids
    values files may set; without them, that of the cluster that was last compiled in the working directory.
    """
    from commodore.core.inventory import look_up, parse_path

    console = console_of(ctx)
    path = () if values["path"] is None else parse_path(values["path"])
    left = _parameters(ctx, values, console)
    if not (values["diff_values"] or values["diff_dir"]):
        value = look_up(left, path) if path else left
        show_parameters(value, values["output_format"] or "yaml", console, whole=not path)
        return
    differences = _differences(ctx, values, left, path, console)
    show_differences(differences, _names(values, ctx), values["output_format"] or "text", console)
    console.status(_summary(Counter(difference.change for difference in differences)))


def _show_section(ctx: click.Context, section: str, values: Mapping[str, Any]) -> None:
    console = console_of(ctx)
    parameter = _parameters(ctx, values, console).get(section, {})
    show_parameters(parameter, values["output_format"], console, whole=True)


def _parameters(ctx: click.Context, values: Mapping[str, Any], console: Console) -> Mapping[Any, Any]:
    with open_inventory(ctx, values, console) as preview:
        return _rendered(preview, values, console)


def _differences(
    ctx: click.Context, values: Mapping[str, Any], left: Mapping[Any, Any], path: ParameterPath, console: Console
) -> list[ParameterDifference]:
    """Compare the cluster of other values files, or of another working directory, with the first one."""
    from commodore.base.files.workspace import Workspace
    from commodore.core.inventory import compare_parameters, compiled_preview, relative_to_root

    if values["diff_dir"] is None:
        return compare_parameters(left, _parameters(ctx, {**values, "values": values["diff_values"]}, console), path)
    here, there = Workspace.at(working_dir(ctx)), Workspace.at(values["diff_dir"])
    right = _rendered(compiled_preview(there, values["instance"]), values, console)
    return compare_parameters(relative_to_root(left, here), relative_to_root(right, there), path)


def _rendered(preview: Preview, values: Mapping[str, Any], console: Console) -> Mapping[Any, Any]:
    allowed = values["allow_missing_classes"]
    return preview.render(console.context, ignore_missing_classes=allowed).parameters


@contextlib.contextmanager
def open_inventory(ctx: click.Context, values: Mapping[str, Any], console: Console) -> Iterator[Preview]:
    """The inventory that a command line names: local folders, or what was compiled in the working directory.

    Args:
        values: `global_config`, `tenant_config` and `values`; also `component` and `instance` if the command has them.

    Raises:
        UsageError: CMD-CLI-040 to 042, options that make no sense together.
        CommodoreError: no such inventory, or it cannot be made.
    """
    from commodore.base.files.workspace import Workspace
    from commodore.core.inventory import PreviewSources, compiled_preview, open_preview

    _check(values)
    if values["global_config"] is None:
        yield compiled_preview(Workspace.at(working_dir(ctx)), values.get("instance"))
        return
    sources = PreviewSources(
        values["global_config"], values["tenant_config"], values["values"], values.get("component", ())
    )
    with open_preview(sources, console.context) as preview:
        yield preview


def _check(values: Mapping[str, Any]) -> None:
    if values.get("diff_values") and values.get("diff_dir"):
        raise UsageError(
            "CMD-CLI-042", "--diff-values and --diff-dir cannot be used together", hint="compare two clusters at a time"
        )
    if values["global_config"] is None:
        for name in ("values", "component", "diff_values"):
            if values.get(name):
                raise UsageError(
                    "CMD-CLI-040",
                    f"--{name.replace('_', '-')} needs GLOBAL_CONFIG",
                    hint="pass a folder with global defaults; a compiled inventory is shown as is",
                )
    elif values.get("instance") is not None and values.get("diff_dir") is None:
        raise UsageError(
            "CMD-CLI-041",
            "--instance cannot be used with GLOBAL_CONFIG",
            hint="leave GLOBAL_CONFIG out to see an instance as it was compiled",
        )


def _names(values: Mapping[str, Any], ctx: click.Context) -> tuple[str, str]:
    """Return the names of the two clusters in a diff: their last values files, or folders."""
    left = values["values"] or [values["global_config"] or working_dir(ctx)]
    return str(left[-1]), str(values["diff_dir"] or values["diff_values"][-1])


def _summary(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    if not total:
        return "No parameters differ"
    parts = ", ".join(f"{counts[change]} {change}" for change in ("added", "removed", "changed") if counts[change])
    return f"{counted(total, 'parameter')} differ{'s' if total == 1 else ''}: {parts}"
