"""The option `--profile`: a trace of a run, however it ends, and its slowest instances."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commodore.cli.shell.console import Console
from commodore.cli.shell.profile_options import _table, profiled
from commodore.cli.shell.stage_profile import InstanceTime
from tests.cli.conftest import Shown
from tests.cli.shell.test_stage_profile import assert_nested
from tests.world.cluster import ClusterWorld

Call = Callable[..., Shown]


@pytest.fixture
def world(tmp_path: Path) -> ClusterWorld:
    made = ClusterWorld(tmp_path)
    made.component("app", data={"a": "1"}, metadata={"multi_instance": True})
    made.applications.append("app as other")
    return made


def spans(file: Path) -> list[dict[str, Any]]:
    events = json.loads(file.read_text())["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X"}
    results = [event for event in events if event["ph"] == "X"]
    assert_nested(results)
    return results


def names(file: Path, kind: str) -> list[str]:
    return [span["name"] for span in spans(file) if span["cat"] == kind]


def test_the_trace_of_a_catalog(world: ClusterWorld, tmp_path: Path) -> None:
    """Stages, repositories, instances with their parts; and the times of the instances for machines."""
    trace = tmp_path / "trace.json"
    trace.write_text("of the last run")
    result = world.compile("--profile", str(trace))
    assert result.code == 0
    assert names(trace, "run") == ["commodore catalog compile c-one"]
    assert {"fetching components", "compiling", "assembling the catalog"} <= set(names(trace, "stage"))
    assert world.remotes["app"].url in names(trace, "fetch")
    assert sorted(names(trace, "compile")) == ["app", "other"]
    assert names(trace, "part").count("render") == 2
    assert not [span for span in spans(trace) if span["args"].get("unfinished")]
    (told,) = (event for event in result.events if event["event"] == "Profiled")
    assert (told["file"], told["instances"]) == (str(trace), 2)
    assert {item["instance"] for item in told["slowest"]} == {"app", "other"}
    assert all(item["total"] >= item["render"] > 0 for item in told["slowest"])


def test_a_run_without_the_option_tells_nothing_more(world: ClusterWorld) -> None:
    events = {event["event"] for event in world.compile().events}
    assert "StageStarted" in events
    assert events & {"Profiled", "TaskBegun", "TaskEnded"} == set()


def test_the_trace_of_an_interrupted_run(world: ClusterWorld, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    running = world.start("--profile", str(trace))
    assert running.wait_for("fetching components")
    running.signal_group(signal.SIGINT)
    assert running.finish().code == 130
    assert "fetching configuration" in names(trace, "stage")
    assert [span for span in spans(trace) if span["args"].get("unfinished")]


def test_the_trace_of_a_failed_run(world: ClusterWorld, tmp_path: Path) -> None:
    world.remotes["app"].commit({"component/main.jsonnet": "error 'no'"})
    trace = tmp_path / "trace.json"
    result = world.compile("--profile", str(trace))
    assert result.code == 1
    failed = {span["name"]: span["args"] for span in spans(trace) if span["cat"] in ("compile", "stage")}
    assert failed["app"]["failed"] is True
    assert failed["compiling"]["unfinished"] is True


@pytest.fixture
def component(world: ClusterWorld, tmp_path: Path) -> Path:
    """The folder of a component with a test case."""
    folder = tmp_path / "component-app"
    files = {**ClusterWorld.component_files("app", {"a": "1"}), "tests/defaults.yml": "{}\n", "tests/more.yml": "{}\n"}
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(str(content))
    return folder


def test_slowest_instances_for_people(call: Call, component: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    words = ["component", "compile", str(component), "-o", str(tmp_path / "out"), "--profile", str(trace)]
    code, out, err = call(*words)
    assert (code, out) == (0, "")
    lines = err.splitlines()
    place = lines.index("Instances, in seconds:")
    assert lines[place + 1].split() == ["total", "fetch", "render", "filter", "instance"]
    assert lines[place + 2].split()[-1] == "app"
    assert f"Trace: {trace} (open it in https://ui.perfetto.dev or chrome://tracing)" in lines
    assert names(trace, "run") == ["commodore component compile app"]
    code, _, err = call("-q", *words)
    assert (code, err) == (0, "")


def test_the_last_line_of_a_component_has_the_time(call: Call, component: Path, tmp_path: Path) -> None:
    end = call("component", "compile", str(component), "-o", str(tmp_path / "out"))[2].splitlines()[-1]
    assert re.fullmatch(r"Compiled component app to \S+ in \d+\.\d s", end)


def test_instances_of_one_name_are_told_apart(call: Call, component: Path, tmp_path: Path) -> None:
    """Each test case compiles the same instance."""
    trace = tmp_path / "trace.json"
    _, _, err = call("component", "test", str(component), "--profile", str(trace))
    assert names(trace, "compile") == ["app", "app"]
    assert {line.partition("  app ")[2] for line in err.splitlines() if "  app (" in line} == {"(defaults)", "(more)"}


def test_a_place_that_cannot_be_is_refused_at_once(call: Call, component: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place, what in {
        tmp_path: "it is a folder",
        tmp_path / "no" / "trace": "there is no folder",
        tmp_path / "pipe": "it is not a regular file",
        tmp_path / ("x" * 300): "File name too long",
    }.items():
        code, _, err = call("component", "compile", str(component), "--profile", str(place))
        assert code == 1
        assert "[CMD-CLI-062]" in err
        assert what in err
        assert "Compiling" not in err


def test_a_trace_that_cannot_be_written_is_a_warning(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The run counts for more than its trace."""
    folder = tmp_path / "folder"
    folder.mkdir()
    with profiled(folder / "trace.json", "run", Console()):
        folder.rmdir()
        folder.write_text("in the way")
    err = capfd.readouterr().err
    assert "warning: the trace was not written: cannot use" in err
    assert "[CMD-CLI-063]" in err


def test_the_trace_of_a_failure_does_not_hide_it(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    with pytest.raises(KeyError), profiled(trace, "run", Console(quiet=True)):
        raise KeyError
    assert names(trace, "run") == ["run"]


def test_an_instance_that_was_compiled_again() -> None:
    times = [InstanceTime("app", place, 1, 0, 1, 0) for place in ("/w/c-one", "/w/c-one")]
    assert [line.rstrip().endswith("app") for line in _table(times)][2:] == [True, True]
