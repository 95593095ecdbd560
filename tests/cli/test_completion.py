"""Completing names in a shell: quick, silent, never logging in."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import click
import pytest
import yaml
from click.shell_completion import CompletionItem

from commodore.cli.shell.completion import quick
from tests.cli.conftest import Shown
from tests.world.completion import complete, offered
from tests.world.folders import write_script
from tests.world.lieutenant import LieutenantServer, cluster, failing, slow

ROOT = Path(__file__).resolve().parents[2]


def test_clusters_of_the_cluster_file(tmp_path: Path) -> None:
    file = tmp_path / "clusters.yml"
    file.write_text(yaml.safe_dump({"clusters": [{"id": "c-one"}, {"id": "c-two"}, {"id": "d-one"}]}))
    done = complete(f"commodore catalog compile --cluster-file {file} c-")
    assert offered(done) == ["c-one", "c-two"]


def test_clusters_of_the_api() -> None:
    with LieutenantServer([cluster("c-x")], token="t") as server:
        done = complete("commodore catalog compile c-", COMMODORE_API_URL=server.url, COMMODORE_API_TOKEN="t")
    assert offered(done) == ["c-x"]


def test_nothing_is_offered_or_said_when_the_api_fails() -> None:
    with LieutenantServer(token="t") as server:
        server.script(failing(500))
        done = complete("commodore catalog compile ", COMMODORE_API_URL=server.url, COMMODORE_API_TOKEN="t")
        assert offered(done) == []
        without_token = complete("commodore catalog compile ", COMMODORE_API_URL=server.url)
        assert offered(without_token) == []
        assert len(server.requests) == 1, "completing neither repeats requests nor asks without a token"


def test_names_that_are_no_plain_words_are_not_offered(tmp_path: Path) -> None:
    """The shell would put them on the command line as they are."""
    file = tmp_path / "clusters.yml"
    names = ["c-one", "$(reboot)", "c;d", "-x", "c d", "*", "", "c\nd"]
    file.write_text(yaml.safe_dump({"clusters": [{"id": name} for name in names]}))
    assert offered(complete(f"commodore catalog compile --cluster-file {file} ")) == ["c-one"]


def test_an_api_that_does_not_answer_is_not_waited_for() -> None:
    with LieutenantServer([cluster("c-x")], token="t") as server:
        server.script(slow(60))
        variables = {"COMMODORE_API_URL": server.url, "COMMODORE_API_TOKEN": "t"}
        assert offered(complete("commodore catalog compile ", patient=False, **variables)) == []


def test_tenants(tmp_path: Path) -> None:
    file = tmp_path / "clusters.yml"
    clusters = [{"id": "a", "tenant": "t-b"}, {"id": "b", "tenant": "t-b"}, {"id": "c", "tenant": "t-a"}, {"id": "d"}]
    file.write_text(yaml.safe_dump({"clusters": clusters}))
    assert offered(complete(f"commodore catalog list --cluster-file {file} --tenant t")) == ["t-a", "t-b"]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A working directory with instances and dependencies."""
    for name in ("cluster", "nfs", "nfs-archive"):
        (tmp_path / "inventory" / "targets").mkdir(parents=True, exist_ok=True)
        (tmp_path / "inventory" / "targets" / f"{name}.yml").touch()
    for name in (".repos", "lib", "libs", "nfs", "nfs-archive", "pkg.monitoring"):
        (tmp_path / "dependencies" / name).mkdir(parents=True)
    (tmp_path / "dependencies" / "nothing").touch()
    return tmp_path


def test_instances_of_the_working_directory(work: Path) -> None:
    assert offered(complete(f"commodore -d {work} component compile x --alias n")) == ["nfs", "nfs-archive"]
    assert offered(complete("commodore component test x -a ", COMMODORE_WORKING_DIR=str(work))) == [
        "nfs",
        "nfs-archive",
    ]
    assert offered(complete(f"commodore -d {work} inventory show --instance c")) == ["cluster"]
    assert offered(complete(f"commodore -d {work / 'nowhere'} component compile x --alias ")) == []


def test_components_of_the_working_directory(work: Path) -> None:
    assert offered(complete(f"commodore -d {work} component delete ")) == ["nfs", "nfs-archive"]
    assert offered(complete(f"commodore -d {work / 'nowhere'} component delete ")) == []


def test_test_cases(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    for name in ("defaults.yml", "more.yaml", ".hidden.yml", "notes.txt"):
        (tests / name).touch()
    cases = ["defaults", "more"]
    assert offered(complete(f"commodore component test {tmp_path} --case ")) == cases
    assert offered(complete(f"commodore package test {tmp_path} --case more --case d")) == ["defaults"]
    assert offered(complete(f"commodore component update {tmp_path} --remove-test-case ")) == cases
    assert offered(complete(f"commodore package update {tmp_path} --remove-test-case m")) == ["more"]
    assert offered(complete(f"commodore package compile {tmp_path} tests/")) == [
        "tests/defaults.yml",
        "tests/more.yaml",
    ]
    assert offered(complete("commodore component test --case ")) == [], "without a folder there is nothing to look at"


def test_error_codes_with_their_titles() -> None:
    expected = ["CMD-NAME-001", "CMD-NAME-002", "CMD-NAME-003"]
    for typed in ("CMD-NAME-00", "cmd-name-00", "name-00"):
        assert offered(complete(f"commodore explain {typed}"))[:3] == expected
    done = complete("commodore explain CMD-NAME-001", _COMMODORE_COMPLETE="zsh_complete")
    assert done.stdout.splitlines() == ["plain", "CMD-NAME-001", "not a name"]


@pytest.mark.parametrize("words", ["commodore nosuch x", "commodore catalog nosuch "])
def test_a_wrong_command_line_is_not_commented_on(words: str) -> None:
    done = complete(words)
    assert (done.stdout, done.stderr) == ("", "")


def test_an_unreadable_environment_file_is_not_commented_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_bytes(b"A=\xff\n")
    monkeypatch.chdir(tmp_path)
    done = complete("commodore explain NAME-001")
    assert (done.stdout, done.stderr) == ("", "")


def test_what_takes_too_long_or_fails_offers_nothing() -> None:
    ever = threading.Event()

    def hang(_ctx: click.Context, _typed: str) -> list[str]:
        ever.wait()
        return ["late"]

    def fail(_ctx: click.Context, _typed: str) -> list[str]:
        raise KeyError

    context, parameter = click.Context(click.Command("x")), click.Argument(["a"])
    assert quick(hang, patience=0.01)(context, parameter, "") == []
    assert quick(fail)(context, parameter, "") == []
    (item,) = quick(lambda _ctx, typed: [typed])(context, parameter, "a")
    assert isinstance(item, CompletionItem)
    assert item.value == "a"
    ever.set()


def test_bash_is_offered_it(tmp_path: Path, call: Callable[..., Shown]) -> None:
    """The script that `commodore completion` prints, in a bash."""
    code, script, err = call("completion", "bash")
    assert (code, err) == (0, "")
    program = tmp_path / "commodore"
    write_script(program, f'exec {sys.executable} -m commodore "$@"')
    ask = "COMP_WORDS=(commodore explain name-00); COMP_CWORD=2; _commodore_completion commodore; echo ${COMPREPLY[@]}"
    done = subprocess.run(
        ["bash", "--norc", "--noprofile", "-c", f"{script}\n{ask}"],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert done.stdout.split()[:2] == ["CMD-NAME-001", "CMD-NAME-002"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_of_shells(shell: str, call: Callable[..., Shown]) -> None:
    """They are what click's own variable gives."""
    _, script, _ = call("completion", shell)
    done = complete("", _COMMODORE_COMPLETE=f"{shell}_source")
    assert script == done.stdout
    assert f"_COMMODORE_COMPLETE={shell}_complete" in script
