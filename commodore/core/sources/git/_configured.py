"""Refuse programs that a repository's own configuration names. Its author may be someone else than its user: a
repository may have come as an archive, or from another account.

They are not started, unless the user's own configuration has the same setting. Settings that this program's commands
do not use (editors, pagers, programs for differences and merges, connections to remotes) stay as they are; hooks and
fsmonitor are switched off for each call of git.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from commodore.base.errors import PolicyError
from commodore.base.printable import some_of
from commodore.core.sources.git.urls import shown

_AT_FILES = frozenset(
    {
        "add",
        "checkout",
        "checkout-index",
        "commit",
        "diff",
        "merge",
        "read-tree",
        "reset",
        "rm",
        "stash",
        "status",
        "submodule",
        "update-index",
        "worktree",
    }
)
"""Commands that compare, write or commit files of a working copy."""
_PROGRAM = re.compile(
    r"filter\..*\.(clean|smudge|process)|gpg\.(.*\.)?program|gpg\.ssh\.defaultkeycommand|gc\.recentobjectshook"
    r"|hook\..*\.command"
)
_PARTIAL = re.compile(r"extensions\.partialclone|remote\..*\.promisor")
# Objects that a partial clone lacks are fetched by any command.
_CONNECTING = re.compile(
    r"core\.(sshcommand|gitproxy|askpass)|credential\.(.*\.)?helper|remote\..*\.(uploadpack|vcs)|url\..*\.insteadof"
)
# The name of a section has no other spelling; the rest of a file is left to git's own parser.
_TELLING = re.compile(rb"\[\s*(filter|gpg|gc|hook|include|extensions)|promisor", re.IGNORECASE)
_OWN = frozenset({"system", "global", "command"})
_MOST = 1 << 20  # bytes of a file; git is asked about a larger one
LISTING = ("config", "--list", "--show-scope", "--includes", "-z")
"""The arguments of git whose output `refuse_programs` checks."""


def may_start_programs(folder: Path, arguments: Sequence[str]) -> bool:
    """Return True if a command may start a program that the configuration of its repository names. Git lists the
    configuration only in this case.
    """
    name = next((word for word in arguments if not word.startswith("-")), "")
    if name not in _AT_FILES and "--filters" not in arguments:
        return False
    return any(_may_name_programs(file) for file in _files(Path(os.path.realpath(folder))))


def refuse_programs(folder: Path, listing: str) -> None:
    """Check the settings that apply in a folder, as git lists them (`LISTING`).

    Raises:
        PolicyError: CMD-GIT-057, settings of the repository itself name programs.
    """
    fields = listing.split("\0")
    settings = [
        (scope, *setting.partition("\n")[::2]) for scope, setting in zip(fields[::2], fields[1::2], strict=False)
    ]
    own = {(key, value) for scope, key, value in settings if scope in _OWN}
    foreign = [(key, value) for scope, key, value in settings if scope not in _OWN and (key, value) not in own]
    is_partial = any(_PARTIAL.fullmatch(key.lower()) for key, _ in foreign)
    keys = list(dict.fromkeys(shown(key) for key, value in foreign if value and _is_program(key.lower(), is_partial)))
    if keys:
        raise PolicyError(
            "CMD-GIT-057",
            f"the configuration of the repository at {folder} names programs that git would start: {some_of(keys)}",
            hint=f"look at it with 'git config --show-origin --get-all {shlex.quote(keys[0])}'; if you trust "
            "it, give your own configuration the same setting (git config --global), else remove it",
            locations=[str(folder)],
        )


def _is_program(key: str, is_partial: bool) -> bool:
    return bool(_PROGRAM.fullmatch(key) or (is_partial and _CONNECTING.fullmatch(key)))


def _files(folder: Path) -> Iterator[Path]:
    """Yield the configuration files of all repositories that a folder may belong to; git decides which one it is."""
    for above in (folder, *folder.parents):
        yield above / "config"  # of a bare repository
        place = above / ".git"
        if place.is_file():
            place = above / _read(place).decode("utf-8", "surrogateescape").removeprefix("gitdir:").strip()
        if place.is_dir():
            common = place / _read(place / "commondir").decode("utf-8", "surrogateescape").strip()
            yield from (common / "config", place / "config.worktree")


def _may_name_programs(file: Path) -> bool:
    content = _read(file)
    return len(content) >= _MOST or _TELLING.search(content) is not None


def _read(file: Path) -> bytes:
    try:
        if not file.is_file():
            return b""
        with file.open("rb") as opened:
            return opened.read(_MOST)
    except (OSError, ValueError):  # git reports the problem
        return b""
