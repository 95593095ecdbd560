"""The option `--watch`, in a real process whose output is waited for."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from commodore.base.files.workspace import Workspace
from commodore.base.limits import DEFAULT_LIMITS
from tests.cli.conftest import Shown
from tests.world.cluster import CLASS, ROOT, ClusterWorld

Call = Callable[..., Shown]
PATIENCE = 120


class Watching:
    """A program that watches. Both of its outputs are heard as they come, in one list of lines."""

    def __init__(self, arguments: list[str], directory: Path, environment: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "commodore", *arguments],
            cwd=directory,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._lines: list[str] = []
        self._seen = 0
        self._ended = False
        self._heard = threading.Condition()
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._heard:
                self._lines.append(line.rstrip("\n"))
                self._heard.notify_all()
        with self._heard:
            self._ended = True
            self._heard.notify_all()

    def until(self, text: str) -> list[str]:
        """The next lines up to the first one with this text, which has to come."""

        def position() -> int:
            return next((number for number, line in self._rest() if text in line), -1)

        with self._heard:
            self._heard.wait_for(lambda: self._ended or position() >= 0, timeout=PATIENCE)
            end = position() + 1
            assert end > 0, self._lines
            lines, self._seen = self._lines[self._seen : end], end
            return lines

    def _rest(self) -> Iterator[tuple[int, str]]:
        yield from ((number, self._lines[number]) for number in range(self._seen, len(self._lines)))

    def end(self, number: signal.Signals = signal.SIGINT) -> tuple[int, list[str]]:
        """Everything that a terminal does at Ctrl-C: the exit code, and the lines that nobody has waited for."""
        os.killpg(self.process.pid, number)
        code = self.process.wait(timeout=PATIENCE)
        self._thread.join()
        return code, self._lines[self._seen :]


@contextmanager
def watching(arguments: list[str], directory: Path, **environment: str) -> Iterator[Watching]:
    program = Watching(arguments, directory, environment)
    try:
        yield program
    finally:
        program.process.kill()
        program.process.wait()
        program._thread.join()
        assert program.process.stdout is not None
        program.process.stdout.close()


def test_save_see_break_mend_end(component: Path, tmp_path: Path) -> None:
    """The diff of the manifests, an error that leaves them as they are, what the mended component changes, and a good
    end that leaves nothing behind.
    """
    values, temporary = tmp_path / "values.yml", tmp_path / "tmp"
    values.write_text("parameters: {app: {data: {b: '1'}}}\n")
    temporary.mkdir()
    main = component / "component" / "main.jsonnet"
    arguments = ["component", "compile", str(component), "-f", "values.yml", "-o", "out", "--watch"]
    with watching(arguments, tmp_path, TMPDIR=str(temporary)) as program:
        first = program.until("Waiting for changes")
        assert any("Compiled component app to" in line for line in first)
        assert not any("Manifests:" in line for line in first)

        values.write_text("parameters: {app: {data: {b: '2'}}}\n")
        shown = program.until("Waiting for changes")
        assert f"Changed: {values}" in shown
        assert "Manifests: 1 modified" in shown
        assert "     --- app/app/config.yaml" in shown
        assert "     -  b: '1'" in shown
        assert "     +  b: '2'" in shown

        good = main.read_text()
        main.write_text("error 'no'")
        shown = program.until("Waiting for changes")
        assert "Changed: component/main.jsonnet" in shown
        assert any(line.startswith("error: ") and "no" in line for line in shown)
        assert "b: '2'" in (tmp_path / "out/compiled/app/app/config.yaml").read_text()

        main.write_text(good.replace("config:", "renamed:"))
        shown = program.until("Waiting for changes")
        assert "Manifests: 1 renamed" in shown
        assert "     Renamed file app/app/config.yaml => app/app/renamed.yaml" in shown

        code, rest = program.end()
    assert (code, rest) == (0, ["Ended watching."])
    assert list(temporary.iterdir()) == []


def test_a_module_of_python_is_read_anew(component: Path, tmp_path: Path) -> None:
    """Workers must not remember what an edited kadet input has imported."""
    (component / "class/app.yml").write_text(
        """
parameters:
  kapitan:
    compile:
      - input_paths: ['${_base_directory}/component/kadet']
        input_type: kadet
        output_path: app/
"""
    )
    (component / "component/kadet").mkdir()
    (component / "component/kadet/__init__.py").write_text(
        "import kadet\nfrom .part import NUMBER\n\n"
        "def main():\n    made = kadet.BaseObj()\n    made.root.out.number = NUMBER\n    return made\n"
    )
    part = component / "component/kadet/part.py"
    part.write_text("NUMBER = 1\n")
    with watching(["component", "compile", str(component), "--watch"], tmp_path) as program:
        program.until("Waiting for changes")
        part.write_text("NUMBER = 22\n")
        shown = program.until("Waiting for changes")
        assert "     -number: 1" in shown
        assert "     +number: 22" in shown


def test_what_is_saved_during_a_run_leads_to_another_one(component: Path, tmp_path: Path) -> None:
    defaults = component / "class/defaults.yml"
    text = defaults.read_text()
    with watching(["component", "compile", str(component), "--watch"], tmp_path) as program:
        program.until("Compiling …")
        defaults.write_text(text.replace("'1'", "'2'"))
        program.until("Changed: class/defaults.yml")
        program.until("Waiting for changes")
        assert "a: '2'" in (tmp_path / "compiled/app/app/config.yaml").read_text()


def test_for_machines(component: Path, tmp_path: Path) -> None:
    """Every line is an object: what has changed, errors, and of each run what is different in the manifests."""
    main = component / "component" / "main.jsonnet"
    text = main.read_text()
    arguments = ["--log-format", "json", "component", "compile", str(component), "--watch"]
    with watching(arguments, tmp_path) as program:
        lines = program.until("Waiting for changes")
        main.write_text("error 'no'")
        lines += program.until('"event": "Error"')
        main.write_text(text.replace("kind: 'ConfigMap'", "kind: 'Secret'"))
        program.until("SourcesChanged")
        events: list[dict[str, Any]] = [json.loads(line) for line in program.until("Waiting for changes")]
        (told,) = (event for event in events if "changes" in event)
        assert told["sources"] == ["component/main.jsonnet"]
        assert [item["new_path"] for item in told["changes"]] == ["app/app/config.yaml"]
        assert "+kind: Secret" in told["lines"]
        code, rest = program.end(signal.SIGTERM)
    assert code == 0
    assert [json.loads(line)["event"] for line in [*lines, *rest]]


@pytest.fixture
def world(tmp_path: Path) -> ClusterWorld:
    made = ClusterWorld(tmp_path)
    made.component("app", data={"a": "1"})
    made.component("other", data={"a": "1"})
    assert made.compile("--push").code == 0
    return made


def test_a_catalog(world: ClusterWorld, tmp_path: Path) -> None:
    """Classes and components; what is staged for the catalog's next commit is not what is shown, only the last edit;
    the working directory is free for others between two runs.
    """
    workspace = Workspace.at(world.work)
    arguments = ["-d", str(world.work), "catalog", "compile", world.name, "--local", "--watch"]
    tenant = workspace.tenant_config(world.tenant) / f"{world.name}.yml"
    with watching(arguments, tmp_path, **world.environment) as program:
        first = program.until("Waiting for changes")
        assert "The catalog has not changed." in first

        tenant.write_text("parameters: {app: {data: {a: '2'}}}\n")
        shown = program.until("Waiting for changes")
        assert f"Changed: inventory/classes/{world.tenant}/{world.name}.yml" in shown
        assert "     +  a: '2'" in shown
        assert not [line for line in shown if "other" in line]

        with workspace.locked(DEFAULT_LIMITS):
            pass
        other = world.run(*arguments[:-1], "--processes", "1")
        assert other.code == 0, other.stderr
        program_is_quiet(program)

        main = workspace.component("other") / "component" / "main.jsonnet"
        main.write_text(main.read_text().replace("ConfigMap", "Secret"))
        shown = program.until("Waiting for changes")
        assert "Changed: dependencies/other/component/main.jsonnet" in shown
        assert "     +kind: Secret" in shown
        assert not [line for line in shown if "a: '2'" in line and line.startswith("     +")]
        code, _ = program.end()
    assert code == 0
    assert [path.name for path in workspace.state.iterdir() if path.name.endswith(".staging")] == []


def test_objects_of_a_catalog(world: ClusterWorld, tmp_path: Path) -> None:
    arguments = ["-d", str(world.work), "catalog", "compile", world.name, "--local", "--watch", "--diff", "objects"]
    tenant = Workspace.at(world.work).tenant_config(world.tenant) / f"{world.name}.yml"
    with watching(arguments, tmp_path, **world.environment) as program:
        program.until("Waiting for changes")
        tenant.write_text("parameters: {app: {data: {a: '2'}}}\n")
        shown = program.until("Waiting for changes")
        assert shown[-7:-1] == [
            "     1 changed",
            "",
            "     ~ ConfigMap app",
            "         data.a",
            "         - 1",
            "         + 2",
        ]
        program.end()


def test_a_catalog_whose_files_are_read_from_elsewhere(world: ClusterWorld, tmp_path: Path) -> None:
    """A file in the root that takes the place of another one, also of one that nobody has found; and a mode."""
    work = world.work
    files = {
        "component/main.jsonnet": "{ out: { text: std.length(importstr 'lib/kube.libsonnet') } }",
        "component/script.sh": "#!/bin/sh",
        "class/read.yml": CLASS + COPIED,
    }
    world.component("read", files)
    assert world.compile("--push").code == 0
    arguments = ["-d", str(work), "catalog", "compile", world.name, "--local", "--watch"]
    with watching(arguments, tmp_path, **world.environment) as program:
        program.until("Waiting for changes")

        (work / "lib").mkdir()
        (work / "lib/kube.libsonnet").write_text("mine")
        shown = program.until("Waiting for changes")
        assert "Changed: lib/kube.libsonnet" in shown
        assert "     +text: 4" in shown

        (work / "dependencies/read/component/script.sh").chmod(0o755)
        program.until("Changed: dependencies/read/component/script.sh")
        program.until("Waiting for changes")
        assert os.access(work / "catalog/manifests/read/script.sh", os.X_OK)

        (work / "dependencies/read/component/main.jsonnet").write_text("import 'lib/none.libsonnet'")
        assert any("lib/none.libsonnet" in line for line in program.until("Waiting for changes"))
        (work / "lib/none.libsonnet").write_text("{ out: { text: 'found' } }")
        shown = program.until("Waiting for changes")
        assert "Changed: lib/none.libsonnet" in shown
        assert "     +text: found" in shown
        code, _ = program.end()
    assert code == 0


COPIED = """\
      - input_paths: ['${_base_directory}/component/script.sh']
        input_type: copy
        output_path: ${_instance}/
"""


def program_is_quiet(program: Watching) -> None:
    """It has said nothing since: another run with the same sources changes none of them."""
    assert list(program._rest()) == []


def test_a_typing_error_is_the_end(world: ClusterWorld, tmp_path: Path) -> None:
    """No edit of the watched files mends another cluster's name, or a folder in which nothing was compiled."""
    for folder, name in ((world.work, "c-other"), (tmp_path / "gone", world.name)):
        result = world.run("-d", str(folder), "catalog", "compile", name, "--local", "--watch")
        assert result.code == 1
        assert result.stderr.startswith("error: ")
        assert "Waiting" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--local", "--push"], "CMD-CLI-080"),
        ([], "CMD-CLI-081"),
        (["--offline"], "CMD-CLI-081"),
        (["--local", "--profile", "trace.json"], "CMD-CLI-082"),
    ],
)
def test_options_that_do_not_go_together(call: Call, tmp_path: Path, arguments: list[str], code: str) -> None:
    status, _, shown = call("-d", str(tmp_path), "catalog", "compile", "c-one", "--watch", *arguments)
    assert status == 2
    assert code in shown
    assert list(tmp_path.iterdir()) == []


def test_a_component_is_not_traced_while_it_is_watched(call: Call, component: Path) -> None:
    status, _, shown = call("component", "compile", str(component), "--watch", "--profile", "trace.json")
    assert status == 2
    assert "CMD-CLI-082" in shown
