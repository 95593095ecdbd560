"""Everything that programs that are started get to know: variables, and passwords on their command lines."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from commodore.base.documents import plain
from commodore.base.errors import CommodoreError
from commodore.base.programs.child_processes import Child, child_environment
from commodore.core.confinement import start
from commodore.core.sources.git import Git, bare_url, redact, redact_text
from tests.attacks.test_git import bring
from tests.core.engine.kapitan.test_chart_dependencies import packed as packed_chart
from tests.world.cluster import CLASS, ClusterWorld
from tests.world.context import make_context
from tests.world.folders import write_script
from tests.world.git_server import GitServer
from tests.world.loopback import LoopbackHandler, LoopbackServer
from tests.world.repos import GitWorld

SECRETS = (
    "COMMODORE_API_TOKEN", "COMMODORE_GITHUB_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "CI_JOB_TOKEN",
    "VAULT_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_CLIENT_SECRET", "HELM_KUBETOKEN", "KUBE_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS", "SOME_SECRET", "PGPASSWORD",
)  # fmt: skip
CANARY = "canary-of-a-variable"


@pytest.mark.harmless
@pytest.mark.parametrize("child", Child)
def test_variables_that_a_child_gets(child: Child) -> None:
    ordinary = {"HOME": "/h", "LC_ALL": "C", "https_proxy": "http://p", "SSL_CERT_FILE": "/c", "TMPDIR": "/t"}
    given = child_environment(child, {**dict.fromkeys(SECRETS, CANARY), **ordinary, "PATH": "/bin:."})
    stores = [name for name in SECRETS if name.startswith(("AWS_", "AZURE_", "GOOGLE_"))]
    expected = dict.fromkeys(stores if child is Child.WORKER_WITH_STORE else (), CANARY)
    assert given == {"PATH": "/bin", **ordinary, **expected}


@pytest.mark.harmless
def test_variables_of_the_user_arrive() -> None:
    """Everything that git, helm and Kapitan document, and what scripts for GIT_ASKPASS read, which no tool gets."""
    for name in ("GIT_SSH_COMMAND", "GIT_SSL_NO_VERIFY", "GIT_CONFIG_VALUE_0", "GIT_TRACE", "SSH_AUTH_SOCK"):
        for child in (Child.GIT, Child.TOOL, Child.WORKER):
            assert child_environment(child, {name: "x"}) == {name: "x"}
    for name in ("GIT_PASSWORD", "GNUPGHOME", "EMAIL"):
        assert child_environment(Child.GIT, {name: "x"}) == {name: "x"}
        assert child_environment(Child.TOOL, {name: "x"}) == {}
    for name in ("HELM_PLUGINS", "KUBECONFIG", "ASDF_HELM_VERSION"):
        assert child_environment(Child.TOOL, {name: "x"}) == child_environment(Child.WORKER, {name: "x"}) == {name: "x"}
    for name in ("KAPITAN_VAR_x", "COMMODORE_LIMITS", "VAULT_ADDR", "OCI_PASSWORD"):
        assert child_environment(Child.WORKER, {name: "x"}) == {name: "x"}
        assert child_environment(Child.TOOL, {name: "x"}) == {}


@pytest.mark.harmless
def test_an_empty_list_of_variables_stays_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELM_PLUGINS", "x")
    assert start(["/usr/bin/env"], env={}, capture_output=True).stdout == b""
    assert b"HELM_PLUGINS=x" in start(["/usr/bin/env"], capture_output=True).stdout


@pytest.mark.allowed
def test_variables_of_credential_helpers() -> None:
    """The user lists them; none but what fetches, and what starts that, gets them."""
    given = {
        "COMMODORE_HELPER_VARIABLES": "GITHUB_TOKEN, AWS_*",
        "GITHUB_TOKEN": "x",
        "AWS_PROFILE": "y",
        "VAULT_TOKEN": "z",
    }
    listed = {"GITHUB_TOKEN": "x", "AWS_PROFILE": "y"}
    assert child_environment(Child.GIT, given) == child_environment(Child.FETCHING_TOOL, given) == listed
    assert child_environment(Child.WORKER, given).items() >= listed.items()
    assert child_environment(Child.TOOL, given) == child_environment(Child.PYTHON, given) == {}


@pytest.mark.harmless
def test_programs_of_a_compile(world: ClusterWorld, tmp_path: Path) -> None:
    """git, helm, kustomize and a component's command write down all that they see."""
    seen, folder = tmp_path / "seen", tmp_path / "spies"
    for name in ("git", "helm", "kustomize", "sh"):
        real = shutil.which(name)
        write_script(folder / name, f'{{ echo {name} "$@"; env; }} >> {seen}\nexec {real} "$@"')
    chart = {"component/chart/Chart.yaml": "apiVersion: v2\nname: chart\nversion: 1.0.0\n"}
    chart["component/chart/templates/x.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
    entry = """
      - input_paths: ['${_base_directory}/component/chart']
        input_type: helm
        output_path: ${_instance}/
      - input_paths: ['${_base_directory}/component/script']
        input_type: external
        output_path: ${_instance}/
"""
    chart["component/script"] = f"#!/bin/sh\nenv >> {seen}\n"
    remote = world.component("c-charts", chart)
    remote.commit({"class/c-charts.yml": CLASS.rstrip() + entry})
    for name in SECRETS:
        world.environment[name] = CANARY
    world.environment["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
    world.apart = True
    world.compile("--push")
    text = seen.read_text()
    assert "\nhelm template" in text
    assert "git " in text
    assert CANARY not in text


@pytest.mark.harmless
@pytest.mark.parametrize("spelling", ["tess:canary", "canary", "tess:canary%20%27", "canary:"])
def test_passwords_on_command_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spelling: str) -> None:
    """Git writes down each program that it starts, with all of its arguments."""
    remotes, log = GitWorld(tmp_path / "remotes"), tmp_path / "log"
    remotes.remote("x", files={"a": "1"})
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(log))
    monkeypatch.setenv("GIT_TRACE2_REDACT", "0")
    with GitServer(remotes.root, password=spelling.partition(":")[2].replace("%20", " ").replace("%27", "'")) as server:
        server.private = spelling.startswith("tess")
        url = server.site.replace("://", f"://{spelling}@") + "/x.git"
        assert bring(tmp_path / "work", url, "master").sha
        assert not server.private or any(server.logins)
    started = [json.loads(line).get("argv", []) for line in log.read_text().splitlines()]
    assert any("remote-http" in " ".join(argv) for argv in started)
    assert not [argv for argv in started if "canary" in " ".join(argv)]


@pytest.mark.harmless
def test_a_password_for_a_push_that_is_redirected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server leads to another place of its own, which wants the password, too."""
    remotes, log = GitWorld(tmp_path / "remotes"), tmp_path / "log"
    remotes.remote("x", files={"a": "1"})
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(log))
    monkeypatch.setenv("GIT_TRACE2_REDACT", "0")
    with GitServer(remotes.root, password="canary") as server:
        server.private = True
        server.moved["/moved.git"] = f"{server.site}/x.git"
        assert bring(tmp_path / "work", server.site.replace("://", "://tess:canary@") + "/moved.git", "master").sha
    assert "canary" not in log.read_text()


@pytest.mark.harmless
def test_a_password_does_not_get_to_the_helpers_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remotes, record = GitWorld(tmp_path / "remotes"), tmp_path / "record"
    remotes.remote("x", files={"a": "1"})
    write_script(tmp_path / "helper", f'echo "$1" >> {record}; cat >> {record}')
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "credential.helper")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(tmp_path / "helper"))
    with GitServer(remotes.root, password="canary") as server:
        server.private = True
        assert bring(tmp_path / "work", server.site.replace("://", "://tess:canary@") + "/x.git", "master").sha
    assert not record.exists()


@pytest.mark.harmless
def test_helpers_of_the_user_go_on_working(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a URL without a password, with a variable that the user lists."""
    remotes = GitWorld(tmp_path / "remotes")
    remotes.remote("x", files={"a": "1"})
    write_script(tmp_path / "helper", 'echo "username=tess"; echo "password=$SOME_SECRET"')
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "credential.helper")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(tmp_path / "helper"))
    monkeypatch.setenv("SOME_SECRET", "canary")
    monkeypatch.setenv("COMMODORE_HELPER_VARIABLES", "SOME_SECRET")
    with GitServer(remotes.root, password="canary") as server:
        server.private = True
        assert bring(tmp_path / "work", f"{server.site}/x.git", "master").sha


@pytest.mark.harmless
def test_a_url_that_the_user_replaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`insteadOf` counts for the URL with its password, as git has it; that costs a process for such URLs alone."""
    remote = GitWorld(tmp_path / "remotes").remote("x", files={"a": "1"})
    url = "https://tess:canary@git.example.com/x.git"
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{remote.url}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", url)
    assert bring(tmp_path / "work", url, "master").sha == remote.sha()
    git = Git(tmp_path, make_context())
    assert git.authenticated(url).run(["ls-remote", bare_url(url), "HEAD"]).text.startswith(remote.sha())
    assert git.authenticated(bare_url(url)) is git


@pytest.mark.harmless
def test_passwords_of_dependencies(world: ClusterWorld, tmp_path: Path) -> None:
    """Kapitan says what it fetches. None of its lines, and no argument of git, has the password or the token."""
    remotes, log = GitWorld(tmp_path / "remotes"), tmp_path / "log"
    remotes.remote("x", files={"a": "1"})
    with GitServer(remotes.root, password="canary") as server, Files() as files:
        server.private = True
        site = files.site.replace("://", "://tess:canary@")
        dependencies = [
            {"type": "https", "source": f"{site}/x.txt?token=canary", "output_path": "dependencies/x.txt"},
            {
                "type": "helm",
                "source": site,
                "chart_name": "x",
                "version": "1.0.0",
                "output_path": "dependencies/chart",
            },
            *(
                {
                    "type": "git",
                    "source": server.site.replace("://", "://tess:canary@") + "/x.git",
                    "output_path": f"dependencies/{ref}",
                    "ref": ref,
                }
                for ref in ("master", "master~0")  # the latter takes a clone with all of the history
            ),
        ]
        remote = world.component("c-fetching")
        lines = [f"      - {json.dumps(dependency)}" for dependency in dependencies]
        remote.commit({"class/c-fetching.yml": CLASS.rstrip() + "\n    dependencies:\n" + "\n".join(lines) + "\n"})
        world.environment |= {"GIT_TRACE2_EVENT": str(log), "GIT_TRACE2_REDACT": "0"}
        world.apart = True
        world.publish()
        policy = tmp_path / "policy.toml"
        policy.write_text('hosts = ["127.0.0.1"]')
        result = world.run(*world.command(), "-vvv", "--trust-policy", str(policy))
    assert result.code == 0, result.stderr
    assert "launching helm" in result.stderr
    assert {"/x.txt?token=canary", "/index.yaml", "/x.tgz"} <= set(files.asked)
    assert any(server.logins)
    texts = (result.stdout, result.stderr, log.read_text())
    assert not [line for text in texts for line in text.splitlines() if "canary" in line]


class Files(LoopbackServer):
    """A file and a repository with one chart."""

    def __init__(self) -> None:
        super().__init__(_FilesHandler)
        self.asked: list[str] = []


class _FilesHandler(LoopbackHandler):
    world: Files

    def answer(self) -> None:
        self.world.asked.append(self.path)
        index = {"apiVersion": "v1", "entries": {"x": [{"name": "x", "version": "1.0.0", "urls": ["x.tgz"]}]}}
        packed = packed_chart("x", "1.0.0")
        self.send(200, {}, {"/index.yaml": json.dumps(index).encode(), "/x.tgz": packed}.get(self.path, b"text"))


SPELLINGS = [
    "git://user:SECRET@127.0.0.1:1/x.git",
    "user:SECRET@127.0.0.1:x",
    "https:///user:SECRET@127.0.0.1/x",
    "https://user:SEC RET@127.0.0.1:1/x",
    "https://user:'SECRET'@127.0.0.1:1/x",
    'https://user:"SECRET"@127.0.0.1:1/x',
    "HTTPS://user:SECRET@127.0.0.1:1/x",
    "https://SECRET@127.0.0.1:1/x",
    "https://'SECRET'@127.0.0.1:1/x",
    "https://user:SECRET:x@127.0.0.1:1/x",
    "https://user:SECRET@x@127.0.0.1:1/x",
    "ssh://user:SECRET@127.0.0.1:1/x",
    "git+ssh://user:SECRET@127.0.0.1:1/x",
    "ftp://user:SECRET@127.0.0.1/x",
    "oci://user:SECRET@127.0.0.1/x",
    "svn://user:SECRET@127.0.0.1/x",
    "ssh:///user:SECRET@127.0.0.1/x",
]


@pytest.mark.harmless
@pytest.mark.parametrize("url", SPELLINGS)
def test_passwords_in_texts_of_others(url: str) -> None:
    for frame in ("fatal: unable to access '{}/': nope", "Cloning {} into x", '"{}"', "{}", "a {} b {}"):
        shown = redact_text(frame.format(*[url] * 2))
        assert "SEC" not in shown
        assert "RET" not in shown


@pytest.mark.harmless
def test_the_answer_of_a_server_of_git() -> None:
    said = "fatal: unable to look up user:SECRET@git.example.com (port 9418) (Name or service not known)"
    assert "SECRET" not in redact_text(said)


@pytest.mark.parametrize("url", SPELLINGS)
def test_passwords_in_errors_of_git(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_SSH_COMMAND", "false")
    with pytest.raises(CommodoreError) as caught:
        bring(tmp_path / "work", url, "master")
    assert caught.value.code in (
        "CMD-GIT-002",
        "CMD-GIT-004",
        "CMD-GIT-005",
        "CMD-GIT-010",
        "CMD-GIT-011",
        "CMD-GIT-012",
    )
    assert "SEC" not in str(plain(caught.value))
    with pytest.raises(CommodoreError) as said:
        Git(tmp_path, make_context()).run(["ls-remote", url])
    assert "SEC" not in str(plain(said.value))


@pytest.mark.harmless
def test_texts_without_passwords() -> None:
    text = "a: b@c:d, 12:30 me@x.org: hi, key: value @ x, x:y, https://x.org/a@b:c git@host:x nginx:1@sha256:0"
    assert redact_text(text) == text
    for text in ("'https://x.org' or 'git@y:z'", "https://x.org:8443 or git@y:z", "ssh://x.org:22, git@y:z"):
        assert redact_text(text) == text
    for path in ("/srv/a b:c@d:e", "file:///srv/a:b@c/d"):
        assert redact(path) == path


@pytest.mark.harmless
@pytest.mark.parametrize("part", ["http://", "x://a:", "a:b@", "https://a:b ", "a.", "a:b@c["])
def test_a_text_that_is_all_beginnings_of_urls(part: str) -> None:
    """It takes a moment; a pattern that begins anew at each of them takes minutes."""
    assert redact_text(part * 20_000)
