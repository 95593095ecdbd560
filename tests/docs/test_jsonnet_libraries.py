"""The pages about the Jsonnet libraries show what comes out, and leave no function out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.core.engine.conftest import engine, listener, world
from tests.core.engine.world import World, jsonnet
from tests.world.cluster import ROOT

__all__ = ["engine", "listener", "world"]

REFERENCE = ROOT / "docs" / "reference"
COMMODORE = REFERENCE / "commodore-libjsonnet.md"
KUBE = REFERENCE / "kube-libjsonnet.md"
_EXAMPLE = re.compile(r"```jsonnet\n(.*?)```\n+```yaml\n(.*?)```\n", re.DOTALL)
_FILE = re.compile(r"```\{code-block\} yaml\n:caption: (\S+)\n(.*?)```\n", re.DOTALL)


def examples(page: Path) -> list[tuple[str, str]]:
    """Each example and what is shown below it."""
    text = page.read_text(encoding="utf-8")
    result = _EXAMPLE.findall(text)
    assert len(result) == text.count("```jsonnet\n")
    return result


def preamble(page: Path) -> str:
    if page == KUBE:
        return "local kube = import 'lib/kube.libjsonnet';\n"
    return "local com = import 'lib/commodore.libjsonnet';\nlocal inv = com.inventory();\n"


@pytest.mark.parametrize("page", [COMMODORE, KUBE], ids=lambda page: page.stem)
def test_each_example_evaluates_to_what_the_page_shows(world: World, page: Path) -> None:
    files = dict(_FILE.findall(page.read_text(encoding="utf-8")))
    parameters = yaml.safe_load(files.pop("parameters", "{}"))
    world.add("my-component", jsonnet("my-component/main.jsonnet"), **parameters)
    for path, content in files.items():
        world.write(f"dependencies/{path}", content)
    result = examples(page)
    parts = ",\n".join(f"example{number}: ({code})" for number, (code, _) in enumerate(result))
    world.write("dependencies/my-component/main.jsonnet", f"{preamble(page)}{{ all: {{\n{parts}\n}} }}\n")
    world.compile()
    values = yaml.safe_load(world.read("my-component/all.yaml"))
    for number, (code, shown) in enumerate(result):
        assert values[f"example{number}"] == yaml.safe_load(shown), code


def test_each_function_has_an_example() -> None:
    library = ROOT / "commodore" / "lib"
    names = re.findall(r"^  (\w+): \w+,$", (library / "commodore.libjsonnet").read_text(encoding="utf-8"), re.MULTILINE)
    shown = "".join(code for code, _ in examples(COMMODORE))
    assert len(names) > 15
    assert [name for name in names if f"com.{name}" not in shown and name != "inventory"] == []
    kube = (library / "kube-libsonnet" / "kube.libsonnet").read_text(encoding="utf-8")
    names = re.findall(r"^  ([A-Za-z]\w*)(?:\([^)]*\))?::? ?", kube[kube.index("\n  _assert:: ") :], re.MULTILINE)
    shown = "".join(code for code, _ in examples(KUBE))
    assert len(names) > 50
    assert [name for name in names if not re.search(rf"kube\.{name}\b", shown)] == []
