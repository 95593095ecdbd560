"""Rendering jsonnetfile.jsonnet."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault, Findings, InputError, PolicyError
from commodore.base.events import Event, Warned
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.dependencies.bundle import JsonnetFile, Requirer, effective_jsonnetfiles
from tests.core.dependencies.bundle.conftest import document, git, parsed
from tests.world.context import make_context
from tests.world.folders import write_files
from tests.world.repos import git as run_git

TEMPLATE = """
local lib = import 'lib.libsonnet';
{ version: 1, dependencies: [lib.git(std.extVar('name'), std.extVar('version'))] }
"""
LIBRARY = """
{ git(name, version): {
  source: { git: { remote: 'https://git.example.com/org/' + name + '.git', subdir: '' } }, version: version,
} }
"""


def effective(
    folder: Path, variables: Mapping[str, object], collected: list[Event] | None = None
) -> JsonnetFile | None:
    announce = (collected if collected is not None else []).append
    (result,) = effective_jsonnetfiles([Requirer("foo", folder, variables)], make_context(announce=announce))
    return result


@pytest.mark.requirement("C46", "C47")
def test_every_parameter_is_an_external_variable(tmp_path: Path) -> None:
    """The result is not written into the checkout, which stays clean."""
    folder = write_files(tmp_path / "foo", {"jsonnetfile.jsonnet": TEMPLATE, "lib.libsonnet": LIBRARY})
    assert effective(folder, {"name": "lib", "version": "v1", "unused": ""}) == parsed(git("lib", "v1"))
    assert sorted(path.name for path in folder.iterdir()) == ["jsonnetfile.jsonnet", "lib.libsonnet"]


@pytest.mark.requirement("C48")
@pytest.mark.parametrize(("value", "shown"), [(1.2, "1.2"), (None, "null"), ({"a": 1}, '{"a": 1}'), (True, "true")])
def test_a_variable_that_is_no_string(tmp_path: Path, value: object, shown: str) -> None:
    folder = write_files(tmp_path / "foo", {"jsonnetfile.jsonnet": TEMPLATE, "lib.libsonnet": LIBRARY})
    with pytest.raises(InputError) as caught:
        effective(folder, {"name": "lib", "version": value})
    assert caught.value.code == "CMD-JB-020"
    assert "jsonnetfile_parameters.version of component foo" in caught.value.message
    assert shown in caught.value.message


def test_a_missing_variable(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "foo", {"jsonnetfile.jsonnet": TEMPLATE, "lib.libsonnet": LIBRARY})
    with pytest.raises(InputError) as caught:
        effective(folder, {"name": "lib"})
    assert caught.value.code == "CMD-JB-021"
    assert "Undefined external variable: version" in caught.value.message
    assert "jsonnetfile_parameters.version" in caught.value.hint
    assert str(caught.value.locations[0]) == f"{folder / 'jsonnetfile.jsonnet'}:3:58"


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("{\n a: 1", "Expected a comma before next field", ":2:6"),
        ("{\n a: error 'no \\u0007way',\n}", "no way", ":2:5"),
        ("import 'none'", "cannot be read", ":1:1"),
        ("import '../secret.libsonnet'", "is outside", ":1:1"),
        ("importstr '/etc/hostname'", "is outside", ":1:1"),
        ("import 'link'", "is outside", ":1:1"),
        ("local f(x) = f(x + 1); f(1)", "max stack frames exceeded", ":1:14"),
    ],
)
def test_what_cannot_be_evaluated(tmp_path: Path, text: str, message: str, place: str) -> None:
    folder = write_files(tmp_path / "foo bar", {"jsonnetfile.jsonnet": text, "../secret.libsonnet": "'secret'"})
    (folder / "link").symlink_to("../secret.libsonnet")
    with pytest.raises(InputError) as caught:
        effective(folder, {})
    assert caught.value.code == "CMD-JB-021"
    assert message in caught.value.message
    assert caught.value.message.isprintable()
    assert str(caught.value.locations[0]) == f"{folder / 'jsonnetfile.jsonnet'}{place}"


def test_a_result_that_is_no_jsonnetfile(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "foo", {"jsonnetfile.jsonnet": "[1, 2]"})
    with pytest.raises(InputError) as caught:
        effective(folder, {})
    assert caught.value.code == "CMD-JB-001"


def test_an_evaluation_without_end(tmp_path: Path) -> None:
    text = "local f(x) = std.foldl(function(a, b) a + b, std.range(1, 9999), x); std.map(f, std.range(1, 999999))"
    folder = write_files(tmp_path / "foo", {"jsonnetfile.jsonnet": text})
    limits = replace(DEFAULT_LIMITS, jsonnetfile_timeout=0.3)
    with pytest.raises(EnvironmentFault) as caught:
        effective_jsonnetfiles([Requirer("foo", folder)], make_context(limits=limits))
    assert caught.value.code == "CMD-JB-022"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound memory like this")
def test_an_evaluation_that_grows(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {"jsonnetfile.jsonnet": "std.length(std.range(1, 1000000000))"})
    limits = replace(DEFAULT_LIMITS, jsonnetfile_memory=256 << 20)
    with pytest.raises(EnvironmentFault, match="takes more than 268435456 bytes of memory") as caught:
        effective_jsonnetfiles([Requirer("foo", folder)], make_context(limits=limits))
    assert caught.value.code == "CMD-JB-022"


def test_many_components_at_once(tmp_path: Path) -> None:
    first = write_files(tmp_path / "one", {"jsonnetfile.jsonnet": TEMPLATE, "lib.libsonnet": LIBRARY})
    two = write_files(tmp_path / "two", {"jsonnetfile.json": document(git("lib", "v2"))})
    three = write_files(tmp_path / "three", {"README": "nothing"})
    files = effective_jsonnetfiles(
        [Requirer("one", first, {"name": "a", "version": "b"}), Requirer("two", two), Requirer("three", three)],
        make_context(),
    )
    assert files == [parsed(git("a", "b")), parsed(git("lib", "v2")), None]
    assert effective_jsonnetfiles([], make_context()) == []


def test_all_problems_are_reported_together(tmp_path: Path) -> None:
    first = write_files(tmp_path / "one", {"jsonnetfile.jsonnet": "error 'x'"})
    two = write_files(tmp_path / "two", {"jsonnetfile.json": "{"})
    with pytest.raises(Findings) as caught:
        effective_jsonnetfiles([Requirer("one", first), Requirer("two", two)], make_context())
    assert [error.code for error in caught.value.errors] == ["CMD-JB-021", "CMD-JB-001"]


@pytest.mark.parametrize("name", ["jsonnetfile.jsonnet", "jsonnetfile.json"])
def test_a_file_that_is_a_link_out_of_the_repository(tmp_path: Path, name: str) -> None:
    folder = write_files(tmp_path / "foo", {"../outside": "{}"})
    (folder / name).symlink_to("../outside")
    with pytest.raises(PolicyError) as caught:
        effective(folder, {})
    assert caught.value.code == "CMD-JB-010"


def test_a_tracked_jsonnetfile_json_beside_it_is_warned_about(tmp_path: Path) -> None:
    """Rendering over a tracked file made the checkout dirty, so that the next run aborted."""
    files = {"jsonnetfile.jsonnet": "{ version: 1 }", "jsonnetfile.json": document(git("lib", "v1"))}
    folder = write_files(tmp_path / "foo", files)
    collected: list[Event] = []
    assert effective(folder, {}, collected) == JsonnetFile()
    assert collected == [], "left over by another tool, not part of a repository"
    run_git(folder, "init", "--quiet")
    run_git(folder, "add", ".")
    assert (effective(folder, {}, collected), collected) == (JsonnetFile(), [])
    run_git(folder, "commit", "--quiet", "--message=x")
    assert effective(folder, {}, collected) == JsonnetFile()
    assert [event.code for event in collected if isinstance(event, Warned)] == ["CMD-JB-023"]
    assert run_git(folder, "status", "--porcelain") == ""


def test_go_is_not_started_in_this_process(tmp_path: Path) -> None:
    """Workers are forked later, and the Go runtime must not have been started then."""
    write_files(tmp_path / "foo", {"jsonnetfile.jsonnet": "{ version: 1 }"})
    script = (
        "import sys; from pathlib import Path;"
        "from commodore.core.dependencies.bundle import Requirer, effective_jsonnetfiles;"
        "from tests.world.context import make_context;"
        f"effective_jsonnetfiles([Requirer('foo', Path({str(tmp_path / 'foo')!r}), {{}})], make_context());"
        "sys.exit('_gojsonnet' in sys.modules)"
    )
    root = Path(__file__).resolve().parents[4]
    assert subprocess.run([sys.executable, "-c", script], cwd=root, check=False).returncode == 0


def test_the_surroundings_do_not_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path / "evil", {"_gojsonnet.py": "raise SystemExit('evil')", "json.py": "raise SystemExit('evil')"})
    folder = write_files(tmp_path / "foo", {"jsonnetfile.jsonnet": "{ version: 1 }"})
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "evil"))
    monkeypatch.chdir(tmp_path / "evil")
    assert effective(folder, {}) == JsonnetFile()
