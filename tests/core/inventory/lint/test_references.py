"""The linter `references`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import reclass_rs

from commodore.core.inventory.lint.references import differs_by_one_letter
from tests.core.inventory.lint.world import findings, shown
from tests.world.folders import write_files

TEXTS = [
    "plain", "$", "$a", "{a}", "a}b", "$[b]", "$[b", "$$", "$ {b}",
    "${}", "${", "${a", "${a}}", "x ${a y", "${a} ${", "${a${b}}", "${a:${b}}", "${a:${b}", "${a:${}}", "$${a}",
    "${a}${b}", "${:b}", "${b:}", "${ b }", "${b: c}", "${b:c}", "${b:c:}", "${\nb}", "${b::}", "${b::x}",
    "${x:y::${z}}", "${x:y::${z}", "${b::{}}", "${b::[1]}",
    "\\${a", "\\\\${a}", "\\\\${a", "a\\${b} ${c", "\\${a} ${b:c}", "\\$${a}",
]  # fmt: skip


def refused(folder: Path, text: str) -> bool:
    """Check if reclass cannot read the references of a value."""
    parameters = {"a": "b", "b": {"c": 1, "b": 2}, "z": 1, "value": text}
    files = {"targets/t.yml": "classes: [c]", "classes/c.yml": json.dumps({"parameters": parameters})}
    inventory = reclass_rs.Reclass(
        inventory_path=str(write_files(folder, files)), nodes_path="targets", classes_path="classes"
    )
    try:
        inventory.nodeinfo("t")
    except ValueError as error:
        return "Error parsing reference" in str(error)
    return False


@pytest.mark.parametrize("text", TEXTS)
def test_what_reclass_refuses(tmp_path: Path, text: str) -> None:
    """Whatever reclass cannot read is found, save where a backslash leaves it open; and nothing else is unclosed."""
    content = json.dumps({"parameters": {"value": text}})
    results = [finding.rule for finding in findings(tmp_path / "lint", {"a.yml": content}, "references")]
    wrong = refused(tmp_path / "inventory", text)
    if "\\" not in text:
        assert wrong == bool({"unclosed-reference"} & {*results} or "${}" in text)
    assert wrong or "unclosed-reference" not in results


@pytest.mark.parametrize(
    ("value", "rule", "place"),
    [
        ("${a:b}", None, ""),
        ("${unknown:key}", None, ""),
        ("${a:${b}}", None, ""),
        ("'x\\${y'", None, ""),
        ("a ${b", "unclosed-reference", "2:8"),
        ("'${b:${c}'", "unclosed-reference", "2:11"),
        ("|\n    first\n    then ${b c", "unclosed-reference", "4:10"),
        ("'${}'", "malformed-reference", "2:7"),
        ("'a ${b:} ${b:c}'", "malformed-reference", "2:9"),
        ("'${b: c}'", "malformed-reference", "2:7"),
        ("'${ b }'", "malformed-reference", "2:7"),
        ("${_instance:x}", "reference-into-text", "2:6"),
        ("${_base_directory}", None, ""),
        ("${_base_directory:x::y}", None, ""),
        ("[{x: '${_python3:x}'}]", "reference-into-text", "2:12"),
    ],
)
def test_values(tmp_path: Path, value: str, rule: str | None, place: str) -> None:
    files = {"a.yml": f"parameters:\n  x: {value}\n"}
    assert shown(tmp_path, files, "references") == ([f"a.yml:{place} {rule}"] if rule else [])


def test_classes_are_searched_and_other_keys_are_not(tmp_path: Path) -> None:
    files = {"a.yml": "classes:\n- a.${facts:cloud}\n- b.${facts:cloud\nexports: {x: '${'}\nparameters: {}\n"}
    assert shown(tmp_path, files, "references") == ["a.yml:3:5 unclosed-reference"]


@pytest.mark.parametrize(
    ("reference", "meant"),
    [
        ("${cluster:nmae}", "${cluster:name}"),
        ("${cluster:tennant}", "${cluster:tenant}"),
        ("${clutser:name}", "${cluster:name}"),
        ("${fact:cloud}", "${facts:cloud}"),
        ("${_intance}", "${_instance}"),
        ("${comp:image:tags}", "${comp:images:tags}"),
        ("${comp:images:tgas}", "${comp:images:tags}"),
    ],
)
def test_misspelt(tmp_path: Path, reference: str, meant: str) -> None:
    """Only a warning: a file that is not linted may set it."""
    files = {"a.yml": f"parameters:\n  x: '{reference}'\n", "b.yml": "parameters: {comp: {~images: {=tags: {v1: 1}}}}"}
    (finding,) = findings(tmp_path, files, "references")
    assert (finding.rule, finding.severity, finding.line, finding.column) == ("misspelt-reference", "warning", 2, 7)
    assert finding.hint == f"did you mean {meant}?"


@pytest.mark.parametrize(
    "reference",
    [
        "${cluster:name}",
        "${cluster:dist}",  # the linter deprecated-parameters tells
        "${cluster:region}",
        "${facts:clud}",  # facts may be anything
        "${comp:imgaes:x::default}",
        "${comp:images:v2}",  # numbers differ on purpose
        "${comp:img}",
        "${comp:open:tgas}",
        "${comp:alias:tgas}",
        "${commp:images}",  # may be another component
        "${comp:${x}}",
        "${kapitan:vars:target}",
    ],
)
def test_what_may_exist(tmp_path: Path, reference: str) -> None:
    content = """\
parameters:
  comp:
    images: {v1: 1, tags: 2}
    open: ${other}
    alias: &a {tags: *a}
"""
    files = {"a.yml": f"parameters: {{x: '{reference}'}}", "b.yml": content.replace("tags: *a", "tags: 1")}
    files["c.yml"] = "parameters: {comp: {alias: '${x}'}}"
    assert shown(tmp_path, files, "references") == []


@pytest.mark.parametrize("reference", ["_base_directory", "_kustomize_wrapper", "_python3", "kapitan:vars:target"])
def test_defaults_have_no_instance(tmp_path: Path, reference: str) -> None:
    """Discovery renders the defaults without any instance."""
    content = f"parameters:\n  comp:\n    x: ${{{reference}}}/y\n    y: ${{{reference}::none}}\n"
    files = {"class/defaults.yml": content, "class/comp.yml": content, "tests/defaults.yml": content}
    assert shown(tmp_path, files, "references") == ["class/defaults.yml:3:8 reference-in-defaults"]


@pytest.mark.parametrize(
    ("name", "other", "expected"),
    [
        ("image", "images", True),
        ("nmae", "name", True),
        ("nama", "name", True),
        ("nname", "name", True),
        ("name", "name", False),
        ("image1", "image2", False),
        ("image", "image2", False),
        ("abc", "abd", False),
        ("emanx", "namex", False),
        ("images", "imagine", False),
    ],
)
def test_names_that_differ_by_one_letter(name: str, other: str, expected: bool) -> None:
    assert differs_by_one_letter(name, other) is expected
    assert differs_by_one_letter(other, name) is expected
