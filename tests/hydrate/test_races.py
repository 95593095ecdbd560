"""Other writers, accidents of servers, and ends at any point: what must hold afterwards."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError, EnvironmentFault
from commodore.base.events import Warned
from commodore.base.limits import DEFAULT_LIMITS
from commodore.hydrate.model import CommitRequest, CommitRules, Edited
from tests.conftest import MACHINE_PATH
from tests.hydrate.conftest import Heard, Hydrated, config_map, output
from tests.world.git_server import GitServer
from tests.world.repos import GitWorld, git
from tests.world.ssh_server import ssh_server

Asked = Sequence[tuple[CommitRequest, str]]


def once(accident: Callable[[], object]) -> Callable[[Asked], list[str]]:
    """Anything that happens just before the first push."""
    waiting = [accident]

    def reasons(asked: Asked) -> list[str]:
        if waiting:
            waiting.pop()()
        return [""] * len(asked)

    return reasons


def test_a_commit_beside_ours(hydrated: Hydrated, collected: Heard) -> None:
    hydrated.publish(hydrated.request(output("a", config_map("x"))))
    expected = hydrated.request(output("a", config_map("x", k="v")), number=2)
    accident = once(lambda: hydrated.remote.commit({"other": "theirs"}, branch="env/dev", message="Theirs"))
    (outcome,) = hydrated.publish(expected, superseded=accident)
    assert (outcome.word, hydrated.commits()) == ("committed", ["Change 2", "Theirs", "Change 1"])
    assert collected.codes == []


@pytest.mark.requirement("H41")
@pytest.mark.parametrize("edited", ["refuse", "overwrite"])
def test_a_commit_over_our_manifest(hydrated: Hydrated, collected: Heard, edited: Edited) -> None:
    """Anything that others commit between the look and the push is not overwritten either, unless that is wanted."""
    hydrated.publish(hydrated.request(output("a", config_map("x"))))
    expected = hydrated.request(output("a", config_map("x", k="v")), number=2)
    accident = once(lambda: hydrated.remote.commit({"a/manifest.yaml": "x: 1\n"}, branch="env/dev"))
    (result,) = hydrated.results(expected, superseded=accident, writing=CommitRules(edited=edited))
    if edited == "overwrite":
        assert "k: v" in hydrated.files()["a/manifest.yaml"]
        assert collected.codes == ["CMD-HYD-032"]
    else:
        assert isinstance(result, CommodoreError)
        assert result.code == "CMD-HYD-047"
        assert hydrated.files()["a/manifest.yaml"] == "x: 1"


@pytest.mark.requirement("H41")
def test_another_hydration_at_the_same_time(hydrated: Hydrated, collected: Heard, tmp_path: Path) -> None:
    """Its commit is not an edit of others: nothing is said of it."""
    hydrated.publish(hydrated.request(output("a", config_map("x"))))
    other = Hydrated(tmp_path / "other", hydrated.remote, Heard())
    newer = hydrated.request(output("a", config_map("x", k="newer")), number=3)
    expected = hydrated.request(output("a", config_map("x", k="v")), number=2)
    (outcome,) = hydrated.publish(expected, superseded=once(lambda: other.publish(newer)))
    assert (outcome.word, collected.codes) == ("committed", [])


def test_a_branch_that_is_deleted_meanwhile(hydrated: Hydrated) -> None:
    hydrated.publish(hydrated.request(output("a", config_map("x"))))
    expected = hydrated.request(output("a", config_map("x", k="v")), number=2)
    hydrated.publish(expected, superseded=once(lambda: hydrated.remote.delete_branch("env/dev")))
    assert hydrated.commits() == ["Change 2"], "its history does not come back"
    assert hydrated.note()["drySha"] == f"{2:040x}"
    assert "k: v" in hydrated.files()["a/manifest.yaml"]


def test_a_staged_branch_that_is_deleted_meanwhile(hydrated: Hydrated) -> None:
    """It begins again at the branch that is deployed."""
    hydrated.remote.commit({"x": "1"}, branch="env/dev", message="Deployed")
    hydrated.publish(hydrated.request(output("a", config_map("x")), branch="env/dev-next", sync="env/dev"))
    expected = hydrated.request(output("a", config_map("x", k="v")), branch="env/dev-next", sync="env/dev", number=2)
    hydrated.publish(expected, superseded=once(lambda: hydrated.remote.delete_branch("env/dev-next")))
    assert hydrated.commits("env/dev-next")[:2] == ["Change 2", "Deployed"]


def test_a_branch_that_was_set_back_is_hydrated_again(hydrated: Hydrated) -> None:
    hydrated.publish(hydrated.request(output("a", config_map("x"))))
    hydrated.publish(hydrated.request(output("a", config_map("x", k="v")), number=2))
    hydrated.remote.start_branch("env/dev", "env/dev^")
    (outcome,) = hydrated.publish(hydrated.request(output("a", config_map("x", k="v")), number=2))
    assert (outcome.word, hydrated.commits()) == ("committed", ["Change 2", "Change 1"])


def test_notes_of_another_history(hydrated: Hydrated, world: GitWorld) -> None:
    """Ours are added to them; nothing is forced."""
    hydrated.publish(hydrated.request(output("a", config_map("x"))))
    other = world.remote("notes", {"ab" * 20: "theirs"}, branch="main")
    git(hydrated.remote.path, "fetch", "--quiet", other.url, "+main:refs/notes/hydrator.metadata")
    theirs = git(hydrated.remote.path, "rev-parse", "refs/notes/hydrator.metadata")
    hydrated.publish(hydrated.request(output("a", config_map("x")), number=2))
    assert hydrated.note()["drySha"] == f"{2:040x}"
    assert git(hydrated.remote.path, "rev-parse", "refs/notes/hydrator.metadata^") == theirs


@pytest.mark.requirement("H49")
def test_a_note_that_did_not_arrive(hydrated: Hydrated) -> None:
    """The server takes no several refs together, and the run ended between branch and note."""
    git(hydrated.remote.path, "config", "receive.advertiseAtomic", "false")
    expected = hydrated.request(output("a", config_map("x")))
    hydrated.publish(expected)
    git(hydrated.remote.path, "update-ref", "-d", "refs/notes/hydrator.metadata")
    (outcome,) = hydrated.publish(expected)
    assert (outcome.word, hydrated.commits()) == ("noted", ["Change 1"])


def test_notes_that_others_push_at_the_same_time(hydrated: Hydrated, collected: Heard) -> None:
    """The server takes no several refs together: the branch is there, and the note is pushed again."""
    git(hydrated.remote.path, "config", "receive.advertiseAtomic", "false")
    hydrated.publish(hydrated.request(output("a", config_map("x"))))
    expected = hydrated.request(output("a", config_map("x", k="v")), number=2)
    accident = once(lambda: hydrated.remote.commit({"x": "1"}, branch="notes"))
    hydrated.remote.hook(
        "update", 'case "$1" in refs/heads/env/*) git update-ref refs/notes/hydrator.metadata refs/heads/notes;; esac'
    )
    (outcome,) = hydrated.publish(expected, superseded=accident)
    assert (outcome.word, outcome.changed, collected.codes) == ("committed", ("a",), [])
    assert hydrated.note()["drySha"] == f"{2:040x}"


@pytest.mark.requirement("H49")
def test_notes_that_a_server_refuses(hydrated: Hydrated, collected: Heard) -> None:
    """The server takes no several refs together: what it has taken is said, and the next run tries again."""
    git(hydrated.remote.path, "config", "receive.advertiseAtomic", "false")
    hydrated.remote.hook("update", 'case "$1" in refs/notes/*) echo "no notes here" >&2; exit 1;; esac')
    expected = hydrated.request(output("a", config_map("x")))
    (outcome,) = hydrated.publish(expected)
    assert (outcome.word, outcome.changed, collected.codes) == ("committed", ("a",), ["CMD-HYD-036"])
    assert "the server refuses them: no notes here" in next(
        item.message for item in collected if isinstance(item, Warned)
    )
    (result,) = hydrated.results(hydrated.request(output("a", config_map("x")), number=2))
    assert isinstance(result, CommodoreError)
    assert result.code == "CMD-HYD-050", "there was nothing to push but a note"
    (hydrated.remote.path / "hooks" / "update").unlink()
    assert [item.word for item in hydrated.publish(expected)] == ["noted"]
    assert hydrated.commits() == ["Change 1"]


def test_others_that_are_always_faster(hydrated: Hydrated) -> None:
    """After some attempts it ends, and nothing of ours is there."""
    hydrated.context = replace(hydrated.context, limits=replace(DEFAULT_LIMITS, hydrate_push_attempts=2))

    def push(asked: Asked) -> list[str]:
        hydrated.remote.commit({"theirs": "1"}, branch="env/dev", message="Theirs")
        return [""] * len(asked)

    (error,) = hydrated.results(hydrated.request(output("a", config_map("x"))), superseded=push)
    assert isinstance(error, EnvironmentFault)
    assert error.code == "CMD-HYD-054"
    assert hydrated.commits() == ["Theirs", "Theirs"]


def test_a_full_disk(hydrated: Hydrated) -> None:
    """Anything that cannot be written ends the run with an error, and moves no ref, neither here nor there."""
    large = config_map("x", k="".join(sha256(bytes([number])).hexdigest() for number in range(200)) * 40)
    expected = hydrated.request(output("a", large))
    hydrated.publish(hydrated.request(output("a", config_map("x"))))
    before = git(hydrated.remote.path, "for-each-ref")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, limits[1]))
    try:
        (error,) = hydrated.results(expected)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert isinstance(error, EnvironmentFault)
    assert git(hydrated.remote.path, "for-each-ref") == before
    assert [item.word for item in hydrated.publish(expected)] == ["committed"]


def test_no_default_branch(hydrated: Hydrated) -> None:
    """The HEAD of the repository that is written to names a branch that is not there."""
    hydrated.remote.change_default_branch("gone")
    assert [item.word for item in hydrated.publish(hydrated.request(output("a", config_map("x"))))] == ["committed"]


def test_an_empty_repository(hydrated: Hydrated, world: GitWorld, tmp_path: Path) -> None:
    empty = Hydrated(tmp_path / "elsewhere", world.remote("empty"), Heard())
    (outcome,) = empty.publish(empty.request(output("a", config_map("x"))))
    assert (outcome.word, empty.commits()) == ("committed", ["Change 1"])


def test_notes_of_what_was_not_pushed_stay_away(hydrated: Hydrated) -> None:
    """A commit that is superseded leaves no note, neither here nor there."""
    first = hydrated.request(output("a", config_map("x")))
    hydrated.publish(first)
    late = hydrated.request(output("a", config_map("x")), number=2)
    both = [late, hydrated.request(output("b", config_map("y")), branch="env/prod", number=2)]
    hydrated.publish(
        *both, superseded=lambda asked: ["late" if value.branch == "env/dev" else "" for value, _ in asked]
    )
    assert hydrated.note()["drySha"] == f"{1:040x}"


@pytest.mark.requirement("H41")
def test_an_answer_that_is_lost(hydrated: Hydrated, tmp_path: Path) -> None:
    """The server has taken the push, and the connection broke: that is found out, and nothing is pushed twice."""
    with GitServer(hydrated.remote.path.parent) as server:
        server.lost = 1
        url = f"{server.site}/{hydrated.remote.path.name}"
        (outcome,) = _at(hydrated, url, tmp_path / "web").publish(
            replace(hydrated.request(output("a", config_map("x"))), url=url)
        )
    assert (outcome.word, hydrated.commits()) == ("committed", ["Change 1"])
    assert hydrated.note()["drySha"] == f"{1:040x}"


@pytest.fixture(params=["http", "ssh"])
def server_url(
    request: pytest.FixtureRequest, hydrated: Hydrated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The remote by a real server."""
    if request.param == "http":
        with GitServer(hydrated.remote.path.parent) as server:
            yield f"{server.site}/{hydrated.remote.path.name}"
        return
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{MACHINE_PATH}")
    with ssh_server(tmp_path / "ssh", os.environ["PATH"]) as ssh:
        monkeypatch.setenv("GIT_SSH_COMMAND", ssh.command)
        yield ssh.url(hydrated.remote.path)


@pytest.mark.requirement("H14", "H41")
def test_ten_of_one_commit(hydrated: Hydrated, server_url: str, tmp_path: Path) -> None:
    """Ten want the same dry commit at once: there is one afterwards."""

    def hydrate(number: int) -> str:
        item = _at(hydrated, server_url, tmp_path / f"web{number}")
        (outcome,) = item.publish(replace(item.request(output("a", config_map("x"))), url=server_url))
        return outcome.word

    with ThreadPoolExecutor(10) as pool:
        words = list(pool.map(hydrate, range(10)))
    assert "committed" in words  # of several, if they made the very same commit in the same second
    assert set(words) <= {"committed", "unchanged", "noted"}
    assert hydrated.commits() == ["Change 1"]


def _at(hydrated: Hydrated, url: str, folder: Path) -> Hydrated:
    class Web:
        path = hydrated.remote.path

        def __init__(self) -> None:
            self.url = url

    return Hydrated(folder, Web(), Heard())  # type: ignore[arg-type]


@pytest.mark.parametrize("taken", [0, 1], ids=["taken", "refused"])
def test_killed_while_it_pushes(hydrated: Hydrated, tmp_path: Path, taken: int) -> None:
    """The program ends at once while the server decides; another run brings the same state."""
    config = tmp_path / "hydrate.yaml"
    dry = GitWorld(tmp_path / "sources").remote("dry", {"app/x.yaml": "kind: X\nmetadata: {name: x}\n"}, branch="main")
    config.write_text(
        "apiVersion: commodore.dev/v1alpha1\nkind: HydrateConfig\nentries: [{name: a,"
        f" drySource: {{repoURL: '{dry.url}', path: app}},"
        f" syncSource: {{repoURL: '{hydrated.remote.url}', targetBranch: env/dev, path: a}}}}]\n"
    )
    command = [sys.executable, "-m", "commodore", "-d", str(tmp_path / "work"), "hydrate", "run", str(config)]
    hydrated.remote.hook(
        "pre-receive", f'[ -e "{tmp_path}/done" ] || {{ touch "{tmp_path}/done"; kill -9 $(cat "{tmp_path}/pid"); }}'
        f'\n[ -e "{tmp_path}/again" ] || exit {taken}'
    )  # fmt: skip
    with subprocess.Popen(["sh", "-c", f'echo $$ > "{tmp_path}/pid"; exec "$@"', "sh", *command]) as process:
        assert process.wait() == -9
    (tmp_path / "again").touch()
    assert subprocess.run(command, check=False).returncode == 0
    assert len(hydrated.commits()) == 1
    assert hydrated.note()["drySha"] == dry.sha()
