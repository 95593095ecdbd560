"""The GitHub Action, the GitLab component and the pre-commit hook: what their steps run is run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.authoring import HierarchyRequest, create_hierarchy
from tests.docs.tutorials import reader_environment
from tests.world.cluster import ROOT
from tests.world.context import make_context

APPLICATION = "parameters: {components: {app: {url: %s, version: main}}}\napplications: [app]\n"


def commit(folder: Path) -> None:
    if not (folder / ".git").exists():
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
    for words in (["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a hierarchy of one cluster and a component, and the environment of a runner."""
    project = tmp_path / "project"
    create_hierarchy(HierarchyRequest(project, "c-one", "t-one"), make_context())
    component = tmp_path / "app"
    for path, text in {
        "class/defaults.yml": "parameters: {app: {}}\n",
        "class/app.yml": "parameters: {kapitan: {compile: [{input_type: jsonnet, input_paths: [app/main.jsonnet], "
        "output_path: app}]}}\n",
        "main.jsonnet": "{ config: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } } }\n",
    }.items():
        (component / path).parent.mkdir(parents=True, exist_ok=True)
        (component / path).write_text(text)
    commit(component)
    (project / "global-defaults" / "common.yml").write_text(APPLICATION % component.as_uri())
    commit(project / "global-defaults")
    (tmp_path / "bin").mkdir()
    return project


def runner(project: Path, **variables: str) -> dict[str, str]:
    here = project.parent
    files = {name: str(here / name.lower()) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    base = reader_environment(here / "bin")
    work = {"COMMODORE_WORKING_DIR": "work", "XDG_CACHE_HOME": str(here / "cache"), "RUNNER_TEMP": str(here)}
    arguments = {"CLUSTER": "c-one", "ARGUMENTS": "--cluster-file cluster.yml"}
    return {
        **base,
        **files,
        **work,
        **arguments,
        "SSH_KEY": "",
        "COMMODORE_API_URL": "",
        "COMMODORE_API_TOKEN": "",
        **variables,
    }


def pushed(project: Path) -> list[str]:
    show = ["git", "ls-tree", "-r", "--name-only", "master"]
    return subprocess.run(show, cwd=project / "catalog.git", capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize("push", ["false", "true"])
def test_the_action_compiles_reports_and_pushes_where_it_shall(project: Path, push: str) -> None:
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (step,) = [step for step in action["runs"]["steps"] if step.get("id") == "compile"]
    used = set(step["env"])
    assert {"CLUSTER", "ARGUMENTS", "PUSH"} <= used
    assert "${{" not in step["run"]  # an input would become code of the shell
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]],
        cwd=project,
        env=runner(project, PUSH=push),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "ConfigMap" in (project.parent / "commodore-report.md").read_text()
    assert (project.parent / "github_step_summary").read_text() != ""
    assert ("manifests/app/config.yaml" in pushed(project)) is (push == "true")


@pytest.mark.parametrize("branch", ["", "main"])
def test_the_component_of_gitlab_does_the_same(project: Path, branch: str) -> None:
    _, job = yaml.safe_load_all((ROOT / "templates" / "compile.yml").read_text(encoding="utf-8"))
    (job,) = job.values()
    script = "\n".join(job["script"])
    assert "$[[" not in script
    environment = runner(project, CI_COMMIT_BRANCH=branch, CI_DEFAULT_BRANCH="main")
    done = subprocess.run(["bash", "-e", "-c", script], cwd=project, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "ConfigMap" in (project / "report.md").read_text()
    assert ("manifests/app/config.yaml" in pushed(project)) is (branch == "main")


@pytest.fixture
def over_ssh(project: Path) -> Path:
    """The project with its component behind SSH; the client demands the key and the host keys."""
    common = project / "global-defaults" / "common.yml"
    component = (project.parent / "app").as_posix()
    common.write_text(APPLICATION % f"ssh://git@git.example.com{component}")
    commit(project / "global-defaults")
    client = project.parent / "bin" / "ssh"
    client.write_text(
        "#!/bin/bash\n"
        'words="$*"; key=${words#*-i }; key=${key%% *}; hosts=${words#*UserKnownHostsFile=}; hosts=${hosts%% *}\n'
        '[ "$(stat -c %a "$key")" = 600 ] && grep -q "a key" "$key" && grep -q "git.example.com" "$hosts" || exit 255\n'
        f'echo used >>"{project.parent}/ssh-was-used"\nexec bash -c "${{@: -1}}"\n'
    )
    client.chmod(0o755)
    return project


@pytest.mark.parametrize("where", ["github", "gitlab"])
def test_a_key_gives_access_over_ssh(over_ssh: Path, where: str) -> None:
    hosts = "git.example.com ssh-ed25519 AAAA\n"
    if where == "github":
        action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
        (script,) = [step["run"] for step in action["runs"]["steps"] if step.get("id") == "compile"]
        variables = {"PUSH": "false", "SSH_KEY": "a key", "SSH_KNOWN_HOSTS": hosts}
    else:
        _, job = yaml.safe_load_all((ROOT / "templates" / "compile.yml").read_text(encoding="utf-8"))
        (job,) = job.values()
        script = "\n".join([job["before_script"][-1], *job["script"]])
        key, known = over_ssh.parent / "key", over_ssh.parent / "known"
        key.write_text("a key\n")
        known.write_text(hosts)
        variables = {"SSH_PRIVATE_KEY": str(key), "SSH_KNOWN_HOSTS": str(known)}
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=over_ssh, env=runner(over_ssh, **variables), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (over_ssh.parent / "ssh-was-used").exists()


def test_the_hook_finds_mistakes(tmp_path: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (tmp_path / "bin").mkdir()
    good, wrong = tmp_path / "good.yml", tmp_path / "wrong.yml"
    good.write_text("parameters: {}\n")
    wrong.write_text("parameters: {components: {app: {version: 1}}}\n")
    environment = {**os.environ, **reader_environment(tmp_path / "bin")}
    for files, code in (((good,), 0), ((good, wrong), 1)):
        done = subprocess.run([*hook["entry"].split(), *map(str, files)], env=environment, capture_output=True)
        assert done.returncode == code
