"""The one way git is called: clean environment, no prompt, an end in every case, errors a user can act on."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault
from commodore.base.limits import Limits
from commodore.core.sources.git import Git
from commodore.core.sources.git.runner import clean_environment, last_words
from tests.world.context import make_context
from tests.world.folders import write_script
from tests.world.repos import GitWorld, git


def fake_git(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write_script(folder / "git", script)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_the_answer(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    result = Git(tmp_path, make_context()).run(["hash-object", "--stdin"], input=b"x")
    assert result.text == "c1b0730e0133447badcfd47fd144e254807b06e1"
    assert (result.returncode, result.stderr) == (0, "")
    assert Git(tmp_path, make_context()).run(["rev-parse", "--verify", "--quiet", "HEAD"], check=False).returncode == 1


def test_another_repository_in_the_environment_does_not_leak(
    world: GitWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run inside a git hook, with GIT_DIR and the like set, works on its own repositories only."""
    git(tmp_path, "init", "--quiet", "--initial-branch=mine")
    other = world.remote(files={"a": "1"})
    for name in (
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_COMMON_DIR",
        "GIT_OBJECT_DIRECTORY",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
    ):
        monkeypatch.setenv(name, str(other.path))
    assert Git(tmp_path, make_context()).run(["symbolic-ref", "HEAD"]).text == "refs/heads/mine"
    environment = clean_environment()
    assert not {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} & set(environment)
    assert (environment["LC_ALL"], environment["GIT_TERMINAL_PROMPT"]) == ("C", "0")


def test_the_users_configuration_is_honoured(world: GitWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rewritten URLs, also from GIT_CONFIG_GLOBAL; the published tool ignores that one."""
    remote = world.remote(files={"a": "1"})
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    git(tmp_path, "config", "--global", f"url.file://{remote.path.parent}/.insteadOf", "https://git.example.com/")
    answer = Git(tmp_path, make_context()).run(["ls-remote", "https://git.example.com/repo.git", "HEAD"])
    assert answer.text == f"{remote.sha()}\tHEAD"


def test_helper_transports_do_not_run(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="transport 'ext' not allowed"):
        Git(tmp_path, make_context()).run(["ls-remote", f"ext::touch {tmp_path}/ran"])
    assert not (tmp_path / "ran").exists()


def test_git_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentFault) as error:
        Git(tmp_path, make_context()).run(["version"])
    assert error.value.code == "CMD-GIT-001"
    assert "install git" in error.value.hint


def test_git_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text("nothing to run")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentFault) as error:
        Git(tmp_path, make_context()).run(["version"])
    assert error.value.code == "CMD-GIT-001"


def test_the_folder_is_gone(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="disappeared") as error:
        Git(tmp_path / "gone", make_context()).run(["version"])
    assert error.value.code == "CMD-GIT-002"


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_command_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stubborn: bool) -> None:
    """It is ended, even when it ignores the polite signal."""
    refuse = "trap '' TERM; " if stubborn else ""
    fake_git(tmp_path / "bin", f"{refuse}echo $$ >'{tmp_path}/pid'; while :; do sleep 0.05; done", monkeypatch)
    with pytest.raises(EnvironmentFault) as error:
        Git(tmp_path, make_context(limits=Limits(git_timeout=0.5))).run(["fetch"])
    assert error.value.code == "CMD-GIT-003"
    assert "fetch" in error.value.message
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_children_can_be_ended_from_another_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_git(tmp_path / "bin", f"touch '{tmp_path}/started'; exec sleep 60", monkeypatch)
    context = make_context()
    outcomes: list[int] = []

    def work() -> None:
        outcomes.append(Git(tmp_path, context).run(["fetch"], check=False).returncode)

    thread = threading.Thread(target=work)
    thread.start()
    while not (tmp_path / "started").exists():
        time.sleep(0.01)
    context.cancellation.cancel()
    thread.join()
    work()  # and what is started later ends at once
    assert outcomes == [-signal.SIGTERM, -signal.SIGTERM]


def interrupted(program: subprocess.Popen[bytes]) -> bytes:
    """Return the standard error of a program after Ctrl-C, which is repeated: Python does not see one that comes just
    before the main thread waits for another one. The command line is woken then.
    """
    for _ in range(6):
        program.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return program.communicate(timeout=10)[1]
    raise AssertionError("the program goes on")


def test_ctrl_c_ends_fetches(world: GitWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal to the program alone (not to its group, as a terminal sends it) leaves no git behind."""
    pids = tmp_path / "pids"
    fake_git(
        tmp_path / "bin",
        f'case "$*" in *" fetch "*) echo $$ >>"{pids}"; exec sleep 60;; esac\nPATH="${{PATH#*:}}" exec git "$@"',
        monkeypatch,
    )
    urls = [world.remote(name, {"a": "1"}).url for name in ("one", "two")]
    script = (
        "import sys; from pathlib import Path; from commodore.core.sources.git import RepositoryStore\n"
        "from tests.world.context import make_context\n"
        "RepositoryStore(Path(sys.argv[1]), make_context()).sync([(url, 'master') for url in sys.argv[2:]])"
    )
    root = Path(__file__).resolve().parents[4]
    program = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "repos"), *urls],
        env={**os.environ, "PYTHONPATH": str(root)},
        stderr=subprocess.PIPE,
    )
    try:
        while not pids.exists() or len(pids.read_text().split()) < 2:
            assert program.poll() is None
            time.sleep(0.01)
        stderr = interrupted(program)
    finally:
        program.kill()
    assert b"KeyboardInterrupt" in stderr
    for pid in pids.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def test_errors_show_neither_credentials_nor_control_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither credentials nor control characters."""
    fake_git(
        tmp_path / "bin",
        r"printf 'remote: \033[31mred\033[0m\r\nfatal: cannot use https://tess:geheim@h/x\007\n' >&2; exit 128",
        monkeypatch,
    )
    with pytest.raises(EnvironmentFault) as error:
        Git(tmp_path, make_context()).run(["fetch", "--quiet"])
    assert error.value.message == "git fetch failed: cannot use https://h/x"
    assert error.value.code == "CMD-GIT-002"


@pytest.mark.parametrize(
    ("stderr", "words"),
    [
        ("", ""),
        ("fatal: a\nhint: b", "a"),
        ("fatal: a\nerror: b\nwarning: c", "a"),
        ("error: a\nerror: b\nc", "b"),
        ("remote: a\nremote:\n", "a"),
        ("just words\n\n", "just words"),
        ("git@h: no key\nfatal: Could not read from remote repository.\n\nPlease make sure", "git@h: no key"),
        ("fatal: Could not read from remote repository.", "Could not read from remote repository."),
    ],
)
def test_the_line_that_says_most(stderr: str, words: str) -> None:
    assert last_words(stderr) == words


def test_a_damaged_repository_is_named(world: GitWorld) -> None:
    remote = world.remote(files={"a": "1"})
    (remote.path / "config").write_text("[oops")
    with pytest.raises(EnvironmentFault) as error:
        Git(remote.path, make_context()).run(["for-each-ref"])
    assert error.value.code == "CMD-GIT-021"
    assert str(remote.path) in error.value.message


def test_what_git_has_started_ends_with_it(tmp_path: Path) -> None:
    """Git leaves its transport running when it is ended; that one would hold the pipes, and the caller, for ever."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/repo.git"
        context = make_context()
        ended: list[int] = []

        def ask() -> None:
            ended.append(Git(tmp_path, context).run(["ls-remote", url], check=False).returncode)

        thread = threading.Thread(target=ask)
        thread.start()
        connection, _ = server.accept()  # the transport is there now
        with connection:
            context.cancellation.cancel()
            thread.join()
            connection.settimeout(60)
            connection.recv(65536)
            assert connection.recv(1) == b""
    assert ended != [0]
