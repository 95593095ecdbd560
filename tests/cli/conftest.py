"""The program's front door."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from commodore.cli.main import commodore, run
from commodore.cli.shell.lazy import LazyGroup
from tests.cli import probe
from tests.cli.hydrated_place import CONFIG, Place
from tests.world.cluster import ClusterWorld
from tests.world.documents import check_documents
from tests.world.repos import GitWorld

Shown = tuple[int, str, str]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Callable[..., Shown]:
    """Run a command line in this process: exit code, standard output, standard error."""

    def call(*arguments: str) -> Shown:
        capfd.readouterr()
        code = run(list(arguments))
        out, err = capfd.readouterr()
        check_documents(out)
        return code, out, err

    return call


@pytest.fixture
def place(tmp_path: Path, call: Callable[..., Shown], monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Jo")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "jo@example.com")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = {f"apps/{name}/config.yaml": CONFIG.format(name=name, value=1) for name in "ab"}
    remote = GitWorld(tmp_path / "remotes").remote("shop", files, branch="main")
    folder = tmp_path / "applications"
    folder.mkdir()
    made = Place(remote, folder, call)
    made.application("a")
    made.application("b", hydrateTo={"targetBranch": "env/dev-next"})
    return made


@dataclass(frozen=True, slots=True)
class Known:
    """A command and the words that call it."""

    words: tuple[str, ...]
    command: click.Command


def commands(group: LazyGroup = commodore, words: tuple[str, ...] = ()) -> list[Known]:
    """Every group and command of the program, the program first."""
    results = [Known(words, group)]
    for name in group.list_commands(click.Context(group)):
        command = group.lazy[name].load()
        here = (*words, name)
        results += commands(command, here) if isinstance(command, LazyGroup) else [Known(here, command)]
    return results


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
