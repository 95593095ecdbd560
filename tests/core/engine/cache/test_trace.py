"""The recorded inputs are the used ones, also if files change while they are read."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.confinement import Confinement, Roots
from commodore.core.engine.cache.portable_paths import PortablePaths
from commodore.core.engine.cache.trace import TraceRecorder
from commodore.core.engine.kapitan import jsonnet_natives
from commodore.core.engine.kapitan.context import CurrentWork, SearchPaths, working
from commodore.core.render.tool_identity import Programs


@pytest.fixture
def reads(tmp_path: Path) -> TraceRecorder:
    programs = Programs({"PATH": str(tmp_path / "bin")}, tmp_path, None, DEFAULT_LIMITS)
    return TraceRecorder("app", PortablePaths({"root": tmp_path}, ()), programs)


def test_a_file_that_is_changed_and_restored_while_somebody_reads_it(reads: TraceRecorder, tmp_path: Path) -> None:
    """The content is the same before and after, but not meanwhile."""
    file = tmp_path / "chart" / "values.yaml"
    file.parent.mkdir()
    file.write_text("a: 1\n")
    for note in (lambda: reads.tree(str(file.parent)), lambda: reads.file(str(file))):
        reads.refusal = ""
        note()
        note()
        assert reads.refusal == ""
        file.write_text("a: 2\n")
        file.write_text("a: 1\n")
        note()
        assert reads.refusal.endswith("changed while it was read")


def test_a_file_that_comes_and_goes_while_a_folder_is_read(reads: TraceRecorder, tmp_path: Path) -> None:
    (tmp_path / "chart").mkdir()
    reads.tree(str(tmp_path / "chart"))
    (tmp_path / "chart" / "new").touch()
    (tmp_path / "chart" / "new").unlink()
    reads.tree(str(tmp_path / "chart"))
    assert reads.refusal


def test_a_file_that_appears_after_it_was_looked_for(reads: TraceRecorder, tmp_path: Path) -> None:
    """Whoever looked has not seen it, so its content is not what was found."""
    reads.absent(str(tmp_path / "one"))
    assert (reads.refusal, reads.conclude()) == ("", {("file", "root:one"): "missing"})
    (tmp_path / "two").write_text("text")
    reads.absent(str(tmp_path / "two"))
    assert reads.refusal


def test_a_program_that_is_replaced_while_it_is_used(reads: TraceRecorder, tmp_path: Path) -> None:
    helm = tmp_path / "bin" / "helm"
    helm.parent.mkdir()
    helm.write_bytes(b"\x7fELF one")
    helm.chmod(0o755)
    reads.program("helm")
    reads.conclude()
    assert reads.refusal == ""
    helm.write_bytes(b"\x7fELF two")
    reads.conclude()
    assert reads.refusal == "the program helm changed while it was used"


def test_all_targets_are_all_names_and_values_and_how_others_are_compiled(reads: TraceRecorder) -> None:
    """Of others, which no other run has at the same place."""
    nodes = {"app": {"parameters": {"a": 1}}, "other": {"parameters": {"b": 2}}}
    reads.everything(nodes)
    assert reads.refusal == "a template reads the Kapitan settings of other"
    kinds = [key[0] for key in reads.conclude()]
    assert (kinds.count("value"), "root" in kinds) == (2, True)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("std.length(i.parameters)", ["parameters", "app", "more"]),
        ("i.parameters.app.x", []),
        ("std.length(i.parameters.app)", ["app"]),
    ],
)
def test_names_count_if_a_template_can_see_them(
    reads: TraceRecorder, tmp_path: Path, text: str, names: list[str]
) -> None:
    """Handed out are the parameters and the fields of one; which of their names count, the Jsonnet text decides."""
    node = {"parameters": {"app": {"x": 1}, "more": {"y": 2}}}
    for key in ("", "app", "more"):
        reads.touched("app", node, key)
    reads.jsonnet(
        str(tmp_path / "main.jsonnet"), f"local i = (import 'lib/kapitan.libjsonnet').inventory(); {text}".encode()
    )
    assert [key[-1] for key in reads.conclude() if key[0] == "names"] == names


def test_what_is_written_outside_is_kept_with_its_mode(reads: TraceRecorder, tmp_path: Path) -> None:
    """The instance's own files are no reads."""
    file = tmp_path / "nearby" / "file"
    file.parent.mkdir()
    file.write_text("mine")
    file.chmod(0o640)
    reads.written(str(file.parent))
    reads.written(str(file))
    assert reads.outside() == (("root:nearby/file", 0o640, b"mine"),)
    assert (reads.wrote(str(file)), reads.wrote(str(tmp_path / "other"))) == (True, False)
    reads.file(str(file))
    assert {key[1] for key in reads.conclude()} == {"root:nearby", "root:nearby/file"}


@pytest.fixture(scope="module")
def opened() -> list[str]:
    """The files that this process opens. Such a hook stays for as long as the process."""
    names: list[str] = []
    sys.addaudithook(lambda event, arguments: names.append(str(arguments[0])) if event == "open" else None)
    return names


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("x.yml", jsonnet_natives._yaml_load),
        ("x.yml", jsonnet_natives._yaml_load_stream),
        ("x.txt", jsonnet_natives._read_file),
        ("x.txt", lambda search, name: jsonnet_natives.search_import(search[0], name, search)),
    ],
    ids=["yaml_load", "yaml_load_stream", "file_read", "import"],
)
def test_files_of_templates_are_read_once(
    reads: TraceRecorder,
    opened: list[str],
    tmp_path: Path,
    name: str,
    read: Callable[[SearchPaths, str], object],
) -> None:
    """The recorded bytes are the ones that the template gets: a second read could return another file."""
    (tmp_path / name).write_text("a: 1")
    confinement = Confinement(tmp_path / "out", Roots(read=(tmp_path,)), DEFAULT_LIMITS)
    nothing: Any = None
    work = CurrentWork(
        nothing, confinement, "app", {}, DEFAULT_LIMITS, reads, [], nothing, nothing, nothing, (), nothing
    )
    opened.clear()
    with working(work):
        read(SearchPaths([str(tmp_path)], str(tmp_path / "work")), name)
    assert opened.count(str(tmp_path / name)) == 1
    assert reads.digests["file", f"root:{name}"] == hashlib.sha256(b"a: 1").hexdigest()


def test_what_is_installed_needs_no_record(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    programs = Programs({"PATH": str(tmp_path / "bin")}, tmp_path, None, DEFAULT_LIMITS)
    reads = TraceRecorder("app", PortablePaths({}, (), (tmp_path,)), programs)
    path = str(tmp_path / "file")
    reads.file(path)
    reads.file(path, b"")
    reads.absent(path)
    reads.written(path)
    assert reads.kind(path) == "file"
    reads.tree(str(tmp_path))
    assert reads.pattern(str(tmp_path), "*") == [path]
    assert reads.conclude() == {}


def test_code_that_asks_for_anything_sees_where_the_working_directory_is(reads: TraceRecorder, tmp_path: Path) -> None:
    reads.jsonnet(str(tmp_path / "a.jsonnet"), b"{}")
    first = reads.conclude()
    reads.jsonnet(str(tmp_path / "a.jsonnet"), b"std.native('commodore_fields')('a', true, 'parameters', null)")
    assert {key[0] for key in reads.conclude().keys() - first.keys()} == {"root"}
