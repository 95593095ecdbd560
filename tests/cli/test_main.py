"""Command lines, `.env`, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.errors import InputError
from commodore.base.events import ignore
from commodore.cli.main import commodore
from commodore.cli.shell.dotenv import load_dotenv
from commodore.cli.shell.lazy import LazyCommand
from tests.cli.conftest import Shown
from tests.cli.probe import Seen
from tests.world.cluster import ROOT
from tests.world.lieutenant import LieutenantServer, cluster, tenant
from tests.world.terminal import run_on_terminal

Call = Callable[..., Shown]
Probed = Callable[[], Seen]


def program(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The program as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "commodore", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def cluster_file(folder: Path) -> Path:
    path = folder / "clusters.json"
    path.write_text(json.dumps({"clusters": [cluster("c-b"), cluster("c-a", "t-two")], "tenants": [tenant()]}))
    return path


# Verbosity and the log


def test_verbosity_adds_up(call: Call, probed: Probed, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("probe", "look")[0] == 0
    assert probed().verbosity == 0
    call("-v", "probe", "-v", "look", "-v")
    assert probed().verbosity == 3
    call("probe", "look", "-vv", "--verbose")
    assert probed().verbosity == 3
    monkeypatch.setenv("COMMODORE_VERBOSE", "2")
    call("probe", "look")
    assert probed().verbosity == 2
    call("probe", "-v", "look")
    assert probed().verbosity == 3


def test_errors_as_json(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line of standard error is an object, whatever went wrong, and wherever the format was chosen."""
    for arguments in (
        ["--log-format", "json", "catalog", "lits"],
        ["--log-format=json", "catalog", "list", "--nope"],
        ["--log-format", "json", "catalog", "compile"],
        ["--log-format", "json", "catalog", "list"],
    ):
        code, out, err = call(*arguments)
        assert (code, out) == (2, "")
        record = json.loads(err)
        assert record["event"] == "Error"
        assert record["family"] == "usage"
        assert record["hint"]
    monkeypatch.setenv("COMMODORE_LOG_FORMAT", "json")
    assert json.loads(call("nope")[2])["code"] == "CMD-CLI-001"
    assert call("--log-format", "text", "nope")[2].startswith("error:")
    assert call("--log-format=text", "nope")[2].startswith("error:")
    monkeypatch.setenv("COMMODORE_LOG_FORMAT", "JSON")
    assert json.loads(call("nope")[2])["code"] == "CMD-CLI-001"


def test_quiet(call: Call, tmp_path: Path) -> None:
    assert call("-q", "-d", str(tmp_path / "w"), "catalog", "clean") == (0, "", "")
    assert call("-d", str(tmp_path / "w"), "catalog", "clean")[2] == "Cleaned.\n"


# Wrong command lines


def test_a_misspelt_command(call: Call) -> None:
    code, out, err = call("catalog", "comple")
    assert (code, out) == (2, "")
    assert "there is no command 'commodore catalog comple' [CMD-CLI-001]" in err
    assert "did you mean 'compile'?" in err
    assert "see 'commodore --help'" in call("qqq")[2]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["catalog", "compile", "c-one", "--pusch"], ["--pusch", "--push"]),
        (["catalog", "compile"], ["CLUSTER"]),
        (["catalog", "compile", "c-one", "--migration", "x"], ["'x'", "kapitan-0.29-to-0.30"]),
        (["catalog", "compile", "c-one", "--cluster-file", "gone.yml"], ["gone.yml"]),
        (["--request-timeout", "0", "version"], ["0.0"]),
        (["--request-timeout", "-1", "version"], ["-1.0"]),
        (["catalog", "list", "-o", "typo"], ["'typo'"]),
        (["catalog", "list", "--sort-by", "age"], ["'age'"]),
        (["component", "compile", "gone"], ["'gone'"]),
    ],
)
def test_wrong_options(call: Call, arguments: list[str], words: list[str]) -> None:
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert "[CMD-CLI-002]" in err
    assert "hint: see 'commodore" in err
    assert [word for word in words if word not in err] == []


@pytest.mark.parametrize(
    ("arguments", "example"),
    [
        (["catalog", "list", "-q"], "commodore -q catalog list ..."),
        (["component", "compile", ".", "--quiet"], "commodore --quiet component compile ..."),
        (["version", "--log-format", "json"], "commodore --log-format json version ..."),
        (["catalog", "list", "-d", "work"], "commodore -d DIR catalog list ..."),
        (["catalog", "list", "--request-timeout=3"], "commodore --request-timeout SECONDS catalog list ..."),
    ],
)
def test_options_of_the_program_behind_a_command(call: Call, arguments: list[str], example: str) -> None:
    code, _, err = call(*arguments)
    assert code == 2
    shown = json.loads(err)["hint"] if err.startswith("{") else err
    assert f"global options go before the command: {example}" in shown


@pytest.mark.parametrize("command", [["catalog", "compile", "c-a"], ["fleet", "compile", "--offline"]])
def test_a_working_directory_is_no_dynamic_fact(call: Call, command: list[str], tmp_path: Path) -> None:
    """Nothing is written: neither to the folder named nor to the current one."""
    code, _, err = call(*command, "-d", "work")
    assert (code, "[CMD-CLI-027]" in err) == (2, True)
    assert f"commodore -d work {' '.join(command[:2])} ..." in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [[], ["catalog"], ["component"]])
def test_a_group_alone_shows_its_help(call: Call, words: list[str]) -> None:
    code, out, err = call(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"Usage: {' '.join(['commodore', *words])} [OPTIONS] COMMAND")


@pytest.mark.parametrize("words", [["-h"], ["catalog", "-h"], ["catalog", "compile", "-h"]])
def test_the_short_help_option(call: Call, words: list[str]) -> None:
    code, out, err = call(*words)
    assert (code, err) == (0, "")
    assert out.startswith("Usage: commodore")


def test_a_working_directory_that_is_a_file(call: Call, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, _, err = call("-d", "file", "catalog", "clean")
    assert code == 3
    assert "CMD-WORK-001" in err


# The environment


def test_variables_and_their_order(call: Call, probed: Probed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Command line, explicit variable, automatic variable, default; empty variables count as unset."""
    monkeypatch.setenv("COMMODORE_PROBE_LOOK_API_URL", "https://automatic.example.com")
    call("probe", "look")
    assert probed().values["api_url"] == "https://automatic.example.com"
    monkeypatch.setenv("COMMODORE_API_URL", "https://explicit.example.com")
    call("probe", "look")
    assert probed().values["api_url"] == "https://explicit.example.com"
    call("probe", "look", "--api-url", "https://given.example.com")
    assert probed().values["api_url"] == "https://given.example.com"
    monkeypatch.setenv("COMMODORE_API_URL", "")
    call("probe", "look")
    assert probed().values["api_url"] == "https://automatic.example.com"
    monkeypatch.setenv("COMMODORE_PROBE_LOOK_API_URL", "")
    call("probe", "look")
    assert probed().values["api_url"] is None


def test_variables_of_switches_and_lists(call: Call, probed: Probed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMODORE_PROBE_LOOK_FORCE", "1")
    monkeypatch.setenv("COMMODORE_PROBE_LOOK_DYNAMIC_FACT", "a=1 b=2")
    call("probe", "look")
    assert probed().values["force"] is True
    assert probed().values["dynamic_fact"] == ("a=1", "b=2")
    monkeypatch.setenv("COMMODORE_PROBE_LOOK_FORCE", "false")
    call("probe", "look")
    assert probed().values["force"] is False
    call("probe", "look", "--force")
    assert probed().values["force"] is True
    monkeypatch.setenv("COMMODORE_PROBE_LOOK_FORCE", "perhaps")
    assert call("probe", "look")[0] == 2


def test_dotenv_of_the_current_directory_alone(tmp_path: Path) -> None:
    """A `.env` of a parent is not trusted; what is set in the environment wins."""
    below = tmp_path / "below"
    below.mkdir()
    file = str(cluster_file(tmp_path))
    (tmp_path / ".env").write_text(f"COMMODORE_CATALOG_LIST_OUT=id\nCOMMODORE_CATALOG_LIST_CLUSTER_FILE={file}\n")
    here = program("catalog", "list", cwd=tmp_path)
    assert (here.returncode, here.stdout) == (0, "c-b\nc-a\n")
    there = program("catalog", "list", cwd=below)
    assert there.returncode == 2
    assert "CMD-API" in there.stderr
    won = program("catalog", "list", cwd=tmp_path, COMMODORE_CATALOG_LIST_OUT="json")
    assert [each["id"] for each in json.loads(won.stdout)] == ["c-b", "c-a"]


def test_a_dotenv_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"A=\xff\xfe\n")
    with pytest.raises(InputError) as caught:
        load_dotenv(tmp_path, ignore)
    assert caught.value.code == "CMD-CLI-004"


def test_a_current_directory_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"cd {gone} && rmdir {gone} && exec {sys.executable} -P -m commodore catalog list"
    done = subprocess.run(
        ["sh", "-c", command], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "[CMD-CLI-003]" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_path_and_home(tmp_path: Path) -> None:
    """`PATH` may be missing, and so may `HOME`."""
    environment = {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "commodore", "version"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 127)
    assert "Traceback" not in done.stderr


# Terminals and pipes


def test_colours_on_a_terminal_alone(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    command = [sys.executable, "-m", "commodore", "nope"]
    code, shown = run_on_terminal(command, environment, tmp_path, streams=["stderr"])
    assert code == 2
    assert "\x1b[31m" in shown
    assert "\x1b" not in program("nope", cwd=tmp_path).stderr


def test_text_from_outside_steers_no_terminal(call: Call) -> None:
    _, _, err = call("catalog", "list", "--api-url", "http://127.0.0.1:1/\x1b[2Jx", "--api-token", "t")
    assert "\x1b[2J" not in err


# Bugs of our own


def test_a_bug_is_told_without_a_traceback(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(commodore.lazy, "broken", LazyCommand("tests.cli.probe:missing", ""))
    code, _, err = call("broken")
    assert code == 70
    assert "[CMD-CLI-070]" in err
    assert "Traceback" not in err
    monkeypatch.setenv("COMMODORE_TRACEBACK", "1")
    with pytest.raises(AttributeError):
        call("broken")


def test_a_token_is_never_shown(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMODORE_API_TOKEN", "hush-hush")
    with LieutenantServer([cluster()], [tenant()], token="other") as api:
        code, out, err = call("-vvv", "catalog", "list", "--api-url", api.url)
    assert code != 0
    assert "hush-hush" not in out + err
    assert "hush-hush" not in call("catalog", "list", "--help")[1]
