"""Anything that is scarce is for whoever runs the machine, wherever it was noticed."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError, EnvironmentFault, Findings, InputError
from commodore.base.exhaustion import find_exhaustion, find_in_output, hint_for, judge, refusal
from tests.world.cluster import CLASS, ROOT, ClusterWorld, Result

SCARCE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EROFS)


def raised(error: BaseException, cause: BaseException | None) -> BaseException:
    """The error as it comes out of a `raise ... from`."""
    try:
        raise error from cause
    except BaseException as caught:
        return caught


@pytest.mark.parametrize("number", SCARCE)
def test_an_error_of_the_operating_system(number: int) -> None:
    error = OSError(number, os.strerror(number), "/some/file")
    for result in (
        find_exhaustion(error, "instance 'a'"),
        find_exhaustion(raised(ValueError("x"), error), "instance 'a'"),
    ):
        assert result is not None
        assert result.message == f"instance 'a': cannot use /some/file: {os.strerror(number)}"
        assert "what was there before is unchanged" in result.hint
        assert [place.place for place in result.locations] == ["/some/file"]
    assert hint_for(error) == result.hint


def test_memory() -> None:
    exhaustion = find_exhaustion(MemoryError())
    assert exhaustion is not None
    assert (exhaustion.code, exhaustion.exit_code) == ("CMD-WORK-006", 3)
    assert find_exhaustion(RuntimeError("can't start new thread")) is not None


@pytest.mark.parametrize(
    "error",
    [FileNotFoundError(2, "No such file", "x"), ValueError("No space left on device"), IsADirectoryError(21, "")],
)
def test_other_errors_are_none(error: Exception) -> None:
    assert find_exhaustion(error) is None
    assert refusal(error) is None


def test_what_nobody_expected_to_be_refused() -> None:
    result = refusal(PermissionError(errno.EACCES, "Permission denied", "/x"))
    assert result is not None
    assert result.message == "cannot use /x: Permission denied"
    assert find_exhaustion(PermissionError(errno.EACCES, "Permission denied", "/x")) is None


def test_errors_are_judged_by_what_they_were_raised_from() -> None:
    wrong = InputError("CMD-X-001", "the file cannot be read")
    assert judge(wrong) is wrong
    judged = judge(_error(raised(wrong, OSError(errno.EIO, "Input/output error", "/x"))))
    assert isinstance(judged, EnvironmentFault)
    fault = EnvironmentFault("CMD-X-002", "known")
    assert judge(_error(raised(fault, OSError(errno.EIO, "")))) is fault
    findings = Findings([wrong])
    assert judge(findings) is findings


def _error(error: BaseException) -> CommodoreError:
    assert isinstance(error, CommodoreError)
    return error


@pytest.mark.parametrize(
    "text",
    [
        "fatal: write error: No space left on device",
        "error: unable to create temporary file: Too many open files\nfatal: failed to write",
        "Error: open /x: file too large",
        "fatal error: runtime: out of memory",
        "fatal: Out of memory, malloc failed (tried to allocate 8 bytes)",
        "sh: 1: Cannot fork: Resource temporarily unavailable",
        "reading /x: Input/output error (os error 5)",
    ],
)
def test_what_tools_say(text: str) -> None:
    assert find_in_output(text) is not None


@pytest.mark.parametrize(
    "text", ["Error: the value 'No space left on device' is wrong", "the alert fires when a node is out of memory", ""]
)
def test_what_others_say(text: str) -> None:
    assert find_in_output(text) is None


# Whole runs


def compile_limited(world: ClusterWorld, which: int, value: int) -> Result:
    """Compile and push, with a limit of the operating system for the program and all that it starts."""
    world.publish()
    done = subprocess.run(
        [sys.executable, "-m", "commodore", *world.command("--push", "--no-cache")],
        cwd=world.root,
        env={**os.environ, "PYTHONPATH": str(ROOT), **world.environment},
        preexec_fn=lambda: resource.setrlimit(which, (value, value)),
        capture_output=True,
        text=True,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


FILTER = """
      - input_paths: ['${_base_directory}/chart']
        input_type: helm
        output_path: ${_instance}/helm
        helm_params: {name: x}
        helm_values: {size: %d}
  commodore:
    postprocess:
      filters: [{type: jsonnet, path: '${_instance}', filter: f.jsonnet}]
"""


def component(filtered: int, rendered: int) -> dict[str, str]:
    """A component with a filter and a chart that write so many bytes."""
    return {
        "class/app.yml": CLASS + FILTER % rendered,
        "f.jsonnet": f"{{ filtered: {{ x: std.repeat('x', {filtered}) }} }}",
        "chart/Chart.yaml": "{apiVersion: v2, name: chart, version: 1.0.0}\n",
        "chart/templates/a.yaml": 'x: {{ repeat (int .Values.size) "x" }}\n',
    }


@pytest.mark.parametrize(("filtered", "rendered"), [(300_000, 1), (1, 300_000)], ids=["filter", "helm"])
def test_a_file_that_cannot_be_written(world: ClusterWorld, filtered: int, rendered: int) -> None:
    """Within a filter it was called a bug, within helm the chart's fault."""
    world.component("app", component(1, 1))
    assert world.compile("--push").code == 0
    before = world.tree()
    world.remotes["app"].commit(component(filtered, rendered))
    done = compile_limited(world, resource.RLIMIT_FSIZE, 150_000)
    assert (done.code, done.error["code"]) == (3, "CMD-WORK-003"), done.stderr
    assert "instance 'app'" in done.error["message"]
    assert "file too large" in done.error["message"].lower()
    assert world.tree() == before
    again = world.compile("--push")
    assert again.code == 0, again.stderr
    assert world.tree() != before


@pytest.mark.parametrize("number", [12, 16])
def test_too_many_open_files(world: ClusterWorld, number: int) -> None:
    world.component("app")
    done = compile_limited(world, resource.RLIMIT_NOFILE, number)
    assert done.code == 3, done.stderr
    assert world.compile("--push").code == 0


@pytest.mark.parametrize("megabytes", [250, 400])
def test_little_memory(world: ClusterWorld, megabytes: int) -> None:
    """However far a run comes, it ends with a fault of the environment, and the next one is as usual."""
    world.component("app")
    done = compile_limited(world, resource.RLIMIT_AS, megabytes << 20)
    assert done.code == 3, done.stderr
    assert world.compile("--push").code == 0


@pytest.fixture
def world(tmp_path: Path) -> ClusterWorld:
    return ClusterWorld(tmp_path)


def nested_too_deep() -> None:
    nested_too_deep()


@pytest.mark.parametrize(
    ("attempt", "code", "words"),
    [
        (lambda: Path("x" * 300).stat(), "CMD-WORK-008", f"'{'x' * 120}… (180 more characters)' is too long"),
        (lambda: Path("/".join(["abc"] * 1300)).stat(), "CMD-WORK-008", "is too long for the name of a file"),
        (lambda: Path("a\0b").stat(), "CMD-WORK-008", "has a NUL character"),
        (lambda: Path("a\ud800b").stat(), "CMD-WORK-008", r"'a\ud800b' has a half of a character"),
        (lambda: subprocess.run(["true", "a\0b"]), "CMD-WORK-008", "has a NUL character"),
        (nested_too_deep, "CMD-WORK-009", "too deep nesting"),
        (lambda: int("9" * 5000), "CMD-WORK-010", "more than 4,300 digits"),
    ],
    ids=["name", "path", "nul", "surrogate", "argument", "depth", "digits"],
)
def test_what_no_program_can_work_with(attempt: Callable[[], object], code: str, words: str) -> None:
    """It is for whoever has written it, not a bug."""
    with pytest.raises((OSError, ValueError, RecursionError)) as caught:
        attempt()
    for error in (caught.value, raised(RuntimeError("x"), caught.value)):
        result = refusal(error, "instance 'a'")
        assert result is not None
        assert (result.code, result.exit_code, bool(result.hint)) == (code, 1, True)
        assert result.message.startswith("instance 'a': ")
        assert words in result.message
    assert refusal(raised(InputError("CMD-X-001", "said already"), caught.value)) is None
