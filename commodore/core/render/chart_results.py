"""Cached results of charts outside of instances, by everything that they depend on, in the results cache."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from commodore.base.limits import Limits
from commodore.base.programs.child_processes import Child, child_environment
from commodore.core.render.random_templates import any_random
from commodore.core.render.tool_identity import Programs, defaults_digest, tool_digest
from commodore.core.results.result_store import Result, ResultStore

_SHAPE = hashlib.sha256(b"[]").hexdigest()  # for results looked up by their subject only


class ChartResults:
    """Files rendered from a chart and values, by their digests and the identity of helm.

    Args:
        root: the folder of the results cache; None disables it.
        helm: the path of its executable.
    """

    def __init__(self, root: Path | None, helm: str, limits: Limits) -> None:
        self._store = ResultStore(root, limits) if root is not None else None
        self._identity = ""
        if root is not None:
            given = child_environment(Child.TOOL)
            programs = Programs(given, Path.cwd(), root / "programs.json", limits)
            defaults = [defaults_digest(name, given) for name in ("zone", "helm")]
            variables = sorted((key, value) for key, value in given.items() if key.startswith("HELM_"))
            self._identity = json.dumps([tool_digest(helm, programs), defaults, variables])

    def key(self, chart: Iterable[bytes], described: object) -> str:
        """Return the cache key of a chart's result; empty if it is not cached, such as a random one.

        Args:
            chart: the templates and values.
            described: JSON-ready data; everything else that the result depends on, and digests of the texts.
        """
        if self._store is None or any_random(chart):
            return ""
        return hashlib.sha256(json.dumps(["chart files", described, self._identity]).encode()).hexdigest()

    def find(self, key: str) -> dict[str, bytes] | None:
        """Return the cached files, by path."""
        result = self._store.find(key, _SHAPE, []) if self._store is not None and key else None
        if result is None:
            return None
        return {name: content for name, _, content in result.files if isinstance(content, bytes)}

    def add(self, key: str, files: Mapping[str, bytes]) -> None:
        """Cache files."""
        if self._store is not None and key:
            self._store.add(key, {}, Result(tuple((name, 0o644, content) for name, content in files.items())))
