"""Everything that one component fetches and another one reads: as if everything was fetched before anything is
compiled.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.world.cluster import CLASS, ClusterWorld
from tests.world.repos import Content, Remote

PLACE = "dependencies/comp-a/fetched/dep"
COPY = {"input_type": "copy", "input_paths": [PLACE], "output_path": "${_instance}/dep"}
TEXT = """
local read = %s;
{ config: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { text: read } } }
"""


def entries(*results: dict[str, Any], dependencies: list[dict[str, Any]] | None = None) -> str:
    """A component's class."""
    return yaml.safe_dump({"parameters": {"kapitan": {"compile": list(results), "dependencies": dependencies or []}}})


def jsonnet(file: str) -> dict[str, Any]:
    return {
        "input_type": "jsonnet",
        "input_paths": [f"${{_base_directory}}/component/{file}"],
        "output_path": "${_instance}/",
    }


def manifest(text: str) -> str:
    return yaml.safe_dump(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "fetched"}, "data": {"text": text}}
    )


class Both:
    """A cluster with `comp-a`, which fetches a repository, and `comp-b`, which reads what that has fetched."""

    def __init__(self, root: Path) -> None:
        self.world = ClusterWorld(root)
        self.fetched: Remote = self.world.git.remote("fetched", {"files/d.txt": "old", "files/m.yaml": manifest("old")})
        dependency = {
            "type": "git",
            "source": self.fetched.url,
            "ref": "master",
            "subdir": "files",
            "output_path": PLACE,
        }
        own = yaml.safe_load(CLASS)["parameters"]["kapitan"]["compile"]
        self.world.component("comp-a", {"class/comp-a.yml": entries(*own, dependencies=[dependency])})

    def add_reader(self, files: dict[str, Content]) -> None:
        self.world.component("comp-b", files)

    def push(self) -> dict[str, str]:
        """Push with all caches. What is pushed has to be what a run without any in a fresh directory gives."""
        result = self.world.compile("--push")
        assert result.code == 0, result.stderr
        pushed = self.world.tree()
        assert pushed == self.plain()
        return pushed

    def plain(self) -> dict[str, str]:
        """The catalog of a run without caches in a fresh directory."""
        kept = self.world.work
        try:
            self.world.work = kept.parent / f"plain-{self.world.git.tick()}"
            result = self.world.compile("--no-cache")
            assert result.code == 0, result.stderr
            return {path: text.removesuffix("\n") for path, text in self.world.local_tree().items()}
        finally:
            self.world.work = kept


READERS: dict[str, dict[str, Content]] = {
    "a copy": {"class/comp-b.yml": entries(COPY)},
    "an imported text": {
        "class/comp-b.yml": entries(jsonnet("text.jsonnet")),
        "component/text.jsonnet": TEXT % "importstr 'comp-a/fetched/dep/d.txt'",
    },
}


@pytest.mark.parametrize("reader", READERS)
def test_what_another_component_fetches_counts_as_it_is_now(tmp_path: Path, reader: str) -> None:
    """The reader sees every change of the repository in the run that fetches it, the first one included."""
    both = Both(tmp_path)
    both.add_reader(READERS[reader])
    first = both.push()
    both.fetched.commit({"files/d.txt": "new", "files/m.yaml": manifest("new")})
    second = both.push()
    changed = {path for path in first if first[path] != second[path]}
    assert first.keys() == second.keys()
    assert changed
    assert all(path.startswith("manifests/comp-b/") for path in changed)
