"""Everything that a person sees while a run goes on."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable

import pytest

from commodore.base.errors import InputError
from commodore.base.events import (
    ClusterBegun,
    ClusterEnded,
    Event,
    InCluster,
    Noted,
    StageAdvanced,
    StageFinished,
    StageGrown,
    StageStarted,
    TaskBegun,
    TaskEnded,
    Traced,
    Warned,
    WaveBegun,
    WaveEnded,
)
from commodore.cli.shell.console import Console
from commodore.cli.shell.progress import Display


class Screen(io.StringIO):
    """A terminal whose text can be read."""

    def isatty(self) -> bool:
        return True

    @property
    def text(self) -> str:
        """Anything that was written, without colours and moves of the cursor."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.getvalue())


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return Screen()


def test_no_colours_if_none_are_wanted(screen: Screen) -> None:
    for color, coloured in ((None, True), (False, False)):
        with Display(screen, color=color) as display:
            display.on_event(StageStarted("one"))
            display.say("\x1b[31mred\x1b[0m")
        assert ("\x1b[31m" in screen.getvalue()) == coloured
        screen.truncate(0)


def begun(task: str, item: str) -> TaskBegun:
    return TaskBegun(task, item, "/out", (("/out", item),))


def ended(task: str, item: str) -> TaskEnded:
    return TaskEnded(task, item, "/out", 0, 0.0, 1.0)


def drawn(screen: Screen, events: Iterable[Event]) -> list[str]:
    """The lines that are on the screen after these events, while the run goes on."""
    with Display(screen) as display:
        for event in events:
            display.on_event(event)
        with display.paused():
            begin = len(screen.text)
        return [line.rstrip() for line in screen.text[begin:].splitlines() if line]


def test_what_runs_is_named_with_its_time(screen: Screen) -> None:
    lines = drawn(
        screen,
        [
            StageStarted("compiling", 3),
            begun("inspect", "unseen"),
            begun("fetch", "https://charts.example.com app"),
            begun("compile", "argocd"),
            begun("compile", "cilium"),
            StageAdvanced("compile", "cilium", 1.0, "rendered"),
            ended("compile", "cilium"),
        ],
    )
    assert re.search(r"Compiling .*1/3", lines[0])
    assert re.fullmatch(r"  fetching https://charts\.example\.com app \d+ s, argocd \d+ s", lines[1])


def test_long_lists_of_what_runs_stay_on_one_line(screen: Screen) -> None:
    names = [f"instance-number-{number}" for number in range(9)]
    lines = drawn(screen, [StageStarted("compiling", 9), *(begun("compile", name) for name in names)])
    assert (len(lines), len(lines[1]) <= 80, lines[1][-1]) == (2, True, "…")


def test_totals_are_there_from_the_start(screen: Screen) -> None:
    """A stage grows by what is found; the fetches belong to the stage that runs."""
    events = [StageStarted("fetching components"), StageGrown("fetch", 20), StageGrown("fetch", 7)]
    (line,) = drawn(screen, [*events, StageAdvanced("fetch", "https://git.example.com/a.git", 1.0)])
    assert re.search(r"Fetching components .*1/27", line)


def test_stages_that_have_ended_stay_with_their_time(screen: Screen) -> None:
    with Display(screen) as display:
        for event in (
            StageStarted("fetching packages"),
            StageFinished("fetching packages", 0.25),
            StageStarted("compiling", 2),
            begun("compile", "a"),
            StageAdvanced("compile", "a"),
            StageAdvanced("compile", "b"),
            StageFinished("compiling", 12.5),
        ):
            display.on_event(event)
    kept = [line for line in re.split(r"[\r\n]+", screen.text) if line.endswith(" s") and not line.startswith("  a ")]
    assert kept == [
        "  Fetching packages                         0.25 s",
        "  Compiling                           2    12.50 s",
    ]


def test_stages_need_not_stay(screen: Screen) -> None:
    with Display(screen, keep=False) as display:
        display.on_event(StageStarted("compiling", 2))
        display.on_event(StageFinished("compiling", 12.5))
    assert "12.50 s" not in screen.text


def compiled(cluster: str, state: str, code: str = "") -> ClusterEnded:
    return ClusterEnded(cluster, "canary", state, 1.25, "no such class" if code else "3 modified", code)


@pytest.mark.requirement("FC12")
def test_a_wave_tells_what_became_of_its_clusters_and_which_are_at_work(screen: Screen) -> None:
    """The ones that are published were counted before; what the last run took says how long it is."""
    events: list[Event] = [WaveBegun("canary", 4, expected=4000.0)]
    events += [ClusterBegun(name, "canary") for name in ("c-1", "c-2", "c-3")]
    events += [InCluster(name, StageStarted("fetching components")) for name in ("c-1", "c-2", "c-3")]
    events += [InCluster("c-3", begun("compile", "argocd")), compiled("c-1", "changed")]
    events += [compiled("c-2", "failed", "CMD-INV-001"), InCluster("c-3", StageStarted("compiling", 2))]
    events += [ClusterBegun("c-1", "canary", publishing=True), compiled("c-1", "pushed")]
    item, two = drawn(screen, [*events, ClusterBegun("c-4", "canary")])
    assert re.search(r"Wave canary: 1 failed, 1 pushed, [0-9.]+ a minute, about 33 min left", item)
    assert re.fullmatch(r"  c-3 compiling \d+ s, c-4 \d+ s", two)
    over = [compiled("c-3", "unchanged"), compiled("c-4", "unchanged"), WaveEnded("canary", "failed")]
    assert drawn(Screen(), [*events, ClusterBegun("c-4", "canary"), *over]) == []


# Without a terminal


@pytest.mark.requirement("FC12")
def test_a_log_has_one_line_for_each_cluster(capfd: pytest.CaptureFixture[str]) -> None:
    assert said(capfd, WaveBegun("canary", 4, 10.0)) == "Wave canary: 4 clusters …\n"
    assert said(capfd, ClusterBegun("c-1", "canary")) == ""
    assert said(capfd, InCluster("c-1", StageStarted("compiling", 2))) == ""
    assert said(capfd, compiled("c-1", "changed")) == "c-1: changed, 3 modified (1.2 s)\n"
    assert said(capfd, compiled("c-1", "changed"), quiet=True) == ""
    failed = "c-1: failed, no such class [CMD-INV-001]\n"
    assert said(capfd, compiled("c-1", "failed", "CMD-INV-001")) == failed
    assert said(capfd, compiled("c-1", "failed", "CMD-INV-001"), quiet=True) == failed
    line = said(capfd, InCluster("c-1", StageStarted("compiling", 2)), log_format="json")
    assert json.loads(line) == {"event": "StageStarted", "stage": "compiling", "total": 2, "cluster": "c-1"}


def said(capfd: pytest.CaptureFixture[str], event: Event, **options: object) -> str:
    Console(**options).announce(event)  # type: ignore[arg-type]
    return capfd.readouterr().err


TRACED = Traced("app", "deprecated\nuse `b`\x1b", "dependencies/app/main.jsonnet:3")


def test_traces_name_instance_and_place(capfd: pytest.CaptureFixture[str]) -> None:
    shown = "trace: app: deprecated\nuse `b`\n  at dependencies/app/main.jsonnet:3\n"
    assert said(capfd, TRACED) == shown
    assert said(capfd, TRACED, quiet=True) == ""
    assert said(capfd, TRACED, log_format="json", quiet=True) == ""
    assert '"event": "Traced"' in (line := said(capfd, TRACED, log_format="json"))
    assert '"place": "dependencies/app/main.jsonnet:3"' in line


def test_items_without_news_are_not_told(capfd: pytest.CaptureFixture[str]) -> None:
    assert said(capfd, StageAdvanced("fetch", "https://git.example.com/a.git"), verbosity=1) == ""
    assert said(capfd, StageAdvanced("compile", "a", 1.25, "rendered"), verbosity=1) == "  a: rendered (1.25 s)\n"
    assert said(capfd, StageAdvanced("compile", "a", 0.0, "from the cache"), verbosity=1) == "  a: from the cache\n"
    assert said(capfd, StageAdvanced("compile", "a", 1.25, "rendered")) == ""
    assert said(capfd, Noted("hello")) == "hello\n"


def test_a_log_tells_that_a_stage_begins_and_how_long_it_took(capfd: pytest.CaptureFixture[str]) -> None:
    assert said(capfd, StageStarted("fetching packages")) == "Fetching packages …\n"
    assert said(capfd, StageStarted("compiling", 9)) == "Compiling …\n"
    assert said(capfd, StageFinished("fetching packages", 0.25)) == "Fetching packages: 0.2 s\n"
    assert said(capfd, StageStarted("fetching packages"), quiet=True) == ""
    assert said(capfd, StageFinished("fetching packages", 0.25), quiet=True) == ""


LONG = InputError("CMD-ENG-019", "kustomize: " + "word " * 20 + "end", hint="hint " * 20, locations=["/x" * 50])


def test_a_terminal_gets_long_errors_broken_between_words(screen: Screen) -> None:
    console = Console()
    console.err = screen
    console.error(LONG)
    lines = screen.text.splitlines()
    assert [len(line) <= 80 for line in lines if "/x" not in line] == [True] * (len(lines) - 1)
    assert lines[0].startswith("error: kustomize: word")
    assert lines[1].startswith("    word")
    assert lines[2] == f"  at {'/x' * 50}"  # whole, to be copied
    assert lines[4].startswith("    hint")


def test_a_log_has_an_error_on_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    Console().error(LONG)
    assert capfd.readouterr().err.splitlines()[0] == f"error: {LONG.message} [CMD-ENG-019]"


def test_what_is_told_on_the_way_is_broken_between_words(screen: Screen) -> None:
    console = Console()
    console.err = screen
    url = "https://git.example.com/" + "x" * 60
    with console.working():
        console.announce(Noted(f"{url} gets an initial commit with the first push"))
        console.announce(Warned("CMD-GIT-001", "word " * 20 + "end", "hint " * 20))
    console.status("word " * 20 + "end")
    lines = [line.rstrip() for line in screen.text.splitlines() if line.strip()]
    assert lines[:2] == [url, "    gets an initial commit with the first push"]
    words = ["word word word word word word word word word word word word word word"]
    assert lines[2:4] == [f"warning: {words[0]}", "    word word word word word word end [CMD-GIT-001]"]
    assert lines[-2:] == [f"{words[0]} word word", "    word word word word end"]
    assert all(len(line) <= 80 for line in lines if line != url)
