"""A small component with test cases, and the program that tests it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.world.cluster import ClusterWorld
from tests.world.program import Result, run_here
from tests.world.repos import Script, git

LIBRARY = "{ config(name, data): { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: name }, data: data } }\n"


def write(folder: Path, files: Mapping[str, Any]) -> None:
    """Write files; None removes a file, other values than text become JSON, which is YAML, too."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.unlink()
            continue
        text = content.content if isinstance(content, Script) else content
        path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")


def snapshot(folder: Path) -> dict[str, bytes]:
    """All files below a folder, but git's own."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


@dataclass
class TestedComponent:
    """A component in `folder` that renders its parameter `data` into a ConfigMap."""

    __test__ = False

    folder: Path
    name: str = "demo"

    def __post_init__(self) -> None:
        files = ClusterWorld.component_files(self.name, {"answer": "42"})
        write(
            self.folder, {**files, "lib/demo.libsonnet": LIBRARY, ".gitignore": "/compiled\n/dependencies\n/vendor\n"}
        )
        git(self.folder, "init", "--quiet", "--initial-branch=master")

    def case(self, name: str, data: Mapping[str, Any] | None = None, **parameters: Any) -> None:
        """Write a test case that sets the component's parameters."""
        own = {**({"data": data} if data else {}), **parameters}
        write(self.folder, {f"tests/{name}.yml": {"parameters": {self.name: own} if own else {}}})

    def golden(self, case: str) -> Path:
        return self.folder / "tests" / "golden" / case

    def commit(self) -> None:
        git(self.folder, "add", "--all")
        git(self.folder, "commit", "--quiet", "--message", "Change")

    def status(self) -> str:
        return git(self.folder, "status", "--porcelain", "--ignored")

    def check(self, *arguments: str, text: bool = False) -> Tested:
        """Run `component test`."""
        return run("component", "test", str(self.folder), "--processes", "1", *arguments, text=text)


@dataclass(frozen=True)
class Tested(Result):
    """Result of a test command."""

    @property
    def cases(self) -> dict[str, dict[str, Any]]:
        """The results on standard output by case."""
        return {result["name"]: result for result in map(json.loads, self.stdout.splitlines())}

    @property
    def statuses(self) -> dict[str, str]:
        return {name: result["status"] for name, result in self.cases.items()}


def run(*arguments: str, text: bool = False) -> Tested:
    """Run the program as a user does."""
    done = run_here([*([] if text else ["--log-format", "json"]), *arguments])
    return Tested(done.code, done.stdout, done.stderr)
