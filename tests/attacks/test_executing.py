"""Code that nobody has allowed: a stored argument, a module, a program or a variable that lies where the user works."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import CommodoreError
from commodore.base.events import Event, Warned
from commodore.cli.shell.dotenv import load_dotenv
from commodore.core.lieutenant.login.browser import open_browser
from commodore.core.sources.git import Git
from commodore.core.tools import locate_tool
from tests.attacks.conftest import Witness, start_in
from tests.authoring.template_world import make, template, update
from tests.world.cluster import ClusterWorld
from tests.world.context import make_context
from tests.world.folders import write_script
from tests.world.lieutenant import LieutenantServer, cluster, tenant
from tests.world.repos import GitWorld, git


def store(folder: Path, arguments: dict[str, Any]) -> None:
    """Let a stranger's pull request change the stored arguments."""
    path = folder / ".cruft.json"
    content = json.loads(path.read_text())
    content["context"]["cookiecutter"] |= arguments
    path.write_text(json.dumps(content))
    git(folder, "commit", "--quiet", "--all", "--message", "Change arguments")


def escape(witness: Witness) -> str:
    """Jinja code that leaves its environment and executes something."""
    return f"{{{{ cycler.__init__.__globals__.os.system('{witness.shell}') }}}}"


@pytest.mark.harmless
@pytest.mark.parametrize(
    "argument", ["flavour", "name", "copyright_holder", "__private", "automerge_patch_regexp_blocklist"]
)
def test_template_code_in_stored_arguments(tmp_path: Path, witness: Witness, argument: str) -> None:
    """A stored argument is a text; only the template's own defaults are rendered."""
    folder = make(tmp_path, template(GitWorld(tmp_path / "remotes")))
    store(folder, {argument: escape(witness)})
    update(folder, version="main")
    assert not witness.was_written


@pytest.mark.harmless
def test_modules_named_by_stored_arguments(tmp_path: Path, witness: Witness, monkeypatch: pytest.MonkeyPatch) -> None:
    """`_extensions` makes cookiecutter import modules: the template's list counts, whatever is stored."""
    remote = template(GitWorld(tmp_path / "remotes"))
    remote.commit(
        {"cookiecutter.json": git(remote.path, "show", "main:cookiecutter.json")[:-1] + ', "_extensions": []}'}
    )
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "evil.py").write_text(witness.python)
    monkeypatch.setenv("PYTHONPATH", str(modules))
    folder = make(tmp_path, remote)
    store(folder, {"_extensions": ["evil.Extension"]})
    update(folder, version="main")
    assert not witness.was_written


@pytest.mark.parametrize("argument", ["add_golden", "add_lib", "auto_release"])
@pytest.mark.parametrize("kind", ["bundled", "remote"])
def test_python_code_in_stored_switches(tmp_path: Path, witness: Witness, argument: str, kind: str) -> None:
    """Templates put switches into the source of their hooks."""
    folder = make(tmp_path, None if kind == "bundled" else template(GitWorld(tmp_path / "remotes")))
    store(folder, {argument: f'n" + str({witness.python}) + "'})
    with pytest.raises(CommodoreError) as caught:
        update(folder)
    assert caught.value.code == "CMD-TPL-009"
    assert not witness.was_written


@pytest.mark.parametrize("cases", ['x"+str(1)+"', "../../x", "a\n../b", "{{ 1 }}"])
def test_code_and_paths_in_stored_test_cases(tmp_path: Path, cases: str) -> None:
    folder = make(tmp_path)
    store(folder, {"test_cases": cases})
    with pytest.raises(CommodoreError) as caught:
        update(folder)
    assert caught.value.code == "CMD-TPL-005"


@pytest.mark.parametrize("slug", ["../x", "x\ny", "{{ 1 }}", "-x", 'a"b'])
def test_a_stored_slug_that_is_a_path_or_code(tmp_path: Path, slug: str) -> None:
    folder = make(tmp_path)
    store(folder, {"slug": slug})
    with pytest.raises(CommodoreError) as caught:
        update(folder)
    assert caught.value.code == "CMD-TPL-001"


MODULES = ("webbrowser", "click", "requests", "yaml", "json", "keyring", "platformdirs", "kapitan", "reclass_rs")


@pytest.mark.harmless
@pytest.mark.parametrize("arguments", [("version",), ("login",), ("catalog", "list")], ids=lambda item: item[-1])
def test_modules_in_the_current_folder(tmp_path: Path, witness: Witness, arguments: tuple[str, ...]) -> None:
    """`python -m` looks for modules in the current folder first; a compile's workers would, too."""
    for name in MODULES:
        (tmp_path / f"{name}.py").write_text(witness.python)
    with LieutenantServer([cluster("c-one", "t-one")], [tenant("t-one")]) as api:
        start_in(tmp_path, arguments, {"BROWSER": "true", "COMMODORE_API_URL": api.url})
    assert not witness.was_written


@pytest.mark.harmless
def test_modules_in_the_folder_of_a_compile(world: ClusterWorld, witness: Witness) -> None:
    for name in MODULES:
        (world.root / f"{name}.py").write_text(witness.python)
    assert world.compile().code == 0
    assert not witness.was_written


@pytest.mark.harmless
def test_a_browser_that_is_a_module_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of a login is opened by a process of its own."""
    opened = tmp_path / "opened"
    (tmp_path / "webbrowser.py").write_text(f"open({str(opened)!r}, 'w').write('executed')")
    browser = tmp_path / "bin" / "browser"
    write_script(browser, f"echo done >{opened}")
    os.mkfifo(opened)
    monkeypatch.setenv("BROWSER", str(browser))
    open_browser("http://localhost/login")
    assert opened.read_text() == "done\n"


@pytest.mark.harmless
def test_programs_in_relative_entries_of_path(world: ClusterWorld, witness: Witness) -> None:
    """None of the tools comes out of the folder that the user is in."""
    for folder in (world.root, world.root / "bin"):
        for name in ("git", "helm", "jb", "kustomize", "kubectl", "python3", "ssh"):
            witness.program(folder / name)
    world.environment["PATH"] = os.pathsep.join((".", "bin", "", os.environ["PATH"], ""))
    assert world.compile().code == 0
    assert world.run("version").code in (0, 127)
    assert not witness.was_written


@pytest.mark.harmless
@pytest.mark.parametrize("entry", [".", "", "bin", "./", "../here"])
def test_a_git_of_a_relative_entry_of_path(
    tmp_path: Path, witness: Witness, entry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library, which does not own the process, starts no such program either."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    witness.program(here / entry / "git")
    monkeypatch.setenv("PATH", f"{entry}{os.pathsep}{os.environ['PATH']}")
    assert Git(here, make_context()).run(["version"]).text.startswith("git version")
    assert not witness.was_written


@pytest.mark.harmless
@pytest.mark.parametrize("name", ["helm", "jb", "kustomize", "git"])
def test_tools_of_the_current_folder(tmp_path: Path, witness: Witness, name: str) -> None:
    witness.program(tmp_path / name)
    assert locate_tool(name, environ={"PATH": f".{os.pathsep}{os.pathsep}"}, managed=tmp_path / "none") is None


FOREIGN = {
    "GIT_SSH_COMMAND": "{program}",
    "GIT_SSH": "{program}",
    "GIT_ASKPASS": "{program}",
    "GIT_PROXY_COMMAND": "{program}",
    "GIT_EXEC_PATH": "{folder}",
    "GIT_CONFIG_GLOBAL": "{folder}/config",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_PARAMETERS": "\"'core.fsmonitor'='{program}'\"",
    "PYTHONPATH": "{folder}",
    "PYTHONSTARTUP": "{folder}/yaml.py",
    "KAPITAN_HELM_PATH": "{program}",
    "PATH": "{folder}",
    "LD_PRELOAD": "{folder}/evil.so",
    "BROWSER": "{program}",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "XDG_CACHE_HOME": "{folder}",
    "HOME": "{folder}",
    "SSL_CERT_FILE": "{folder}/ca.pem",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_dotenv_that_sets_what_is_no_option(tmp_path: Path, name: str) -> None:
    """The file may lie in a folder that was just cloned."""
    value = FOREIGN[name].format(program=tmp_path / "git", folder=tmp_path)
    (tmp_path / ".env").write_text(f"export {name}={value}\nCOMMODORE_SHADOW=1\n")
    assert read_dotenv(tmp_path, {}) == ({"COMMODORE_SHADOW": "1"}, ["CMD-CLI-006"])


def read_dotenv(folder: Path, environ: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """The variables after `.env` was read, and the codes of the warnings."""
    collected: list[Event] = []
    load_dotenv(folder, collected.append, environ=environ)
    return environ, [event.code for event in collected if isinstance(event, Warned)]


def test_a_compile_beside_a_hostile_dotenv(world: ClusterWorld, witness: Witness) -> None:
    program = witness.program(world.root / "evil" / "git")
    (world.root / ".env").write_text(
        f"GIT_SSH_COMMAND={program}\nGIT_EXEC_PATH={program.parent}\nPYTHONPATH={program.parent}\n"
        f"GIT_CONFIG_COUNT=1\nGIT_CONFIG_KEY_0=core.fsmonitor\nGIT_CONFIG_VALUE_0={program}\n"
        "COMMODORE_CATALOG_COMPILE_PUSH=1\n"
    )
    result = world.compile()
    assert result.code == 0, result.stderr
    assert {"CMD-CLI-006", "CMD-CLI-007"} <= set(result.warnings)
    assert not witness.was_written
    assert world.tree() == {}  # nothing is pushed


DECISIONS = {
    "COMMODORE_OIDC_DISCOVERY_URL": "https://evil.example.com",
    "COMMODORE_OIDC_CLIENT": "evil",
    "COMMODORE_CALLBACK_ADDRESS": "0.0.0.0",
    "COMMODORE_TOOL_MIRROR": "https://evil.example.com",
    "COMMODORE_CATALOG_COMPILE_PUSH": "1",
    "COMMODORE_COMPONENT_UPDATE_TRUST_TEMPLATE": "1",
    "COMMODORE_CATALOG_COMPILE_TRUST_POLICY": "evil.toml",
    "COMMODORE_HELPER_VARIABLES": "*",
    "COMMODORE_ARGOCD_RENDER_ENABLE_PLUGINS": "1",
    "COMMODORE_ARGOCD_RENDER_PLUGIN_POLICY": "evil.yaml",
    "COMMODORE_ARGOCD_AMBIENT_CREDENTIALS": "1",
    "COMMODORE_CATALOG_COMPILE_FORCE": "1",
    "COMMODORE_ALLOW": "CMD-ENG-041",
    "COMMODORE_HYDRATE_ALLOW_SECRET": "*",
    "COMMODORE_HYDRATE_RUN_LISTEN": "0.0.0.0:80",
    "COMMODORE_HYDRATE_RUN_PUSH_CREDENTIALS": "evil.yaml",
    "COMMODORE_FLEET_COMPILE_SCHEDULER": "tcp://evil.example.com:8786",
    "COMMODORE_OBSERVE_KUBECONFIG": "evil.yaml",
}


@pytest.mark.parametrize("name", DECISIONS)
def test_a_dotenv_that_decides_for_the_user(tmp_path: Path, name: str) -> None:
    (tmp_path / ".env").write_text(f"{name}={DECISIONS[name]}\n")
    assert read_dotenv(tmp_path, {}) == ({}, ["CMD-CLI-007"])


@pytest.mark.parametrize("name", ["COMMODORE_API_URL", "COMMODORE_CATALOG_LIST_API_URL"])
@pytest.mark.parametrize("given", ["variable", "option", "file"])
def test_a_dotenv_that_says_where_a_token_goes(tmp_path: Path, name: str, given: str) -> None:
    """The URL is the stranger's, the token is the user's."""
    token = "canary-token-of-the-user"
    (tmp_path / "token").write_text(token)
    with LieutenantServer([cluster("c-one", "t-one")], [tenant("t-one")]) as api:
        text = f"{name}={api.url}\n"
        if given == "file":
            text += f"COMMODORE_API_TOKEN={tmp_path / 'token'}\n"
        (tmp_path / ".env").write_text(text)
        done = start_in(
            tmp_path,
            ["catalog", "list", *(["--api-token", token] if given == "option" else [])],
            {"COMMODORE_API_TOKEN": token} if given == "variable" else {},
        )
        assert api.requests == []
    assert done.returncode != 0
    assert "[CMD-CLI-007]" in done.stderr
    assert token not in done.stderr + done.stdout


@pytest.mark.allowed
def test_a_dotenv_with_a_server_and_its_own_token(tmp_path: Path) -> None:
    """Both are of the same file: nothing of the user's is sent."""
    with LieutenantServer([cluster("c-one", "t-one")], [tenant("t-one")]) as api:
        (tmp_path / ".env").write_text(f"COMMODORE_API_URL={api.url}\nCOMMODORE_API_TOKEN=theirs\n")
        done = start_in(tmp_path, ["catalog", "list", "-o", "id"])
    assert (done.returncode, done.stdout) == (0, "c-one\n"), done.stderr


@pytest.mark.harmless
def test_a_dotenv_that_refers_to_variables_of_the_user(tmp_path: Path) -> None:
    """`${NAME}` would put what the user knows into a URL or a token."""
    with LieutenantServer([cluster("c-one", "t-one")], [tenant("t-one")]) as api:
        (tmp_path / ".env").write_text(f"COMMODORE_API_URL={api.url}\nCOMMODORE_API_TOKEN=${{SECRET}}\n")
        start_in(tmp_path, ["catalog", "list"], {"SECRET": "canary"})
        assert api.requests
        assert not any("canary" in str(request) for request in api.requests)


@pytest.mark.parametrize("name", ["COMMODORE_GITHUB_URL", "COMMODORE_COMPONENT_SYNC_GITHUB_URL"])
def test_a_dotenv_that_sends_the_token_for_github_elsewhere(tmp_path: Path, name: str) -> None:
    (tmp_path / ".env").write_text(f"{name}=https://evil.example.com/api/v3\n")
    environ = {"COMMODORE_GITHUB_TOKEN": "canary-token"}
    assert read_dotenv(tmp_path, dict(environ)) == (environ, ["CMD-CLI-007"])
