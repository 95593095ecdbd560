"""The published schemas fit the files that are right, and what they refuse the linters find, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from commodore.cli.main import run
from tests.world.cluster import ROOT

REFERENCE = ROOT / "docs" / "reference"
EXAMPLES = ROOT / "examples"


def errors(schema: str, content: Any) -> list[str]:
    validator = Draft202012Validator(json.loads((REFERENCE / f"{schema}-schema.json").read_text(encoding="utf-8")))
    return [error.message for error in validator.iter_errors(content)]


@pytest.mark.parametrize("schema", ["class-file", "cluster-file"])
def test_schemas_are_schemas(schema: str) -> None:
    Draft202012Validator.check_schema(json.loads((REFERENCE / f"{schema}-schema.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("schema", ["class-file", "cluster-file"])
def test_every_pattern_is_said_in_words(schema: str) -> None:
    """For editors, and for the linter."""
    text = (REFERENCE / f"{schema}-schema.json").read_text(encoding="utf-8")
    assert text.count('"pattern":') == text.count('"patternErrorMessage":') > 0


def test_class_files_of_the_examples_fit() -> None:
    folders = [*EXAMPLES.glob("component-*/class"), EXAMPLES / "global-defaults", EXAMPLES / "tenant-config"]
    files = [file for folder in [*folders, EXAMPLES / "package-monitoring"] for file in folder.rglob("*.yml")]
    assert len(files) > 8
    for file in files:
        assert errors("class-file", yaml.safe_load(file.read_text(encoding="utf-8"))) == [], file


def test_cluster_files_of_the_examples_fit() -> None:
    for file in (EXAMPLES / "cluster.yml", EXAMPLES / "many-clusters" / "clusters.yml"):
        assert errors("cluster-file", yaml.safe_load(file.read_text(encoding="utf-8"))) == [], file


@pytest.mark.parametrize(
    "text",
    [
        "applications: [1]",
        "applications: nfs",
        "applications: [nfs as]",
        "parameters: []",
        "parameters: {components: {nfs: {version: 1.0}}}",
        "parameters: {components: {nfs: {version: v1, revision: v2}}}",
        "parameters: {packages: {nfs: {url: 1, version: v1}}}",
        "parameters: {commodore: {postprocess: {filters: [{type: jsonnet, path: a}]}}}",
        "parameters: {commodore: {postprocess: {filters: [{type: typo, path: a, filter: b}]}}}",
        "parameters: {commodore: {postprocess: {filters: [{type: jsonnet, path: a, filter: b, enabled: 'no'}]}}}",
    ],
)
def test_what_the_schema_refuses_the_linters_find(tmp_path: Path, text: str) -> None:
    assert errors("class-file", yaml.safe_load(text)) != []
    file = tmp_path / "class.yml"
    file.write_text(f"{text}\n")
    assert run(["inventory", "lint", "-l", "all", str(file)]) == 1


@pytest.mark.parametrize(
    "text",
    [
        "fact: {}",
        "cluster: {id: C-1, tenant: t-1}",
        "cluster: {id: c-1}",
        "cluster: {id: c-1, tenant: t-1, facts: {cloud: x}}",
    ],
)
def test_cluster_files_that_are_refused(text: str) -> None:
    assert errors("cluster-file", yaml.safe_load(text)) != []
