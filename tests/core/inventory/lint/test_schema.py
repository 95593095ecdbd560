"""The linter `schema`: what only the published JSON Schemas find, and nothing twice."""

from __future__ import annotations

from pathlib import Path

import pytest
import reclass_rs

from tests.core.inventory.lint.world import findings, shown
from tests.world.folders import write_files

CLASS = "class-file-schema"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("parameters:\n  a:\n    _metadata: {multi_instance: 'true'}\n", f"3:17 {CLASS}"),
        ("parameters:\n  a:\n    =_metadata:\n      deprecated: 1\n", f"4:7 {CLASS}"),
        ("parameters: {}\nclasses:\n  - 3\n", f"3:5 {CLASS}"),
        ("parameters: {}\nexports: []\n", f"2:1 {CLASS}"),
        ("tenant: {id: t, gitRepo: {}}\ncluster:\n  id: c\n  tenant: t\nfact: {}\n", "5:1 cluster-file-schema"),
        ("tenant: {id: t, gitRepo: {}}\ncluster:\n  id: c\n  tenant: t\n  facts: {a: b}\n", "5:3 cluster-file-schema"),
    ],
)
def test_what_only_a_schema_finds(tmp_path: Path, content: str, expected: str) -> None:
    assert shown(tmp_path, {"a.yml": content}, "all") == [f"a.yml:{expected}"]


@pytest.mark.parametrize(
    "content",
    [
        "parameters: {components: {a: {version: 1.0, url: u}}}",
        "parameters: {components: {a: {version: v1, url: u, revision: v2}}}",
        "parameters: {commodore: {postprocess: {filters: [{type: jsonnet, path: a, filter: b, enabled: 'no'}]}}}",
        "parameters: []",
        "applications: [1]",
        "parameters: {}\nparameter: {}",
    ],
)
def test_what_another_linter_finds_is_said_once(tmp_path: Path, content: str) -> None:
    assert [finding.linter for finding in findings(tmp_path, {"a.yml": content}, "schema")] == ["schema"]
    assert "schema" not in {finding.linter for finding in findings(tmp_path, {"a.yml": content}, "all")}


@pytest.mark.parametrize(
    "content",
    [
        "parameters: {a: {_metadata: {multi_instance: '${b:c}', library_aliases: '${b:d}'}}}",
        "parameters: {commodore: {postprocess: null}}",
        "parameters: {}\nx-anchors: {a: 1}\n",
        "applications: ['a  as  b', '~c', pkg.d]",
        "kind: List\napiVersion: v1\ncluster: 1\ntenant: 1\n",
        "a: &a [x, x]\nb: &b [*a, *a]\nparameters: {c: *b}\nkind: x\n",
    ],
)
def test_what_is_right(tmp_path: Path, content: str) -> None:
    assert findings(tmp_path, {"a.yml": content}, "schema") == []


def test_messages_name_the_field_and_what_it_must_be(tmp_path: Path) -> None:
    content = "parameters:\n  a:\n    _metadata: {multi_version: 1}\n"
    (finding,) = findings(tmp_path, {"a.yml": content}, "schema")
    assert finding.message == "parameters.a._metadata.multi_version must be true or false, it is a number"
    assert (finding.severity, finding.parameter) == ("warning", "parameters.a._metadata.multi_version")


@pytest.mark.parametrize("written", ["yes", "on", "Off", "NO"])
def test_switches_of_old_yaml_are_texts_as_they_are_for_reclass(tmp_path: Path, written: str) -> None:
    content = f"parameters:\n  a:\n    _metadata: {{multi_instance: {written}}}\n"
    (finding,) = findings(tmp_path, {"a.yml": content}, "schema")
    place = "parameters.a._metadata.multi_instance"
    assert finding.message == f"{place} must be true or false, it is the text '{written}'"
    assert finding.hint == "reclass reads yes, no, on and off as strings; write true or false"
    assert reclass_reads(tmp_path, written) == written
    assert findings(tmp_path, {"a.yml": content.replace(written, "TRUE")}, "schema") == []
    assert reclass_reads(tmp_path, "TRUE") is True


def reclass_reads(folder: Path, written: str) -> object:
    inventory = folder / "inventory"
    write_files(inventory, {"classes/c.yml": f"parameters: {{a: {written}}}", "targets/t.yml": "classes: [c]"})
    config = reclass_rs.Config.from_dict(str(inventory), {"nodes_uri": "targets", "classes_uri": "classes"})
    return reclass_rs.Reclass.from_config(config).inventory().as_dict()["nodes"]["t"]["parameters"]["a"]


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (
            "applications: [a b c]",
            "applications[0] must be 'component', 'component as instance' or 'pkg.package', with",
        ),
        ("tenant: {id: T, gitRepo: {}}", "tenant.id must be lower-case letters, digits, '.', '_' and '-', beginning"),
    ],
)
def test_patterns_are_told_in_words(tmp_path: Path, file: str, message: str) -> None:
    cluster = "\ncluster: {id: c, tenant: t, facts: {cloud: x, distribution: y}}" if "tenant" in file else ""
    (finding,) = findings(tmp_path, {"a.yml": f"{file}{cluster}"}, "schema")
    assert finding.message.startswith(message)
    assert finding.hint.startswith("the pattern is ^")


def test_several_missing_keys_are_one_finding(tmp_path: Path) -> None:
    content = "cluster: {id: c, tenant: t, facts: {}}\ntenant: {id: t, gitRepo: {}}\n"
    (finding,) = findings(tmp_path, {"a.yml": content}, "schema")
    assert finding.message == "cluster.facts has no 'cloud', 'distribution'"
