"""Traces of runs: what was announced, as spans in the format of Chrome's trace viewer."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from commodore.base.events import (
    ClusterBegun,
    ClusterEnded,
    InCluster,
    Noted,
    StageAdvanced,
    StageFinished,
    StageStarted,
    TaskBegun,
    TaskEnded,
)
from commodore.cli.shell.stage_profile import InstanceTime, Profile, Span


def by_name(profile: Profile) -> dict[str, Span]:
    return {span.name: span for span in profile.spans()}


def complete(profile: Profile) -> list[dict[str, Any]]:
    """The spans as the viewer gets them."""
    return [event for event in json.loads(profile.trace())["traceEvents"] if event["ph"] == "X"]


def assert_nested(events: list[dict[str, Any]]) -> None:
    """Spans of one thread lie next to or within each other, as the viewer demands."""
    for thread in {(event["pid"], event["tid"]) for event in events}:
        open_ends: list[int] = []
        own = [event for event in events if (event["pid"], event["tid"]) == thread]
        for event in sorted(own, key=lambda event: (event["ts"], -event["dur"])):
            while open_ends and open_ends[-1] <= event["ts"]:
                open_ends.pop()
            end = event["ts"] + event["dur"]
            assert not open_ends or end <= open_ends[-1], event
            open_ends.append(end)


def begin(profile: Profile, task: str, item: str, *instances: str, place: str = "/work") -> None:
    profile.announce(TaskBegun(task, item, place, tuple((place, name) for name in instances or (item,))))


def end(profile: Profile, task: str, item: str, start: float, seconds: float, **more: Any) -> None:
    place = more.pop("place", "/work")
    profile.announce(TaskEnded(task, item, place, more.pop("worker", 0), start, seconds, **more))


def test_stages_nest_in_the_run() -> None:
    profile = Profile("catalog compile c-one")
    profile.announce(StageStarted("compiling"))
    profile.announce(StageStarted("fetching"))
    profile.announce(StageFinished("fetching", 0.0))
    profile.announce(StageFinished("compiling", 0.0))
    profile.announce(Noted("something"))
    profile.end()
    events = complete(profile)
    assert [event["name"] for event in events] == ["catalog compile c-one", "compiling", "fetching"]
    assert {(event["pid"], event["tid"]) for event in events} == {(1, 1)}
    assert_nested(events)
    assert all(event["args"] == {} for event in events)


def test_what_has_not_ended_is_marked() -> None:
    """A stage that fails never ends; neither does what an interrupted run was at."""
    profile = Profile("run")
    profile.announce(StageStarted("outer"))
    profile.announce(StageStarted("failed"))
    profile.announce(StageFinished("outer", 0.0))
    profile.announce(StageStarted("interrupted"))
    begin(profile, "compile", "a")
    begin(profile, "compile", "b")
    profile.end()
    spans = by_name(profile)
    marked = {name for name, span in spans.items() if span.facts.get("unfinished")}
    assert marked == {"failed", "interrupted", "a", "b"}
    assert spans["failed"].end == spans["outer"].end
    assert spans["a"].end == spans["interrupted"].end == spans["run"].end
    assert_nested(complete(profile))
    assert profile.instances() == ()


@pytest.mark.requirement("FC12")
def test_the_stages_of_clusters_lie_within_them() -> None:
    """Each thread works on one cluster after another; what has failed has ended with its cluster."""
    profile = Profile("fleet compile")

    def work(*clusters: str) -> None:
        for name in clusters:
            profile.announce(ClusterBegun(name, "all"))
            profile.announce(InCluster(name, StageStarted("fetching")))
            if name != "c-bad":
                profile.announce(InCluster(name, StageFinished("fetching", 0.0)))
            profile.announce(ClusterEnded(name, "all", "changed", 0.0))

    def help_out(cluster: str, begun: threading.Event, ended: threading.Event) -> None:
        profile.announce(InCluster(cluster, StageStarted(f"asking for {cluster}")))
        begun.set()
        ended.wait()
        profile.announce(InCluster(cluster, StageFinished(f"asking for {cluster}", 0.0)))

    for number, clusters in enumerate((("c-one", "c-bad"), ("c-two",))):
        thread = threading.Thread(target=work, args=clusters, name=f"cluster_{number}")
        thread.start()
        thread.join()
    ended = threading.Event()
    helpers = []
    for name in ("c-one", "c-two"):  # at the same time, in threads of the same name
        helpers.append(threading.Thread(target=help_out, args=[name, begun := threading.Event(), ended], name="help_0"))
        helpers[-1].start()
        begun.wait()
    ended.set()
    for helper in helpers:
        helper.join()
    profile.end()
    spans = [span for span in profile.spans() if span.kind != "run"]
    assert [(span.track, span.name) for span in spans if span.kind == "cluster"] == [
        ("cluster_0", "c-one"),
        ("cluster_0", "c-bad"),
        ("cluster_1", "c-two"),
    ]
    assert sorted((span.track, span.name) for span in spans if span.name.startswith("asking")) == [
        ("parallel 0", "asking for c-one"),
        ("parallel 1", "asking for c-two"),
    ]
    stages = [span for span in spans if span.name == "fetching"]
    assert [bool(span.facts.get("unfinished")) for span in stages] == [False, True, False]
    assert_nested(complete(profile))


def test_tasks_of_workers_with_their_parts() -> None:
    profile = Profile("run")
    start = time.perf_counter()
    begin(profile, "compile", "b")
    begin(profile, "compile", "a")
    end(profile, "compile", "a", start, 1.0, worker=11, parts=(("render", 0.5), ("filter", 0.3)))
    end(profile, "compile", "b", start, 0.5, worker=2, failed=True)
    spans = by_name(profile)
    assert spans["a"].track == "worker 11"
    assert spans["a"].facts == {"instances": ["a"], "folder": "/work"}
    assert spans["b"].facts["failed"] is True
    assert spans["render"].start >= spans["a"].start
    assert spans["filter"].end == spans["a"].end
    trace = json.loads(profile.trace())
    named = {event["tid"]: event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
    assert [named[number] for number in sorted(named)] == ["stages", "worker 2", "worker 11"]
    assert_nested(complete(profile))


def test_items_that_overlap_lie_on_tracks_of_their_own() -> None:
    profile = Profile("run")
    for name, seconds in (("a", 0.5), ("b", 0.4), ("c", 1e-9), ("d", 0.0)):
        thread = threading.Thread(target=profile.announce, args=[StageAdvanced("fetch", name, seconds)])
        thread.start()
        thread.join()
    spans = by_name(profile)
    assert {name: spans[name].track for name in "abc"} == {"a": "fetch 0", "b": "fetch 1", "c": "fetch 0"}
    assert "d" not in spans, "a stage without duration has no span"
    assert_nested(complete(profile))


def test_instances_that_were_not_compiled_are_counted() -> None:
    profile = Profile("run")
    profile.announce(StageAdvanced("compile", "kept"))
    begin(profile, "compile", "a")
    end(profile, "compile", "a", 0.0, 1.0)
    profile.announce(StageAdvanced("compile", "a", 1.0))
    begin(profile, "compile", "b")
    end(profile, "compile", "b", 0.0, 1.0, failed=True)
    profile.announce(StageAdvanced("fetch", "https://git.example.com/a", 1.0))
    assert profile.reused() == 1


def test_the_slowest_instances_come_first() -> None:
    """Anything that was fetched for several instances counts for each; equal names in several places are
    distinguished.
    """
    profile = Profile("run")
    shared = (("/work", "a"), ("/other", "a"), ("/work", "b"))
    profile.announce(TaskBegun("fetch", "https://charts.example.com", "/work", shared))
    end(profile, "fetch", "https://charts.example.com", 1.0, 4.0)
    for name in ("a", "c"):
        begin(profile, "inspect", name)
        end(profile, "inspect", name, 0.0, 9.0)
        begin(profile, "compile", name)
        begin(profile, "compile", name, place="/other")
    end(profile, "compile", "a", 5.0, 1.0, parts=(("render", 0.75), ("filter", 0.25)))
    end(profile, "compile", "c", 5.0, 4.25)
    end(profile, "compile", "a", 6.0, 0.5, place="/other")
    assert profile.instances() == (
        InstanceTime("a", "/work", 5.0, 4.0, 0.75, 0.25),
        InstanceTime("a", "/other", 4.5, 4.0, 0.0, 0.0),
        InstanceTime("c", "/work", 4.25, 0.0, 0.0, 0.0),
    )
