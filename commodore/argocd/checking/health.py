"""Health scripts of an installation: compile them, and run them on rendered objects."""

from __future__ import annotations

import fnmatch
import importlib.util
from collections.abc import Iterable, Mapping
from typing import Any

from commodore.argocd.configuration import ArgoSettings, ResourceOverride
from commodore.base.diagnostics import Diagnostics, Subject
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError
from commodore.base.kubernetes import key_of
from commodore.base.names import requirement
from commodore.base.printable import printable
from commodore.base.programs.python_children import LineWorker, WorkerEnded

STATUSES = ("Healthy", "Progressing", "Suspended", "Degraded", "Missing", "Unknown")
_SECONDS = 1.0
_WORKER = "commodore.argocd.checking.lua_worker"


class HealthScripts:
    """The health scripts of kinds in `resource.customizations`. Must be closed.

    Args:
        diagnostics: collects scripts that do not compile (CMD-ARGO-901).
    """

    def __init__(self, settings: ArgoSettings, diagnostics: Diagnostics) -> None:
        self._worker = LineWorker(_WORKER, _SECONDS)
        self._scripts = {name: override for name, override in settings.overrides.items() if override.health.strip()}
        self._installed = importlib.util.find_spec("lupa") is not None
        for name in sorted(self._scripts) if self._installed else ():
            if reason := self._problem(self._scripts[name]):
                diagnostics.take(
                    InputError(
                        "CMD-ARGO-901",
                        f"the health script of {name} does not compile: {printable(reason)}",
                        hint="Argo CD runs Lua 5.1",
                    )
                )
                del self._scripts[name]

    def _problem(self, override: ResourceOverride) -> str:
        try:
            answer = self._worker.ask({"script": override.health, "object": None, "libraries": False})
        except WorkerEnded:
            return "it uses too much memory"
        return "it takes too long" if answer is None else str(answer.get("syntax", ""))

    def close(self) -> None:
        """Stop the process that runs scripts."""
        self._worker.close()

    def __enter__(self) -> HealthScripts:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def check(self, objects: Iterable[Mapping[str, Any]], diagnostics: Diagnostics, application: str) -> None:
        """Run the scripts of the kinds of objects. The health that they return is not used, only their errors.

        Args:
            diagnostics: collects scripts that fail or return an invalid status (CMD-ARGO-902), or that cannot be run
                because Lua is not installed (CMD-ARGO-904).
        """
        for data in objects:
            key = key_of(data)
            override = self._of(f"{key.group}/{key.kind}" if key.group else key.kind)
            if override is None:
                continue
            try:
                self._run(override, data, str(key))
            except CommodoreError as error:
                diagnostics.take(error, Subject(application=application))

    def _of(self, name: str) -> ResourceOverride | None:
        """Return the script of a kind: by its name, or else by the first pattern that matches."""
        if name in self._scripts:
            return self._scripts[name]
        full = name if "/" in name else f"/{name}"
        for pattern in sorted(self._scripts):
            if "*" in pattern and fnmatch.fnmatchcase(full, pattern if "/" in pattern else f"/{pattern}"):
                return self._scripts[pattern]
        return None

    def _run(self, override: ResourceOverride, data: Mapping[str, Any], key: str) -> None:
        if not self._installed:
            raise EnvironmentFault(
                "CMD-ARGO-904",
                f"the health script for {key} cannot be run: Lua is not installed",
                hint=f"install the extra: pip install '{requirement('argocd')}'; or leave it out by --skip-lua-health",
            )
        request = {"script": override.health, "object": data, "libraries": override.use_open_libs}
        try:
            answer = self._worker.ask(request)
        except WorkerEnded:
            raise _failed(key, "uses too much memory") from None
        if answer is None:
            raise _failed(key, f"takes longer than {_SECONDS:g} s")
        if "error" in answer:
            raise _failed(key, f"fails: {answer['error']}")
        health = answer["health"]
        if health is not None and health["status"] not in STATUSES:
            raise _failed(key, f"returns the status {health['status']!r}, expected one of {', '.join(STATUSES)}")


def _failed(key: str, why: str) -> InputError:
    return InputError(
        "CMD-ARGO-902",
        printable(f"the health script for {key} {why}"),
        hint="it gets the object as obj, and returns {status = ..., message = ...} or nil",
    )
