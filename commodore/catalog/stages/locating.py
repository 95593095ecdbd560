"""Errors of a compile, with the places in the hierarchy's files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.files.workspace import Workspace


@contextlib.contextmanager
def settings_located(workspace: Workspace, context: Context) -> Iterator[None]:
    """Let errors out with the files and lines of the workspace's hierarchy that set what they are about.

    Raises:
        CommodoreError: the one that was raised, as `locate_settings` makes it.
    """
    try:
        yield
    except CommodoreError as error:
        from commodore.core.inventory.explain import locate_settings  # only a run that fails has a use for it

        raise locate_settings(error, workspace.inventory, context) from error
