"""The effective trust policy of a run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commodore.base.files.workspace import Workspace

if TYPE_CHECKING:
    from commodore.core.confinement import TrustPolicy


def effective_policy(workspace: Workspace, given: TrustPolicy | None) -> TrustPolicy | None:
    """Return the policy given by the user, or the one in the checkout of the global repository, or None.

    Raises:
        CommodoreError: it is invalid.
    """
    path = workspace.global_config / "trust.toml"
    if given is not None or not os.path.lexists(path):
        return given
    from commodore.core.confinement import read_policy  # few runs have one

    return read_policy(path, workspace.global_config)
