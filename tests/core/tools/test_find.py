"""Finding external tools and asking for versions, with stand-in executables that record how they are called."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault, InputError
from commodore.base.events import Event, Warned
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.tools import Tool, ToolOrigin, ask_versions, find_tools, locate_tool, managed_folder
from tests.world.context import make_context
from tests.world.folders import write_script

pytestmark = pytest.mark.tools

SYSTEM = "/usr/bin:/bin"
IMPATIENT = replace(DEFAULT_LIMITS, tool_timeout=0.5)


def stand_in(path: Path, script: str = "") -> Path:
    """An executable that appends its arguments to `<path>.calls` and then runs the script."""
    return write_script(path, f'PATH={SYSTEM}\necho "$@" >>"{path}.calls"\n{script}')


def calls(path: Path) -> list[str]:
    record = Path(f"{path}.calls")
    return record.read_text(encoding="utf-8").splitlines() if record.exists() else []


def test_order_of_places(tmp_path: Path) -> None:
    given = stand_in(tmp_path / "given" / "helm")
    named = stand_in(tmp_path / "named" / "helm")
    in_path = stand_in(tmp_path / "bin" / "helm")
    managed = stand_in(tmp_path / "managed" / "helm")
    environ = {"PATH": str(in_path.parent), "KAPITAN_HELM_PATH": str(named)}

    def locate(**more: Path) -> Tool | None:
        return locate_tool("helm", environ=environ, managed=managed.parent, **more)

    assert locate(explicit=given) == Tool("helm", given, None, ToolOrigin.EXPLICIT)
    assert locate() == Tool("helm", named, None, ToolOrigin.ENVIRONMENT)
    del environ["KAPITAN_HELM_PATH"]
    assert locate() == Tool("helm", in_path, None, ToolOrigin.PATH)
    in_path.unlink()
    assert locate() == Tool("helm", managed, None, ToolOrigin.MANAGED)
    managed.unlink()
    assert locate() is None


def test_locating_starts_nothing(tmp_path: Path) -> None:
    jb = stand_in(tmp_path / "bin" / "jb")
    assert locate_tool("jb", environ={"PATH": str(jb.parent)}) is not None
    assert calls(jb) == []


def test_only_helm_is_named_by_the_environment(tmp_path: Path) -> None:
    jb = stand_in(tmp_path / "bin" / "jb")
    environ = {"PATH": str(jb.parent), "KAPITAN_HELM_PATH": "/nowhere/helm"}
    assert locate_tool("jb", environ=environ) == Tool("jb", jb, None, ToolOrigin.PATH)


def test_the_environment_may_give_a_bare_name(tmp_path: Path) -> None:
    helm3 = stand_in(tmp_path / "bin" / "helm3")
    environ = {"PATH": str(helm3.parent), "KAPITAN_HELM_PATH": "helm3"}
    assert locate_tool("helm", environ=environ) == Tool("helm", helm3, None, ToolOrigin.ENVIRONMENT)


@pytest.mark.parametrize("value", ["/nowhere/helm", "no-such-helm"])
def test_an_environment_that_misleads_is_an_error(value: str, tmp_path: Path) -> None:
    helm = stand_in(tmp_path / "bin" / "helm")
    with pytest.raises(EnvironmentFault) as caught:
        locate_tool("helm", environ={"PATH": str(helm.parent), "KAPITAN_HELM_PATH": value})
    assert caught.value.code == "CMD-TOOL-003"
    assert caught.value.message == "KAPITAN_HELM_PATH does not name an executable file"
    assert caught.value.locations[0].place == value


@pytest.mark.parametrize("kind", ["missing", "folder", "plain file"])
def test_an_explicit_path_that_is_no_executable_is_an_error(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "helm"
    if kind == "folder":
        path.mkdir()
    elif kind == "plain file":
        path.write_text("not executable", encoding="utf-8")
        path.chmod(0o644)
    with pytest.raises(InputError) as caught:
        locate_tool("helm", explicit=path)
    assert caught.value.code == "CMD-TOOL-002"
    assert caught.value.message == "the path given for helm is not an executable file"
    assert caught.value.locations[0].place == str(path)


def test_a_relative_explicit_path_becomes_absolute(tmp_path: Path) -> None:
    stand_in(tmp_path / "-helm")
    tool = locate_tool("helm", explicit=Path("-helm"))
    assert tool == Tool("helm", tmp_path / "-helm", None, ToolOrigin.EXPLICIT)


def test_an_unknown_tool_is_an_error() -> None:
    with pytest.raises(InputError) as caught:
        locate_tool("../../bin/sh")
    assert caught.value.code == "CMD-TOOL-001"
    assert caught.value.hint == "known tools: helm, jb, kustomize, git"


@pytest.mark.parametrize("path", ["", ".", "bin", ":bin:."])
def test_relative_folders_in_path_are_left_aside(path: str, tmp_path: Path) -> None:
    stand_in(tmp_path / "helm")
    stand_in(tmp_path / "bin" / "helm")
    assert locate_tool("helm", environ={"PATH": path}) is None


def test_kubectl_serves_where_kustomize_is_missing(tmp_path: Path) -> None:
    answer = '{"clientVersion": {"gitVersion": "v1.35.4"}, "kustomizeVersion": "v5.7.1"}'
    kubectl = stand_in(tmp_path / "bin" / "kubectl", f"echo '{answer}'")
    environ = {"PATH": str(kubectl.parent)}
    assert find_tools(make_context(), ["kustomize"], environ=environ) == {
        "kustomize": Tool("kustomize", kubectl, "v5.7.1", ToolOrigin.KUBECTL)
    }
    assert calls(kubectl) == ["version --client --output json"]
    managed = stand_in(tmp_path / "managed" / "kustomize")
    tool = locate_tool("kustomize", environ=environ, managed=managed.parent)
    assert tool == Tool("kustomize", managed, None, ToolOrigin.MANAGED)


@pytest.mark.parametrize("answer", ["", "no json", "[]", '{"clientVersion": {"gitVersion": "v1.18.0"}}'])
def test_a_kubectl_without_kustomize_version_is_reported(answer: str, tmp_path: Path) -> None:
    kubectl = stand_in(tmp_path / "kubectl", f"echo '{answer}'")
    collected: list[Event] = []
    (tool,) = ask_versions(
        [Tool("kustomize", kubectl, None, ToolOrigin.KUBECTL)], make_context(announce=collected.append)
    )
    assert tool.version is None
    assert [event.code for event in collected if isinstance(event, Warned)] == ["CMD-TOOL-005"]


@pytest.mark.parametrize(
    ("name", "arguments", "script", "version"),
    [
        ("helm", "version --template {{.Version}}", "printf v4.1.4", "v4.1.4"),
        ("helm", "version --template {{.Version}}", "echo WARNING: /home/1.2/x >&2; printf v3.17.0", "v3.17.0"),
        ("jb", "--version", "echo v0.6.3 >&2", "v0.6.3"),
        ("kustomize", "version", "echo v5.8.1", "v5.8.1"),
        ("kustomize", "version", "echo '{Version:kustomize/v4.5.7 GitCommit:56d82a8}'", "v4.5.7"),
        ("git", "--version", "echo git version 2.39.5", "2.39.5"),
        ("git", "--version", "echo git version 2.47.1; exit 1", "2.47.1"),
    ],
)
def test_versions(name: str, arguments: str, script: str, version: str, tmp_path: Path) -> None:
    """The query of each tool; the answer may stand on either output."""
    executable = stand_in(tmp_path / name, script)
    assert find_tools(make_context(), [name], environ={"PATH": str(tmp_path)}) == {
        name: Tool(name, executable, version, ToolOrigin.PATH)
    }
    assert calls(executable) == [arguments]


def test_all_tools_are_asked_at_the_same_time(tmp_path: Path) -> None:
    """Each stand-in answers only after it has seen the others started."""
    names = ("helm", "jb", "kustomize", "git")
    wait = "".join(f'until [ -e "{tmp_path}/{name}.calls" ]; do sleep 0.02; done\n' for name in names)
    for name in names:
        stand_in(tmp_path / name, f"{wait}echo v1.2.3")
    tools = find_tools(make_context(), names, environ={"PATH": str(tmp_path)})
    assert [tool.version for tool in tools.values() if tool] == ["v1.2.3"] * 4


def test_a_hanging_tool_is_stopped_and_reported(tmp_path: Path) -> None:
    """A hanging tool hangs the command."""
    helm = stand_in(tmp_path / "helm", f"sleep 20; touch {tmp_path}/finished")
    git = stand_in(tmp_path / "git", "echo git version 2.39.5")
    collected: list[Event] = []
    tools = find_tools(
        make_context(announce=collected.append, limits=IMPATIENT), ["helm", "git"], environ={"PATH": str(tmp_path)}
    )
    assert not (tmp_path / "finished").exists()
    assert tools == {
        "helm": Tool("helm", helm, None, ToolOrigin.PATH),
        "git": Tool("git", git, "2.39.5", ToolOrigin.PATH),
    }
    assert collected == [
        Warned(
            "CMD-TOOL-004",
            f"helm ({helm}) did not report its version within 0.5 seconds",
            hint=f"run it by hand: {helm} version --template {{{{.Version}}}}",
        )
    ]


def test_a_child_left_behind_does_not_hold_the_answer_back(tmp_path: Path) -> None:
    stand_in(tmp_path / "jb", f"(sleep 3; touch {tmp_path}/finished) &\necho v0.6.3")
    tools = find_tools(make_context(), ["jb"], environ={"PATH": str(tmp_path)})
    assert not (tmp_path / "finished").exists()
    assert tools["jb"] is not None
    assert tools["jb"].version == "v0.6.3"


def test_a_tool_that_waits_for_input_gets_none(tmp_path: Path) -> None:
    stand_in(tmp_path / "jb", "read line || echo v0.6.3")
    tools = find_tools(make_context(), ["jb"], environ={"PATH": str(tmp_path)})
    assert tools["jb"] is not None
    assert tools["jb"].version == "v0.6.3"


@pytest.mark.parametrize("script", ["", "echo unreleased", "exit 3"])
def test_a_tool_without_a_version_is_still_found(script: str, tmp_path: Path) -> None:
    """A tool with an empty answer counts as missing."""
    jb = stand_in(tmp_path / "jb", script)
    collected: list[Event] = []
    tools = find_tools(make_context(announce=collected.append), ["jb"], environ={"PATH": str(tmp_path)})
    assert tools == {"jb": Tool("jb", jb, None, ToolOrigin.PATH)}
    assert collected == [
        Warned("CMD-TOOL-005", f"jb ({jb}) did not report its version", hint=f"run it by hand: {jb} --version")
    ]


def test_a_tool_of_another_machine_is_reported(tmp_path: Path) -> None:
    jb = tmp_path / "jb"
    jb.write_bytes(b"\x7fELF nonsense")
    jb.chmod(0o755)
    collected: list[Event] = []
    tools = find_tools(make_context(announce=collected.append), ["jb"], environ={"PATH": str(tmp_path)})
    assert tools == {"jb": Tool("jb", jb, None, ToolOrigin.PATH)}
    assert collected == [
        Warned("CMD-TOOL-005", f"jb ({jb}) cannot be run: Exec format error", hint="is it built for this machine?")
    ]


def test_missing_tools_are_none_in_the_order_asked_for(tmp_path: Path) -> None:
    tools = find_tools(make_context(), ["kustomize", "git", "helm"], environ={"PATH": str(tmp_path)}, managed=tmp_path)
    assert list(tools.items()) == [("kustomize", None), ("git", None), ("helm", None)]


def test_a_path_given_for_one_tool_leaves_the_others_alone(tmp_path: Path) -> None:
    helm = stand_in(tmp_path / "given" / "helm", "echo v4.1.4")
    git = stand_in(tmp_path / "bin" / "git", "echo git version 2.39.5")
    tools = find_tools(make_context(), ["helm", "git"], explicit={"helm": helm}, environ={"PATH": str(git.parent)})
    assert tools == {
        "helm": Tool("helm", helm, "v4.1.4", ToolOrigin.EXPLICIT),
        "git": Tool("git", git, "2.39.5", ToolOrigin.PATH),
    }


def test_tools_see_the_environment_without_our_secrets(tmp_path: Path) -> None:
    """The GitHub token is in the environment of what is run."""
    stand_in(tmp_path / "jb", f'env >"{tmp_path}/env"; echo v0.6.3')
    environ = {
        "PATH": str(tmp_path),
        "HTTPS_PROXY": "http://127.0.0.1:1",
        "GITHUB_TOKEN": "s3cret",
        "VAULT_TOKEN": "s3cret",
        "COMMODORE_API_TOKEN": "s3cret",
    }
    find_tools(make_context(), ["jb"], environ=environ)
    seen = (tmp_path / "env").read_text(encoding="utf-8")
    assert "s3cret" not in seen
    assert "HTTPS_PROXY=http://127.0.0.1:1" in seen


def test_the_managed_folder_follows_xdg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert managed_folder() == tmp_path / "cache" / "commodore" / "tools"
    helm = stand_in(managed_folder() / "helm")
    assert locate_tool("helm", environ={"PATH": ""}) == Tool("helm", helm, None, ToolOrigin.MANAGED)


def test_the_real_git_is_found() -> None:
    git = find_tools(make_context(), ["git"])["git"]
    assert git is not None
    assert git.version is not None
    assert os.access(git.path, os.X_OK)
