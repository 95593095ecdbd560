"""In which stage of a run a change of the disk is made."""

from __future__ import annotations

import contextlib
import json
import re

from tests.world.syscalls import Call

STAGES = (
    "load", "fetch", "move", "hierarchy", "bundle", "refs", "charts", "render", "filter", "store", "swap", "commit",
    "push", "report",
)  # fmt: skip


class StageWatch:
    """Tells of each change in which stage of a run it is made. `root` is that of the world."""

    def __init__(self, root: str) -> None:
        self._root = root + "/"
        self._now = ""
        self._rendered: set[str] = set()

    def stage_of(self, call: Call) -> str | None:
        """The stage; None for what is not a change of the run's own: words to the user, devices, the remotes' disk.

        What a remote does with a push is a time to kill the program, though.
        """
        if call.name == "write" and b'"StageStarted"' in call.data:
            self._heed(call.data)
        if call.name == "connect":
            return ("report" if self._now == "publishing the catalog" else "load") if call.path[:4] == "tcp:" else None
        if not call.path.startswith(self._root):
            return None
        path = call.path.removeprefix(self._root)
        if path.startswith("remotes/"):
            return "push" if re.match(r"remotes/catalog\.git/(refs|HEAD)", path) else None
        if result := re.match(r"work/\.commodore/compile-[^/]*/work/([^/]*)/(tmp$)?", path):
            if call.name == "rmdir" and result[2]:
                self._rendered.add(result[1])
            elif result[1] in self._rendered and call.name != "unlink":
                return "filter"
        return self._stage_of_path(path)

    def _heed(self, data: bytes) -> None:
        for line in data.splitlines():
            with contextlib.suppress(ValueError):
                event = json.loads(line)
                if event.get("event") == "StageStarted":
                    self._now = event["stage"]

    def _stage_of_path(self, path: str) -> str:
        for pattern, stage in _PLACES:
            if re.match(pattern, path):
                return stage
        if path.startswith("work/catalog/.git"):
            if self._now in ("publishing the catalog", "assembling the catalog"):
                return "push" if "refs/remotes" in path else "commit"
            return "fetch"
        return {"compiling": "render", "publishing the catalog": "report", "assembling the catalog": "swap"}.get(
            self._now, "load"
        )


_PLACES = (
    (r"work/\.commodore/pending-report", "report"),
    (r"work/\.commodore/.*replaced", "swap"),
    (r"work/catalog(/(manifests|refs)|$)", "swap"),
    (r"work/compiled", "swap"),
    (r"work/\.commodore/compile-[^/]*/(compiled|\.old)", "swap"),
    (r"work/\.commodore/catalog-[^/]*/manifests", "swap"),
    (r"work/\.commodore/catalog-[^/]*/refs", "refs"),
    (r"work/\.commodore/records|home/cache/commodore/results", "store"),
    (r"work/\.commodore/compile-[^/]*/fetch|home/cache/commodore/dependencies", "charts"),
    (r"work/dependencies/\.repos/.*/worktrees/", "move"),
    (r"work/dependencies/\.repos|home/cache/commodore/repositories", "fetch"),
    (r"work/(vendor|jsonnetfile|dependencies/libs)|home/cache/commodore/libraries", "bundle"),
    (r"work/dependencies/fetching/fetched", "charts"),
    (r"work/dependencies/lib(/|$)", "hierarchy"),
    (r"work/(dependencies/[^/]|inventory/classes/(global|t-one))", "move"),
    (r"work/(inventory|\.commodore/rendered)|tmp/commodore-targets", "hierarchy"),
)
