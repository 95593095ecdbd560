"""What a damaged bare clone holds of its own, read without git, and how it moves into a fresh clone."""

from __future__ import annotations

import shutil
from pathlib import Path

from commodore.git._refs import FULL_SHA
from commodore.git.runner import run


def own_tips(bare: Path) -> dict[str, str] | None:
    """The refs that are no copies of the remote's branches, and the commits worktrees are detached at.

    Returns:
        Ref name -> object id; commits of worktrees under the name of their administrative file. None when one of them
        cannot be read, so that nobody can tell what it stood for.
    """
    tips: dict[str, str] = {}
    try:
        packed = bare / "packed-refs"
        for line in packed.read_text(encoding="utf-8").splitlines() if packed.exists() else []:
            sha, _, name = line.partition(" ")
            if FULL_SHA.match(sha):
                tips[name] = sha
            elif not line.startswith(("#", "^")):
                return None
        loose = [path for path in (bare / "refs").rglob("*") if path.is_file()]
        for path in loose + list((bare / "worktrees").glob("*/HEAD")):
            name, content = path.relative_to(bare).as_posix(), path.read_text(encoding="utf-8").strip()
            if FULL_SHA.match(content):
                tips[name] = content
            elif not name.startswith("refs/remotes/") and not content.startswith("ref: refs/heads/"):
                return None
    except (OSError, UnicodeDecodeError):
        return None
    return {name: sha for name, sha in tips.items() if not name.startswith("refs/remotes/")}


def move_in(bare: Path, fresh: Path, tips: dict[str, str], timeout: float | None) -> bool:
    """Give a fresh clone the damaged one's worktrees and own refs (`own_tips`), if it has all their objects."""
    if tips:
        check = "".join(f"{sha}\n" for sha in tips.values()).encode()
        answer = run(["cat-file", "--batch-check=%(objecttype)"], cwd=fresh, timeout=timeout, input=check)
        if any(line.endswith(" missing") for line in answer.text.splitlines()):
            return False
    if (bare / "worktrees").is_dir():
        shutil.copytree(bare / "worktrees", fresh / "worktrees", symlinks=True)
    refs = {name: sha for name, sha in tips.items() if name.startswith("refs/") and not name.startswith("refs/tags/")}
    commands = "".join(f"update {name} {sha}\n" for name, sha in sorted(refs.items()))
    if commands:
        run(["update-ref", "--stdin"], cwd=fresh, timeout=timeout, input=commands.encode())
    return True
