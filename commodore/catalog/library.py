"""The Python interface: a compile in one call. `commodore` exports it (docs/how-to/use-from-python.md)."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from commodore.base.context import Context
from commodore.base.events import ignore
from commodore.base.files.workspace import Workspace
from commodore.base.limits import Limits
from commodore.catalog import CatalogChange
from commodore.catalog.pipeline import CatalogCompile, CatalogResult, run_compile
from commodore.core.engine import Engine
from commodore.core.lieutenant import ClusterSource


def accept(change: CatalogChange) -> bool:
    """Review that accepts every change."""
    del change
    return True


def compile_catalog(
    cluster: str,
    source: ClusterSource,
    directory: str | PathLike[str],
    *,
    push: bool = False,
    review: Callable[[CatalogChange], bool] = accept,
    context: Context | None = None,
) -> CatalogResult:
    """Compile the catalog of a cluster into `directory/catalog`.

    Args:
        cluster: its id.
        source: the source of the cluster: a `LieutenantApi` or a `ClusterFile`.
        directory: the working directory; created if it is missing, locked while the compile runs.
        push: commit and push the catalog and report that, unless `review` returns False.
        review: called with the change before anything is pushed.
        context: receives events; has limits and the network mode. By default events are ignored.

    Returns:
        the change, the versions of all sources, and notices for the user.

    Raises:
        CommodoreError: any failure, with code, hint and places. The files in the directory are kept.
    """
    request = CatalogCompile(cluster, Workspace.at(Path(directory)), push=push)
    return compile_request(request, source, review=review, context=context)


def compile_request(
    request: CatalogCompile,
    source: ClusterSource,
    *,
    review: Callable[[CatalogChange], bool] = accept,
    context: Context | None = None,
    engine: Engine | None = None,
) -> CatalogResult:
    """Compile like `compile_catalog`, with all options of the command line.

    Args:
        engine: rendering workers to reuse for several compiles; its creator closes it.
    """
    return run_compile(request, source, review, context or Context(ignore, Limits()), engine)


__all__ = ["compile_catalog", "compile_request"]
