"""Applications whose sources are hydrated to branches of one remote."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.world.repos import Remote, git

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: x}}\ndata: {{v: '{value}'}}\n"


@dataclass
class Place:
    """A remote with sources, which branches are hydrated to, and a folder with Applications."""

    remote: Remote
    folder: Path
    call: Callable[..., tuple[int, str, str]]

    def application(self, name: str, branch: str = "env/dev", **hydrator: Any) -> None:
        dry = {"repoURL": self.remote.url, "targetRevision": "main", "path": f"apps/{name}"}
        spec = {"drySource": dry, "syncSource": {"targetBranch": branch, "path": name}, **hydrator}
        data = {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": {"name": name, "namespace": "argocd"},
            "spec": {"destination": {"name": "in-cluster"}, "sourceHydrator": spec},
        }
        (self.folder / f"{name}.yaml").write_text(yaml.safe_dump(data))

    def run(self, *options: str, work: str = "work") -> tuple[int, list[dict[str, Any]]]:
        code, result = self.ask("run", *options, work=work)
        groups: list[dict[str, Any]] = result.get("groups", [])
        return code, groups

    def ask(self, command: str, *options: str, work: str = "work") -> tuple[int, dict[str, Any]]:
        words = ["-d", str(self.folder.parent / work), "hydrate", command, str(self.folder), "-o", "json", *options]
        code, out, _ = self.call(*words)
        result: dict[str, Any] = json.loads(out) if out else {}
        return code, result

    def change(self, value: int, name: str = "a") -> str:
        """A dry commit that changes what an Application renders."""
        files = {f"apps/{name}/config.yaml": CONFIG.format(name=name, value=value)}
        return self.remote.commit(files, message=f"Set {value}")

    def subjects(self, branch: str = "env/dev") -> list[str]:
        said = git(self.remote.path, "log", "--format=%s", branch).splitlines()
        return [line.partition(": ")[2] for line in said]
