"""Shell completion of values. It never logs in, waits long, or prints messages."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, split_arg_string

from commodore.base.context import Context
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.names import BOOTSTRAP_TARGET

VARIABLE = "_COMMODORE_COMPLETE"
"""Set by the scripts of the shells; the program completes then, and does nothing else."""

_WORD = re.compile(r"\w[\w./-]*")

Find = Callable[[click.Context, str], Iterable[str | CompletionItem]]
Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def is_completing() -> bool:
    """Return True if the shell requests completions."""
    return bool(os.environ.get(VARIABLE))


def quick(find: Find, *, patience: float = DEFAULT_LIMITS.completion_timeout) -> Complete:
    """Lets the shell wait for `patience` seconds at most, and offers nothing if something is wrong.

    Args:
        find: gives what could be meant. It runs in a thread that is left alone when it takes too long: looking up the
            name of a server, for one, cannot be interrupted.
    """

    @functools.wraps(find)
    def complete(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        results: list[CompletionItem] = []

        def run() -> None:
            with contextlib.suppress(Exception):
                items = [CompletionItem(item) if isinstance(item, str) else item for item in find(ctx, incomplete)]
                results.extend(items)

        thread = threading.Thread(target=run, name="completion", daemon=True)
        thread.start()
        thread.join(patience)
        return results[:]

    return complete


def _beginning(names: Iterable[Any], incomplete: str) -> list[str]:
    """Return the names with the typed prefix, without names that the shell would have to quote."""
    results = {name for name in names if isinstance(name, str) and _WORD.fullmatch(name)}
    return sorted(name for name in results if name.startswith(incomplete))


@quick
def complete_clusters(ctx: click.Context, incomplete: str) -> list[str]:
    """The ids of clusters: of the cluster file, else of the API if a token is at hand."""
    return _beginning((cluster.get("id") for cluster in _clusters(ctx.params)), incomplete)


@quick
def complete_tenants(ctx: click.Context, incomplete: str) -> list[str]:
    """The ids of tenants that have clusters."""
    return _beginning((cluster.get("tenant") for cluster in _clusters(ctx.params)), incomplete)


@quick
def complete_instances(ctx: click.Context, incomplete: str) -> list[str]:
    """Return the names of the last compile in the working directory: the instances, and `cluster`."""
    return _beginning(_targets(ctx), incomplete)


@quick
def complete_aliases(ctx: click.Context, incomplete: str) -> list[str]:
    """Names that an instance of a component has in the cluster that was last compiled in the working directory."""
    return _beginning((name for name in _targets(ctx) if name != BOOTSTRAP_TARGET), incomplete)


@quick
def complete_components(ctx: click.Context, incomplete: str) -> list[str]:
    """The components, and their instances, that are checked out in the working directory."""
    folders = [entry.name for entry in (_working_dir(ctx) / "dependencies").iterdir() if entry.is_dir()]
    components = [name for name in folders if not name.startswith((".", "pkg.")) and name not in _LIBRARIES]
    return _beginning(components, incomplete)


@quick
def complete_manifests(ctx: click.Context, incomplete: str) -> list[str]:
    """The manifests of the catalog in the working directory."""
    from commodore.base.files.tree import files

    catalog = _working_dir(ctx) / "catalog"
    return _beginning((f"manifests/{name}" for name, _ in files(catalog / "manifests")), incomplete)


@quick
def complete_cases(ctx: click.Context, incomplete: str) -> list[str]:
    """The test cases of the component or package in PATH."""
    return _beginning((file.stem for file in _class_files(ctx)), incomplete)


@quick
def complete_test_classes(ctx: click.Context, incomplete: str) -> list[str]:
    """The class files of the package in PATH that can be compiled, relative to it."""
    return _beginning((f"tests/{file.name}" for file in _class_files(ctx)), incomplete)


@quick
def complete_error_codes(_ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """The error codes with their titles; `dep` stands for `CMD-DEP`."""
    from commodore.cli.shell.error_pages import read_error_rooms

    typed = incomplete.upper()
    requested = typed if "CMD-".startswith(typed[:4]) else f"CMD-{typed}"
    pages = (page for room in read_error_rooms() for page in room.pages)
    return [
        CompletionItem(page.code, help=page.title.replace("`", "")) for page in pages if page.code.startswith(requested)
    ]


_LIBRARIES = ("lib", "libs")  # folders below `dependencies` that are no components


def _path(ctx: click.Context) -> Path:
    """The argument PATH. Click loses it at an option whose value is just being typed, as in `test PATH --case `."""
    path: Path | None = ctx.params.get("path")
    if path is not None:
        return path
    assert ctx.parent is not None
    words = split_arg_string(os.environ["COMP_WORDS"])
    command = next(
        place for place in range(len(words)) if words[place - 1 : place + 1] == [ctx.parent.info_name, ctx.info_name]
    )
    arguments = words[command + 1 :]
    if arguments[-1].startswith("-"):
        del arguments[-1]
    again = ctx.command.make_context(ctx.info_name, arguments, parent=ctx.parent, resilient_parsing=True)
    path = again.params["path"]
    assert path is not None
    return path


def _targets(ctx: click.Context) -> list[str]:
    from commodore.base.files.workspace import Workspace
    from commodore.core.inventory.compiled import compiled_targets

    return compiled_targets(Workspace.at(_working_dir(ctx)))


def _working_dir(ctx: click.Context) -> Path:
    folder: Path = ctx.find_root().params["working_dir"]
    return folder


def _class_files(ctx: click.Context) -> list[Path]:
    files = (_path(ctx).expanduser() / "tests").iterdir()
    return [file for file in files if file.suffix in (".yml", ".yaml") and not file.name.startswith(".")]


def _clusters(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    from commodore.base.events import ignore
    from commodore.core.lieutenant import LieutenantClient, list_cluster_file, resolve_token
    from commodore.core.results.caches import token_cache

    if given.get("cluster_file") is not None:
        return list_cluster_file(given["cluster_file"], Context(ignore, DEFAULT_LIMITS))
    url = given.get("api_url")
    token = resolve_token(given.get("api_token"), url, token_cache(), Context(ignore, DEFAULT_LIMITS)) if url else None
    if token is None:
        return []
    limits = replace(DEFAULT_LIMITS, request_attempts=1, response_seconds=DEFAULT_LIMITS.completion_timeout)
    with LieutenantClient(url, lambda: token, Context(ignore, limits), timeout=limits.completion_timeout) as client:
        return client.clusters()
