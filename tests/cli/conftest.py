"""The program's front door."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from commodore.cli._lazy import LazyGroup
from commodore.cli.main import commodore, run
from tests.cli import probe
from tests.world.cluster import ClusterWorld

Shown = tuple[int, str, str]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Callable[..., Shown]:
    """Run a command line in this process: exit code, standard output, standard error."""

    def call(*arguments: str) -> Shown:
        capfd.readouterr()
        code = run(list(arguments))
        return (code, *capfd.readouterr())

    return call


@dataclass(frozen=True, slots=True)
class Known:
    """A command and the words that call it."""

    words: tuple[str, ...]
    command: click.Command


def commands(group: LazyGroup = commodore, words: tuple[str, ...] = ()) -> list[Known]:
    """Every group and command of the program, the program first."""
    found = [Known(words, group)]
    for name in group.list_commands(click.Context(group)):
        command = group.lazy[name].load()
        here = (*words, name)
        found += commands(command, here) if isinstance(command, LazyGroup) else [Known(here, command)]
    return found


@pytest.fixture
def probed(monkeypatch: pytest.MonkeyPatch) -> Callable[[], probe.Seen]:
    """Give the program a group `probe` with a command `look`, and what that saw last."""
    monkeypatch.setitem(commodore.lazy, "probe", probe.ENTRY)
    probe.SEEN.clear()
    return lambda: probe.SEEN[-1]


@pytest.fixture
def component(tmp_path: Path) -> Path:
    folder = tmp_path / "component-app"
    for name, text in ClusterWorld.component_files("app", {"a": "1"}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(str(text))
    return folder
