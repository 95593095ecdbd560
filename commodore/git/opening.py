"""Working copies as they lie on disk, for runs that touch no remote (local mode, component compile)."""

from __future__ import annotations

from pathlib import Path

from commodore.git._recovery import recover
from commodore.git.runner import run
from commodore.git.urls import redact
from commodore.git.worktree import Checkout
from commodore.limits import DEFAULT_LIMITS, Limits


def open_checkout(folder: Path, *, url: str, version: str, limits: Limits = DEFAULT_LIMITS) -> Checkout:
    """Describe what lies in `folder`; it need not be a working copy (then `sha` is empty).

    What an interrupted run has begun to do to it is completed. The caller holds the workspace.

    Args:
        url: where it comes from.
        version: what was asked for.
    """
    recover(folder, limits=limits)
    answer = run(["rev-parse", "--verify", "--quiet", "HEAD"], cwd=folder, check=False, timeout=limits.git_timeout)
    return Checkout(folder, redact(url), version, answer.text if answer.returncode == 0 else "")


def find_root(folder: Path, *, limits: Limits = DEFAULT_LIMITS) -> Path | None:
    """The root of the working copy that `folder` lies in, or None outside of any (a bare repository has none)."""
    answer = run(["rev-parse", "--show-toplevel"], cwd=folder, check=False, timeout=limits.git_timeout)
    return Path(answer.text).resolve() if answer.returncode == 0 and answer.text else None
