"""Commits that make way are kept."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from commodore.git._refs import DISCARDED
from commodore.git.runner import run


def keep_commits(folder: Path, shas: Iterable[str], timeout: float | None) -> list[str]:
    """Give each commit a ref `refs/commodore/discarded/<UTC time>[-<n>]` in the repository at `folder`."""
    wanted = list(dict.fromkeys(shas))
    if not wanted:
        return []
    stem = DISCARDED + time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    # The commit's own digits keep two threads, and two saves within a second, apart.
    refs = [f"{stem}-{sha[:10]}" for sha in wanted]
    commands = "".join(f"update {ref} {sha}\n" for ref, sha in zip(refs, wanted, strict=True))
    run(["update-ref", "--stdin"], cwd=folder, timeout=timeout, input=commands.encode())
    return refs
