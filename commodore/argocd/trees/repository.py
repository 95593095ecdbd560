"""Queries to git about a local repository."""

from __future__ import annotations

from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.core.sources.git import Git

DEFAULT_BRANCHES = ("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master")
"""The default branch of `origin` in a clone: the reference that names it, else the usual names."""


def git_output(folder: Path, context: Context, *arguments: str) -> str:
    """Return the output of git in a folder, or an empty text if git fails, as outside of repositories."""
    try:
        answer = Git(folder, context).run(arguments, check=False)
    except CommodoreError:
        return ""
    return answer.text if answer.returncode == 0 else ""
