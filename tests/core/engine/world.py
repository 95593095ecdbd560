"""A small world for the engine: a workspace with components, and targets made of plain data."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import commodore
from commodore.base.errors import CommodoreError, Findings
from commodore.base.events import Event
from commodore.core.engine import CompiledInstance, CompileRequest, Engine, InstanceJob

PACKAGE = Path(commodore.__file__).parent


@dataclass
class World:
    """Instances, their targets and files. `compile` compiles all of them."""

    root: Path
    engine: Engine
    events: list[Event]
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    jobs: list[InstanceJob] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, *entries: Mapping[str, Any], component: str = "", **parameters: Any) -> Path:
        """An instance with compile entries and further parameters. Returns its component's directory."""
        directory = self.root / "dependencies" / name
        directory.mkdir(parents=True, exist_ok=True)
        kapitan = {"vars": {"target": name}, "compile": list(entries)}
        kapitan |= parameters.pop("kapitan", {})
        self.nodes[name] = node({"_instance": name, "kapitan": kapitan, **parameters})
        self.jobs.append(InstanceJob(name, component or name, directory))
        return directory

    def write(self, path: str, text: str, *, executable: bool = False) -> Path:
        """A file below the root."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        if executable:
            file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return file

    def tool(self, name: str, script: str) -> None:
        """A stand-in for an external program."""
        self.write(f"bin/{name}", f"#!/bin/sh\n{script}", executable=True)
        self.environment["PATH"] = f"{self.root / 'bin'}{os.pathsep}{os.environ['PATH']}"

    def request(self, **changes: Any) -> CompileRequest:
        request = CompileRequest(
            root=self.root,
            output=self.root,
            search_paths=(self.root / "dependencies", self.root, PACKAGE),
            refs=self.root / "catalog" / "refs",
            environment=self.environment,
        )
        return replace(request, **changes)

    def compile(self, **changes: Any) -> tuple[CompiledInstance, ...]:
        return self.engine.compile(self.jobs, self.nodes, self.request(**changes))

    def fail(self, **changes: Any) -> list[CommodoreError]:
        """Compile, and return the errors that this must raise."""
        with pytest.raises(CommodoreError) as caught:
            self.compile(**changes)
        return list(caught.value.errors) if isinstance(caught.value, Findings) else [caught.value]

    def fail_once(self, **changes: Any) -> CommodoreError:
        (error,) = self.fail(**changes)
        return error

    def read(self, path: str) -> str:
        """A compiled file."""
        return (self.root / "compiled" / path).read_text(encoding="utf-8")

    def files(self, path: str = ".") -> list[str]:
        """All compiled files below a folder, by relative path."""
        folder = self.root / "compiled" / path
        return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def node(parameters: dict[str, Any]) -> dict[str, Any]:
    """A target as reclass-rs renders it."""
    return {
        "__reclass__": {},
        "applications": [],
        "classes": [],
        "environment": "base",
        "exports": {},
        "parameters": parameters,
    }


def jsonnet(path: str, output: str = ".", **fields: Any) -> dict[str, Any]:
    """A compile entry."""
    return {"input_type": "jsonnet", "input_paths": [path], "output_path": output, **fields}


def is_reused(world: World, **changes: Any) -> bool:
    """Compile the only instance of a world; whether its result was taken from the cache."""
    (compiled,) = world.compile(**changes)
    return compiled.reused


@dataclass
class Kept:
    """An engine and the folders of its caches."""

    engine: Engine
    results: Path
    dependencies: Path

    def world(self, root: Path) -> World:
        """A fresh world for this engine."""
        root.mkdir(parents=True, exist_ok=True)
        return World(root, self.engine, [])
