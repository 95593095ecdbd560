"""What programs use: a compile in one call. `commodore` exports it (docs/how-to/use-from-python.md)."""

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
    """The review that lets every change pass."""
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
        source: who knows it: a `LieutenantApi` or a `ClusterFile`.
        directory: the working directory; made if it is not there, locked while the compile runs.
        push: commit and push the catalog and report that, unless `review` says no.
        review: is shown what changes before anything is pushed.
        context: who listens, limits, whether there is network access. By default nothing listens.

    Returns:
        what changed, what it was made from, and notices for the user.

    Raises:
        CommodoreError: whatever is wrong, with code, hint and places. What was in the directory is still there.
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
    """The same for a request with all that the command line can ask for.

    Args:
        engine: rendering workers that are kept for several compiles; its creator closes it.
    """
    return run_compile(request, source, review, context or Context(ignore, Limits()), engine)


__all__ = ["compile_catalog", "compile_request"]
