"""The case files against the published tool: it must give what they say it gives."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.lib.cases import FAILS, read_cases
from tests.lib.evaluation import HERE, PRELUDE


def published_results(tool: Path, expressions: list[str], folder: Path) -> list[Any]:
    """Everything that the published tool makes of each expression; FAILS where it fails."""
    component = folder / "component-probe"
    (component / "class").mkdir(parents=True)
    (component / "component").mkdir()
    (component / "component" / "prelude.libsonnet").write_text((HERE / "prelude.libsonnet").read_text())
    entries = []
    for number, expression in enumerate(expressions):
        (component / "component" / f"e{number}.jsonnet").write_text(f"{PRELUDE}{{ out: {{ result: {expression} }} }}")
        entries.append(
            {
                "input_type": "jsonnet",
                "output_type": "json",
                "input_paths": [f"probe/component/e{number}.jsonnet"],
                "output_path": f"e{number}",
                "continue_on_compile_error": True,
            }
        )
    (component / "class" / "defaults.yml").write_text("parameters: {probe: {}}\n")
    (component / "class" / "probe.yml").write_text(json.dumps({"parameters": {"kapitan": {"compile": entries}}}))
    subprocess.run(["git", "init", "-q", str(component)], check=True)
    subprocess.run(["git", "-C", component, "remote", "add", "origin", "https://example.com/probe.git"], check=True)
    out = folder / "out"
    out.mkdir()
    subprocess.run([tool, "component", "compile", component, "-o", out], check=True, capture_output=True)
    files = [out / "compiled" / "probe" / f"e{number}" / "out.json" for number in range(len(expressions))]
    return [json.loads(file.read_text())["result"] if file.exists() else FAILS for file in files]


@pytest.mark.peer
@pytest.mark.parametrize("name", ["commodore", "kube"])
def test_cases_are_true_of_the_published_tool(name: str, peer: Path, tmp_path: Path) -> None:
    cases = read_cases(name)
    results = published_results(peer, [case.expression for case in cases], tmp_path)
    assert [
        (case.expression, result) for case, result in zip(cases, results, strict=True) if result != case.published
    ] == []
