"""A world: one cluster, its repositories, and two places in which it is compiled side by side."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _soak.changes import Change, State, put

GIT_URL = "https://git.example.com"
CATALOG_URL = "ssh://git@git.example.com/catalog.git"


@dataclass(frozen=True, slots=True)
class World:
    """Everything that a cluster is compiled from.

    Attributes:
        sources: repositories by name, as working copies; their commits are what a run fetches.
        urls: for each repository the URL by which the hierarchy names it.
        cluster: the cluster as the API has it; it may be changed.
        tenant: the tenant as the API has it.
        git: more lines for git's configuration.
        environment: more variables.
        facts: for facts that change, their values.
        weights: how often a repository is edited, where that is not once.
    """

    sources: Mapping[str, Path]
    urls: Mapping[str, str]
    cluster: dict[str, Any]
    tenant: dict[str, Any]
    git: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, list[str]] = field(default_factory=dict)
    weights: Mapping[str, int] = field(default_factory=dict)

    def configuration(self) -> str:
        """The lines by which git finds the repositories."""
        lines = [f'[url "file://{self.sources[name]}"]\n\tinsteadOf = {url}\n' for name, url in self.urls.items()]
        return self.git + "".join(lines)


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, with nobody's settings and a fixed author and time."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C.UTF-8",
    }
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_NAME": "Soak", f"GIT_{role}_EMAIL": "soak@example.com"}
        environment[f"GIT_{role}_DATE"] = "2026-01-01T12:00:00Z"
    command = ["git", "-c", "gc.auto=0", "-c", "core.fileMode=true", *arguments]
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace")
    if ended.returncode != 0:
        raise OSError(f"{' '.join(command)} in {folder}: {ended.stderr}")
    return ended.stdout


def commit(folder: Path) -> None:
    """Put everything in a working copy into a commit, if anything is different.

    What is as it was one commit ago is sometimes no new commit: the branch goes back, as after a forced push.
    """
    new = not (folder / ".git").exists()
    if new:
        git(folder, "init", "--quiet", "--template=", "--initial-branch=main")
    git(folder, "add", "--all", "--force")
    if not git(folder, "status", "--porcelain"):
        return
    tree = git(folder, "write-tree").strip()
    before = [] if new else git(folder, "log", "--format=%T", "--max-count=2").split()[1:]
    if tree in before and int(tree[0], 16) % 2:
        git(folder, "reset", "--quiet", "--soft", "HEAD~1")
    else:
        git(folder, "commit", "--quiet", "--no-verify", "--message=Change something")


def write_files(folder: Path, files: Mapping[str, Any]) -> None:
    """Write files: text as it is, anything else as JSON, which is YAML too; a `State` with its mode or as a link."""
    for name, content in files.items():
        state = content
        if not isinstance(content, State):
            text = content if isinstance(content, str) else json.dumps(content, indent=1) + "\n"
            state = State(text.encode())
        put(folder / name, state)


def apply(world: World, works: Iterable[Path], changes: Iterable[Change]) -> None:
    """Make changes: in repositories as a commit each, in the working directories as they are."""
    touched = set()
    for change in changes:
        kind, _, name = change.target.partition(" ")
        if kind == "source":
            _put(world.sources[name], change)
            touched.add(name)
        elif kind == "work":
            for work in works:
                _put(work, change)
        elif change.after is not None:
            world.cluster.clear()
            world.cluster.update(json.loads(change.after.content))
    for name in sorted(touched):
        commit(world.sources[name])


def _put(folder: Path, change: Change) -> None:
    try:
        put(folder / change.path, change.after, keep_time=change.keep_time)
    except (NotADirectoryError, IsADirectoryError, FileExistsError, PermissionError):
        # Another edit has put a file or a folder in the way.
        return
