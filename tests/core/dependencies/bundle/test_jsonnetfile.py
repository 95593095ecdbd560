"""jsonnetfile.json and its lock file: one schema, two versions, exact output."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError, InputError, PolicyError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.dependencies.bundle import GitSource, JsonnetDependency, JsonnetFile, LocalSource
from commodore.core.dependencies.bundle.jsonnetfile import parse_jsonnetfile, read_jsonnetfile, serialise

FOLDER = Path("/work")


def parse(text: str | bytes) -> JsonnetFile:
    return parse_jsonnetfile(text.encode() if isinstance(text, str) else text, "jsonnetfile.json", DEFAULT_LIMITS)


def with_dependency(**entry: object) -> str:
    git = {"source": {"git": {"remote": "https://github.com/org/lib"}}, "version": "v1"}
    return json.dumps({"version": 1, "dependencies": [{**git, **entry}]})


def test_every_key() -> None:
    file = parse(
        """{"version": 1, "legacyImports": false, "unknown": 1, "dependencies": [
        {"source": {"git": {"remote": "https://github.com/org/lib", "subdir": "/sub"}},
         "version": "v1", "sum": "abc=", "single": true, "name": "short"},
        {"source": {"local": {"directory": "../other"}}}]}"""
    )
    first, second = file.dependencies
    assert isinstance(first.source, GitSource)
    assert (first.source.name, first.version, first.sum, first.single) == ("github.com/org/lib/sub", "v1", "abc=", True)
    assert first.legacy_name(FOLDER) == "short"
    assert second == JsonnetDependency(LocalSource("../other"))
    assert (second.package_name(FOLDER), second.legacy_name(FOLDER)) == ("other", "other")
    assert not file.legacy_imports


@pytest.mark.parametrize("text", ["", "  \n", "{}", '{"version": 1}', '{"dependencies": null}', '{"dependencies": []}'])
def test_nothing_required(text: str) -> None:
    assert parse(text) == JsonnetFile((), legacy_imports=True)


def test_the_old_schema_names_legacy_packages() -> None:
    old = with_dependency(name="short").replace('"version": 1, ', "", 1)
    assert parse(old).dependencies[0].name == "short"
    assert parse(with_dependency(name="short").replace('"version": 1', '"version": 0', 1)) == parse(old)


def test_a_repeated_name_keeps_its_position_and_takes_the_last_value() -> None:
    file = parse(with_dependency())
    again = replace(file.dependencies[0], version="v2")
    other = JsonnetDependency(LocalSource("other"))
    declared = JsonnetFile((file.dependencies[0], other, again)).declared(FOLDER)
    assert [(name, value.version) for name, value in declared.items()] == [("github.com/org/lib", "v2"), ("other", "")]


def test_local_names_come_from_the_absolute_folder() -> None:
    assert JsonnetDependency(LocalSource(".")).package_name(FOLDER / "here") == "here"
    assert JsonnetDependency(LocalSource("..")).package_name(FOLDER / "here") == "work"


def test_output_byte_for_byte() -> None:
    file = JsonnetFile(
        (
            JsonnetDependency(LocalSource("dependencies/zoo")),
            *parse(with_dependency(sum="abc=", single=True, name="a<&>b")).dependencies,
        ),
        legacy_imports=False,
    )
    expected = """{
  "version": 1,
  "dependencies": [
    {
      "source": {
        "git": {
          "remote": "https://github.com/org/lib.git",
          "subdir": ""
        }
      },
      "version": "v1",
      "sum": "abc=",
      "single": true,
      "name": "a\\u003c\\u0026\\u003eb"
    },
    {
      "source": {
        "local": {
          "directory": "dependencies/zoo"
        }
      },
      "version": ""
    }
  ],
  "legacyImports": false
}
"""
    assert serialise(file, FOLDER).decode() == expected
    assert parse(serialise(file, FOLDER)).declared(FOLDER) == file.declared(FOLDER)


def test_an_empty_file_byte_for_byte() -> None:
    text = '{\n  "version": 1,\n  "dependencies": [],\n  "legacyImports": true\n}\n'
    assert serialise(JsonnetFile(), FOLDER).decode() == text


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{", "jsonnetfile.json:1:2"),
        ('{"version": 1,\n "dependencies": [}', "jsonnetfile.json:2:19"),
        ("[]", "jsonnetfile.json"),
        ("[" * 100_000, "jsonnetfile.json"),
        (b"\xff{}", "jsonnetfile.json"),
        ('{"dependencies": {}}', "jsonnetfile.json: dependencies"),
        ('{"dependencies": [1]}', "jsonnetfile.json: dependencies[0]"),
        ('{"dependencies": [{}]}', "jsonnetfile.json: dependencies[0].source"),
        ('{"dependencies": [{"source": {}}]}', "jsonnetfile.json: dependencies[0].source"),
        ('{"dependencies": [{"source": {"git": {}, "local": {}}}]}', "jsonnetfile.json: dependencies[0].source"),
        ('{"dependencies": [{"source": {"git": []}}]}', "jsonnetfile.json: dependencies[0].source.git"),
        ('{"dependencies": [{"source": {"local": {}}}]}', "jsonnetfile.json: dependencies[0].source.local"),
        (with_dependency(version=1.0), "jsonnetfile.json: dependencies[0].version"),
        (with_dependency(single="yes"), "jsonnetfile.json: dependencies[0].single"),
        ('{"legacyImports": "no"}', "jsonnetfile.json: legacyImports"),
    ],
)
def test_malformed_files_name_the_place(text: str | bytes, place: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert caught.value.code == "CMD-JB-001"
    assert str(caught.value.locations[0]) == place


@pytest.mark.parametrize("version", ["2", "-1", '"1"', "true", "1.5", "null"])
def test_unknown_schema_versions(version: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(f'{{"version": {version}}}')
    assert caught.value.code == "CMD-JB-002"


def test_a_git_dependency_needs_a_version() -> None:
    with pytest.raises(InputError) as caught:
        parse(with_dependency(version=""))
    assert caught.value.code == "CMD-JB-006"
    assert "github.com/org/lib" in caught.value.message


@pytest.mark.parametrize("name", ["..", "../x", "/x", ".cache", ".cache/x", "a\nb"])
def test_legacy_names_stay_below_vendor(name: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse(with_dependency(name=name))
    assert caught.value.code == "CMD-JB-005"


def test_limits() -> None:
    small = replace(DEFAULT_LIMITS, jsonnetfile_bytes=50, bundle_packages=1)
    for text in (" " * 51, json.dumps({"dependencies": [0, 0]})):
        with pytest.raises(InputError) as caught:
            parse_jsonnetfile(text.encode(), "jsonnetfile.json", small)
        assert caught.value.code == "CMD-JB-003"


def test_reading(tmp_path: Path) -> None:
    path = tmp_path / "jsonnetfile.json"
    path.write_text(with_dependency(), encoding="utf-8")
    assert read_jsonnetfile(path, DEFAULT_LIMITS) == parse(with_dependency())
    path.write_text("{", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_jsonnetfile(path, DEFAULT_LIMITS)
    assert caught.value.locations[0].place == str(path)
    with pytest.raises(CommodoreError):
        read_jsonnetfile(tmp_path / "none.json", DEFAULT_LIMITS)
