"""Add the places in the hierarchy's files to errors of a compile."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.files.workspace import Workspace


@contextlib.contextmanager
def settings_located(workspace: Workspace, context: Context) -> Iterator[None]:
    """Add the files and lines of the workspace's hierarchy that set the affected parameters to errors.

    Raises:
        CommodoreError: the raised error, as returned by `locate_settings`.
    """
    try:
        yield
    except CommodoreError as error:
        from commodore.core.inventory.explain import locate_settings  # only for a run that fails

        raise locate_settings(error, workspace.inventory, context) from error
