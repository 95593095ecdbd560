"""What is noted is what was used, whatever happens to files while somebody reads them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commodore.engine.cache.portable_paths import PortablePaths
from commodore.engine.cache.tool_identity import Programs
from commodore.engine.cache.trace import TraceRecorder
from commodore.limits import DEFAULT_LIMITS
from tests.engine.world import World, jsonnet


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


@contextmanager
def answering(path: Path, first: str, later: str) -> Iterator[None]:
    """A file with other content for whoever reads it a second time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    path.with_name("later").write_text(later, encoding="utf-8")

    def answer() -> None:
        with open(path, "w", encoding="utf-8") as file:  # waits for somebody who reads
            path.with_name("later").replace(path)
            file.write(first)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield
    finally:
        if path.is_fifo():  # nobody has read it
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        thread.join()


@pytest.mark.parametrize(
    ("template", "name", "first", "second", "expected"),
    [
        ("std.native('yaml_load')('app/x.yml')", "x.yml", "a: 1", "a: 2", '"{\\"a\\": 1}"'),
        ("std.native('yaml_load_stream')('app/x.yml')", "x.yml", "a: 1", "a: 2", '"[{\\"a\\": 1}]"'),
        ("std.native('file_read')('app/x.txt')", "x.txt", "one", "two", "one"),
        ("importstr 'app/x.txt'", "x.txt", "one", "two", "one"),
        (None, "main.jsonnet", "{ out: { a: 'one' } }", "{ out: { a: 'two' } }", "one"),
    ],
)
def test_files_of_templates_are_read_once(
    world: World, template: str | None, name: str, first: str, second: str, expected: str
) -> None:
    """What is noted are the very bytes that the template gets: a second look could see another file."""
    world.add("app", jsonnet("app/main.jsonnet"))
    if template is not None:
        world.write("dependencies/app/main.jsonnet", f"{{ out: {{ a: {template} }} }}")
    with answering(world.root / "dependencies" / "app" / name, first, second):
        world.compile()
    assert expected.strip('"').replace('\\"', '"') in world.read("app/out.yaml")
