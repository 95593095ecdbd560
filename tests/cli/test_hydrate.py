"""`commodore hydrate`, from Applications and sources in git to branches of a remote."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from commodore.base.events import StageStarted
from commodore.cli.hydrate.watch import GracefulShutdown
from commodore.hydrate import Wakeup
from commodore.hydrate.walk import PUSH_STAGE
from tests.cli.hydrated_place import CONFIG, Place
from tests.cli.test_watch import watching
from tests.world.git_server import GitServer
from tests.world.repos import GitWorld, Remote, git

Shown = tuple[int, str, str]
Call = Callable[..., Shown]


@pytest.mark.requirement("H1", "H2", "H8", "H10", "H16", "H24", "H53")
def test_sources_become_branches(place: Place) -> None:
    code, groups = place.run()
    assert code == 0
    assert [(group["destination"]["branch"], group["outcome"], group["changed"]) for group in groups] == [
        ("env/dev", "committed", ["a"]), ("env/dev-next", "committed", ["b"]),
    ]  # fmt: skip
    assert groups[0]["applications"] == [
        {"name": "a", "path": "a", "outcome": "changed", "objects": 1, "added": 1, "removed": 0, "changed": 0}
    ]
    assert all(group["seconds"] > 0 and group["error"] is None and group["warnings"] == [] for group in groups)
    shown = git(place.remote.path, "show", "env/dev:a/manifest.yaml")
    assert yaml.safe_load(shown)["data"] == {"v": "1"}
    said = git(place.remote.path, "log", "-1", "--format=%an %s", "env/dev")
    assert said == f"Jo {place.remote.sha()[:7]}: Change"
    told = json.loads(git(place.remote.path, "show", "env/dev-next:b/hydrator.metadata"))
    assert told["drySource"] == {"targetRevision": "main", "path": "apps/b", "options": {}}


@pytest.mark.requirement("H17", "H47")
def test_a_second_run_does_nothing(place: Place) -> None:
    place.run()
    before = git(place.remote.path, "for-each-ref")
    code, groups = place.run()
    assert (code, [group["outcome"] for group in groups]) == (0, ["hydrated", "hydrated"])
    assert [item["outcome"] for item in place.run(work="elsewhere")[1]] == ["hydrated", "hydrated"]
    assert git(place.remote.path, "for-each-ref") == before


@pytest.mark.requirement("H15", "H17")
def test_a_change_of_one_application(place: Place) -> None:
    place.run()
    place.change(2)
    code, groups = place.run()
    assert (code, [group["outcome"] for group in groups]) == (0, ["committed", "noted"])
    assert place.subjects()[0] == "Set 2"


@pytest.mark.requirement("H47")
def test_what_touches_no_path_is_noted(place: Place) -> None:
    """It is not rendered; a change of a path that counts is."""
    file = place.folder / "a.yaml"
    data = yaml.safe_load(file.read_text())
    data["metadata"]["annotations"] = {"argocd.argoproj.io/manifest-generate-paths": "."}
    file.write_text(yaml.safe_dump(data))
    place.run("--only", "a")
    sha = place.remote.commit({"docs/x": "1"})
    assert [item["outcome"] for item in place.ask("plan", "--only", "a")[1]["groups"]] == ["unaffected"]
    (group,) = place.run("--only", "a")[1]
    assert (group["outcome"], group["applications"]) == (
        "noted", [{"name": "a", "path": "a", "outcome": "unchanged"}],
    )  # fmt: skip
    note = json.loads(git(place.remote.path, "notes", "--ref=hydrator.metadata", "show", "env/dev"))
    assert note["drySha"] == sha
    place.change(2)
    assert [item["outcome"] for item in place.run("--only", "a")[1]] == ["committed"]


@pytest.mark.requirement("H32")
def test_write_access_comes_first(place: Place) -> None:
    """Nothing is rendered for a remote that takes no push: that it could not be is not found out."""
    place.remote.commit({"apps/a/config.yaml": None})
    with GitServer(place.remote.path.parent, password="secret") as server:
        url = f"{server.site}/{place.remote.path.name}"
        place.application("a", drySource={"repoURL": url, "targetRevision": "main", "path": "apps/a"})
        code, (group,) = place.run("--only", "a")
        assert (code, group["error"]["code"]) == (3, "CMD-HYD-051")
        assert place.run("--only", "a", "--dry-run")[0] == 1


@pytest.mark.requirement("H21", "H22")
def test_options_in_the_application_and_in_git(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of files in the path of the source are merged over the ones that are inline."""
    dry = {"repoURL": place.remote.url, "targetRevision": "main", "path": "apps"}
    place.application("a", drySource={**dry, "directory": {"recurse": True, "exclude": "b/*"}})

    def rendered() -> tuple[int, list[int]]:
        code, groups = place.run("--only", "a", "--dry-run")
        return code, [item["objects"] for group in groups for item in group["applications"]]

    assert rendered() == (0, [1])
    place.remote.commit({"apps/.argocd-source-argocd_a.yaml": "directory: {exclude: ''}\n"})
    place.remote.commit({"apps/.argocd-source.yaml": "directory: {exclude: ''}\n"})
    assert rendered() == (0, [2])
    monkeypatch.setenv("COMMODORE_HYDRATE_OPTIONS_IN_GIT", "1")
    assert rendered()[0] == 1


@pytest.mark.requirement("H36")
def test_templates_that_give_another_result_each_time(place: Place) -> None:
    template = CONFIG.format(name="x", value="{{ randAlphaNum 9 }}")
    place.remote.commit({f"apps/a/{name}": text for name, text in CHART.items()})
    place.remote.commit({"apps/a/chart/templates/x.yaml": template, "apps/a/config.yaml": None})
    dry = {"repoURL": place.remote.url, "targetRevision": "main", "path": "apps/a/chart"}
    place.application("a", drySource=dry)
    code, (group,) = place.run("--only", "a", "--twice")
    assert (code, group["error"]["code"]) == (1, "CMD-HYD-045")
    assert "ConfigMap" in group["error"]["message"]


@pytest.mark.requirement("H18")
def test_what_fails_does_not_hold_back_others(place: Place) -> None:
    place.remote.commit({"apps/a/config.yaml": None})
    code, groups = place.run()
    assert code == 1
    assert [group["outcome"] for group in groups] == ["failed", "committed"]
    assert "Application a" in groups[0]["reason"]


@pytest.mark.requirement("H44")
def test_secrets_stop_a_group(place: Place) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: x}\nstringData: {p: hunter2}\n"
    place.remote.commit({"apps/a/secret.yaml": secret})
    code, groups = place.run()
    assert code == 4
    assert "hunter2" not in json.dumps(groups)
    code, groups = place.run("--allow-secret", "x/*")
    assert (code, groups[0]["outcome"]) == (0, "committed")


def test_a_dry_run_pushes_nothing(place: Place) -> None:
    """It shows how manifests would change."""
    place.run("--branch", "env/dev")
    place.change(2)
    before = git(place.remote.path, "for-each-ref")
    code, groups = place.run("--dry-run")
    assert (code, [group["outcome"] for group in groups]) == (0, ["planned", "planned"])
    assert [groups[0]["applications"][0][key] for key in ("added", "removed", "changed")] == [0, 0, 1]
    assert [line for line in groups[0]["diff"] if " v: " in line] == ["-  v: '1'", "+  v: '2'"]
    place.remote.vanish()
    code, groups = place.run("--offline")
    assert (code, [group["outcome"] for group in groups]) == (0, ["planned", "planned"])
    place.remote.return_again()
    assert git(place.remote.path, "for-each-ref") == before


def test_files_for_jobs(place: Place) -> None:
    """The report is what -o json shows; the summary is a table."""
    place.remote.commit({"apps/b/config.yaml": None})
    report, summary = place.folder.parent / "report.json", place.folder.parent / "summary.md"
    code, groups = place.run("--report", str(report), "--report", f"markdown={summary}", "--repo", place.remote.url)
    assert code == 1
    loads = json.loads(report.read_text())
    assert (loads["schema"], loads["groups"], loads["exit_code"]) == ("hydrate-run", groups, 1)
    lines = summary.read_text().splitlines()
    assert [line.count(" | ") for line in lines] == [4, 0, 4, 4]
    assert "env/dev | committed |" in lines[2]
    assert "env/dev-next | failed |" in lines[3]


def test_applications_of_a_repository(place: Place) -> None:
    """Those of the dry repository itself are read at the commit that is hydrated."""
    files = {f"argo/{file.name}": file.read_text() for file in place.folder.iterdir()}
    first = place.remote.commit(files)
    place.remote.commit({"argo/b.yaml": None})
    words = ["-d", str(place.folder.parent / "work"), "hydrate", "plan", "-o", "json"]

    def branches(*sources: str) -> list[str]:
        code, out, err = place.call(*words, *sources)
        assert code == 0, err
        return [load["destination"]["branch"] for load in json.loads(out)["groups"]]

    assert branches(f"{place.remote.url}:argo") == ["env/dev"]
    assert branches(f"{place.remote.url}@{first}:argo/") == ["env/dev", "env/dev-next"]
    words[3] = "run"
    assert branches(f"{place.remote.url}@main:argo", "--dry-run") == ["env/dev"]
    assert branches(f"{place.remote.url}:argo", "--dry-sha", first, "--allow-older") == ["env/dev", "env/dev-next"]
    code, _, err = place.call(*words, f"{place.remote.url}:apps")
    assert (code, f"in {place.remote.url}:apps" in err) == (1, True)
    code, _, err = place.call(*words, f"{place.remote.url}:none")
    assert (code, "Traceback" in err) == (1, False)


@pytest.mark.parametrize(
    ("option", "value", "hint"),
    [
        ("--only", "aa", "did you mean 'a'?"),
        ("--branch", "env/dve*", "did you mean 'env/dev'"),
        ("--repo", "https://git.example.com/other", ""),
    ],
)
def test_what_fits_nothing(place: Place, option: str, value: str, hint: str) -> None:
    """A mistyped name is said, not passed over."""
    words = ["-d", str(place.folder.parent / "work"), "hydrate", "run", str(place.folder), option, value]
    code, _, err = place.call(*words)
    assert (code, "CMD-HYD-029" in err, hint in err) == (1, True, True), err


def test_no_applications(place: Place) -> None:
    for file in place.folder.iterdir():
        file.unlink()
    words = ["-d", str(place.folder.parent / "work"), "hydrate", "run", str(place.folder)]
    assert place.call(*words)[0] == 1
    code, out, err = place.call(*words, "--allow-none")
    assert (code, out, "CMD-HYD-001" in err) == (0, "", True)


@pytest.mark.requirement("H46")
def test_namespaces_of_destinations(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are inputs of what is rendered, also without another dry commit."""
    kinds = ("v1\nkind: Pod", "rbac.authorization.k8s.io/v1\nkind: ClusterRole")
    objects = "---\n".join(f"apiVersion: {kind}\nmetadata: {{name: r}}\n" for kind in kinds)
    place.remote.commit({"apps/a/config.yaml": objects})
    place.run("--only", "a")
    file = place.folder / "a.yaml"
    data = yaml.safe_load(file.read_text())
    data["spec"]["destination"] = {"name": "in-cluster", "namespace": "team"}
    file.write_text(yaml.safe_dump(data))
    assert [item["outcome"] for item in place.run("--only", "a")[1]] == ["noted"]
    monkeypatch.setenv("COMMODORE_HYDRATE_SET_NAMESPACE", "1")
    assert [item["outcome"] for item in place.run("--only", "a")[1]] == ["committed"]
    written = yaml.safe_load_all(git(place.remote.path, "show", "env/dev:a/manifest.yaml"))
    assert {item["kind"]: item["metadata"].get("namespace") for item in written} == {"Pod": "team", "ClusterRole": None}


@pytest.mark.requirement("H34", "H53")
def test_a_plan(place: Place) -> None:
    code, out, _ = place.call("-d", str(place.folder.parent / "work"), "hydrate", "plan", str(place.folder))
    assert code == 0
    assert out.splitlines()[0] == "env/dev  render: there is no branch env/dev yet"
    assert out.splitlines()[-1] == "Protect these branches from other pushes: env/dev, env/dev-next"


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["plan", "{empty}"], 1, "CMD-HYD-001"),
        (["render"], 2, "CMD-HYD-013"),
        (["plan", "{apps}", "--protect", "prod/*"], 4, "CMD-HYD-008"),
        (["run", "{apps}"], 1, "CMD-HYD-025"),
    ],
)
def test_errors(place: Place, words: list[str], code: int, error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (place.folder.parent / "empty").mkdir()
    (place.folder.parent / "bad").write_text("{{ if }}")
    if error == "CMD-HYD-025":
        monkeypatch.setenv("COMMODORE_HYDRATE_MESSAGE_TEMPLATE", str(place.folder.parent / "bad"))
    names = {"empty": place.folder.parent / "empty", "apps": place.folder}
    given = [word.format(**names) if word.startswith("{") else word for word in words]
    result, _, err = place.call("-d", str(place.folder.parent / "work"), "hydrate", *given)
    assert (result, error in err) == (code, True)


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["plan", "--dry-sha", "{sha}"], 2, "No such option"),
        (["run", "--dry-sha", "{sha}"], 1, "CMD-HYD-014"),
        (["check", "--commit", "beef"], 1, "CMD-HYD-016"),
        (["run", "--watch", "--dry-sha", "{sha}"], 2, "CMD-HYD-017"),
        (["run", "--watch", "--offline"], 2, "CMD-HYD-017"),
        (["run", "-", "--watch-files", "--dry-run"], 2, "CMD-HYD-017"),
        (["run", "--watch-files"], 2, "CMD-HYD-046"),
        (["run", "--dry-run", "--repo-map", "{url}={apps}", "--watch"], 2, "CMD-HYD-046"),
        (["run", "--dry-run", "--repo-map", "{url}={apps}", "--each-commit"], 2, "CMD-HYD-046"),
        (["render", "--tree", "{out}", "--repo-map", "{url}={apps}"], 4, "CMD-HYD-012"),
    ],
)
def test_options_that_do_not_go_together(place: Place, words: list[str], code: int, error: str) -> None:
    git(place.folder.parent, "clone", "--quiet", "--bare", place.remote.url, "fork.git")
    place.application("c", drySource={"repoURL": f"file://{place.folder.parent}/fork.git", "path": "apps/a"})
    names = {
        "sha": place.remote.sha(),
        "out": place.folder.parent / "out",
        "url": place.remote.url,
        "apps": place.folder,
    }
    command, *given = (word.format(**names) for word in words)
    result, _, err = place.call("-d", str(place.folder.parent / "work"), "hydrate", command, str(place.folder), *given)
    assert (result, error in err) == (code, True), err


@pytest.mark.requirement("H23", "H26")
def test_what_is_said_of_objects(place: Place) -> None:
    """Nothing of it holds back the commit; the order can be that of the sources."""
    key = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 0, namespace: x}\ndata: {k: -----BEGIN PRIVATE KEY-----}\n"
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: x}\nstringData: {p: hunter2}\n"
    twice = CONFIG.format(name="t", value=1) + "---\n" + CONFIG.format(name="t", value=2)
    objects = "---\n".join([twice, secret, key])
    place.remote.commit({"apps/a/config.yaml": objects, "apps/a/.argocd-hydrator.yaml": "x: ["})
    words = ["-d", str(place.folder.parent / "work"), "hydrate", "run", str(place.folder), "--only", "a"]
    code, _, err = place.call(*words)
    assert (code, "CMD-HYD-040" in err) == (4, True)
    code, out, err = place.call(*words, "--secrets", "warn", "--order", "source", "-o", "json")
    assert code == 0
    assert [item in err for item in ("CMD-HYD-023", "CMD-HYD-041", "CMD-HYD-042")] == [True] * 3
    told = json.loads(out)["groups"][0]["warnings"]
    assert [item["code"] for item in told] == ["CMD-HYD-042", "CMD-HYD-041", "CMD-HYD-023"]
    assert "apps/a/.argocd-hydrator.yaml is not read" in err
    written = yaml.safe_load_all(git(place.remote.path, "show", "env/dev:a/manifest.yaml"))
    assert [item["metadata"]["name"] for item in written] == ["t", "t", "s", 0]


def test_what_is_deployed_is_not_stale(place: Place) -> None:
    """The branch that is proposed begins with what others write to the one that is deployed."""
    place.run("--branch", "env/dev")
    code, groups = place.run("--removed", "delete")
    assert (code, groups[1]["destination"]["branch"], groups[1]["removed"]) == (0, "env/dev-next", [])
    assert "a/manifest.yaml" in place.remote.files("env/dev-next")


def test_too_many_commits_at_once(place: Place) -> None:
    place.run("--branch", "env/dev")
    signature = "committer Jo <jo@example.com> 1800000000 +0000\ndata 1\nx\n"
    commits = f"commit refs/heads/main\n{signature}from refs/heads/main^0\n\n"
    commits += f"commit refs/heads/main\n{signature}\n" * 99
    commits += f"commit refs/heads/main\n{signature}"
    commits += f"M 100644 inline apps/a/config.yaml\ndata <<E\n{CONFIG.format(name='a', value=9)}E\n"
    git(place.remote.path, "fast-import", "--quiet", input=commits.encode())
    words = ["-d", str(place.folder.parent / "work"), "hydrate", "run", str(place.folder), "--each-commit"]
    code, _, err = place.call(*words, "--branch", "env/dev")
    assert (code, "CMD-HYD-015" in err) == (1, True)
    assert len(place.subjects()) == 1


def test_repositories_that_name_objects_by_sha256(place: Place) -> None:
    path = place.folder.parent / "other" / "shop.git"
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--bare", "--object-format=sha256", "--initial-branch=main")
    remote = Remote(GitWorld(path.parent), path, "main")
    remote.commit({"apps/a/config.yaml": CONFIG.format(name="a", value=1)})
    place.application("a", drySource={"repoURL": remote.url, "targetRevision": "main", "path": "apps/a"})
    assert [item["outcome"] for item in place.run("--only", "a")[1]] == ["committed"]
    assert [item["outcome"] for item in place.run("--only", "a")[1]] == ["hydrated"]
    assert [item["outcome"] for item in place.run("--only", "a", work="elsewhere")[1]] == ["hydrated"]
    told = json.loads(git(path, "show", "env/dev:hydrator.metadata"))
    assert (told["drySha"], len(told["drySha"])) == (remote.sha(), 64)


def test_the_default_branch_of_the_sources_is_not_written_to(place: Place) -> None:
    dry = {"repoURL": place.remote.url, "path": "apps/a"}
    place.application("a", drySource=dry, syncSource={"targetBranch": "main", "path": "a"})
    code, _, err = place.call("-d", str(place.folder.parent / "work"), "hydrate", "run", str(place.folder))
    assert (code, "is the branch of the sources" in err) == (4, True)


@pytest.mark.requirement("H38")
def test_branches_as_folders(place: Place, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    git(tmp_path, "clone", "--quiet", place.remote.url, str(checkout))
    place.application("c", syncSource={"targetBranch": "env/two", "path": "x"},
                      drySource={"repoURL": place.remote.url, "path": "apps/a"})  # fmt: skip
    place.application("d", syncSource={"targetBranch": "env/two", "path": "x"},
                      drySource={"repoURL": place.remote.url, "path": "apps/b"})  # fmt: skip
    words = [word for name in "abcd" for word in ("--app", str(place.folder / f"{name}.yaml"))]
    tree = tmp_path / "tree"
    mapped = f"{place.remote.url}={checkout}"
    settings = tmp_path / "settings.yaml"
    project = {"kind": "AppProject", "metadata": {"name": "closed"}, "spec": {"sourceRepos": ["https://other/*"]}}
    settings.write_text(yaml.safe_dump(project))
    closed = yaml.safe_load((place.folder / "b.yaml").read_text())
    closed["spec"]["project"] = "closed"
    (place.folder / "b.yaml").write_text(yaml.safe_dump(closed))
    words += ["--argocd-settings", str(settings)]
    code, _, err = place.call("hydrate", "render", *words, "--repo-map", mapped, "--tree", str(tree))
    assert code == 4
    assert "CMD-HYD-006" in err
    assert "CMD-HYD-011" in err
    groups = {load["branch"]: load for load in json.loads((tree / "groups.json").read_text())}
    assert groups["env/two"]["error"]
    assert groups["env/dev"]["drySha"] == place.remote.sha()
    assert sorted(path.name for path in (tree / "branches" / "env" / "dev" / "a").iterdir()) == [
        "README.md", "hydrator.metadata", "manifest.yaml",
    ]  # fmt: skip
    assert not (tree / "branches" / "env" / "two").exists()


@pytest.mark.requirement("H38")
def test_a_group_that_fails_leaves_the_other_folders_alone(place: Place, tmp_path: Path) -> None:
    """Also on the same branch; and a source next to a source hydrator counts no more than in Argo CD."""
    checkout, plain, tree = tmp_path / "checkout", tmp_path / "plain", tmp_path / "tree"
    git(tmp_path, "clone", "--quiet", place.remote.url, str(checkout))
    plain.mkdir()
    other = {"repoURL": "https://git.example.com/plain.git", "path": "."}
    place.application("c", syncSource={"targetBranch": "env/dev", "path": "c"}, drySource=other)
    application = yaml.safe_load((place.folder / "a.yaml").read_text())
    application["spec"]["sources"] = [other]
    (place.folder / "a.yaml").write_text(yaml.safe_dump(application))
    words = [word for name in "ac" for word in ("--app", str(place.folder / f"{name}.yaml"))]
    maps = ["--repo-map", f"{place.remote.url}={checkout}", "--repo-map", f"{other['repoURL']}={plain}"]
    code, _, err = place.call("hydrate", "render", *words, *maps, "--tree", str(tree))
    assert (code, "CMD-HYD-012" in err) == (1, True)
    assert "Application a has both spec.sources and a source hydrator" in err
    assert "remove spec.sources, which is ignored" in err
    errors = [bool(load["error"]) for load in json.loads((tree / "groups.json").read_text())]
    assert sorted(errors) == [False, True]
    assert (tree / "branches/env/dev/a/manifest.yaml").is_file()


@pytest.mark.requirement("H52")
def test_status_and_proof(place: Place) -> None:
    """A branch is what it says, until another author changes it; then both commands tell."""
    place.run()
    first = place.remote.sha()
    place.change(2)
    branch = place.ask("status")[1]["branches"][0]
    assert (branch["dry_sha"], branch["noted"], branch["behind"], branch["ours"]) == (first, first, 1, True)
    assert place.ask("check")[1]["paths"][0]["answer"] == "same"
    edited = CONFIG.format(name="a", value=9)
    place.remote.commit({"a/manifest.yaml": edited}, branch="env/dev", message="By hand")
    code, result = place.ask("check")
    path = result["paths"][0]
    assert (code, path["answer"], path["reason"]) == (1, "different", "the objects differ")
    assert path["changed_by"]
    assert [line for line in path["diff"] if line.startswith(("-  ", "+  "))] == ["-  v: '1'", "+  v: '9'"]
    branch = place.ask("status")[1]["branches"][0]
    assert (branch["ours"], branch["head"]) == (False, place.remote.sha("env/dev"))
    assert place.ask("check", "--commit", place.remote.sha("env/dev^"))[1]["paths"][0]["answer"] == "same"


@pytest.mark.requirement("H48")
def test_an_older_commit_by_name(place: Place) -> None:
    first = place.remote.sha()
    place.change(2)
    place.run()
    assert [item["outcome"] for item in place.run("--dry-sha", first)[1]] == ["superseded", "superseded"]
    assert [item["outcome"] for item in place.run("--dry-sha", first, "--allow-older")[1]] == ["committed", "noted"]
    assert place.subjects() == ["Change", "Set 2"]


@pytest.mark.requirement("H35")
def test_each_dry_commit(place: Place) -> None:
    place.run()
    place.change(2)
    place.change(3)
    code, groups = place.run("--each-commit", "--branch", "env/dev")
    assert (code, [group["outcome"] for group in groups]) == (0, ["committed", "committed"])
    assert place.subjects() == ["Set 3", "Set 2", "Change"]
    assert place.run("--each-commit", "--branch", "env/dev")[1][0]["outcome"] == "hydrated"


@pytest.mark.requirement("H6", "H7")
def test_watching(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything that is committed while it waits is hydrated at the next look; Ctrl-C ends it, and is not a failure."""
    looks = iter([lambda: place.change(2), lambda: None])

    def wait(wakeup: Wakeup, seconds: float) -> None:
        look = next(looks, None)
        if look is None:
            raise KeyboardInterrupt
        look()

    monkeypatch.setattr(Wakeup, "wait", wait)
    code, out, _ = place.call(
        "-d", str(place.folder.parent / "work"), "hydrate", "run", str(place.folder), "--watch", "--branch", "env/dev"
    )
    assert code == 0
    assert [line.split(" ")[2] for line in out.splitlines() if "committed" in line] == ["committed"] * 2
    assert place.subjects() == ["Set 2", "Change"]


def test_a_watcher_answers(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if nothing can be hydrated yet."""
    answers = []

    def wait(wakeup: Wakeup, seconds: float) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        for path in ("/healthz", "/readyz"):
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            answers.append(answer.status)
        raise KeyboardInterrupt

    monkeypatch.setattr(Wakeup, "wait", wait)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["-d", str(tmp_path / "work"), "hydrate", "run", str(tmp_path), "--watch", "--listen", f":{port}"]
    code, _, err = call(*words)
    assert (code, answers, "CMD-HYD-001" in err) == (0, [200, 503], True)


@pytest.mark.parametrize("signals", [1, 2])
def test_a_push_ends_before_the_watcher(place: Place, tmp_path: Path, signals: int) -> None:
    """At SIGTERM; a second one waits for nothing, and nothing is half there."""
    began, go = tmp_path / "began", tmp_path / "go"
    for pipe in (began, go):
        os.mkfifo(pipe)
    place.remote.hook("pre-receive", f"echo > {began}; cat {go}")
    words = ["-d", str(tmp_path / "work"), "hydrate", "run", str(place.folder), "--watch"]
    with watching(words, tmp_path) as program:
        began.read_text()
        program.process.send_signal(signal.SIGTERM)
        if signals == 1:
            go.write_text("")
            assert "committed" in " ".join(program.until("Ended watching"))
        else:
            time.sleep(0.2)  # two that come together are one
            program.process.send_signal(signal.SIGTERM)
            program.until("Ended watching")
        assert program.process.wait() == 0
    branches = git(place.remote.path, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()
    assert branches == (["env/dev", "env/dev-next", "main"] if signals == 1 else ["main"])


def test_a_push_may_not_go_on_for_ever() -> None:
    with GracefulShutdown(0.01).at_sigterm() as ending:
        ending.on_event(StageStarted(PUSH_STAGE))
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            ending.check()
        with pytest.raises(KeyboardInterrupt):
            signal.pause()
        with pytest.raises(KeyboardInterrupt):
            ending.on_event(StageStarted(PUSH_STAGE))


def test_what_is_not_committed_is_shown_and_never_pushed(place: Place) -> None:
    """Also where its commit is hydrated; a bundle is made of commits."""
    place.run()
    checkout = place.folder.parent / "checkout"
    git(place.folder.parent, "clone", "--quiet", place.remote.url, str(checkout))
    (checkout / "apps/a/config.yaml").write_text(CONFIG.format(name="a", value="draft"))
    before = git(place.remote.path, "for-each-ref")
    mapped = f"--repo-map={place.remote.url}={checkout}"
    code, groups = place.run("--dry-run", mapped, "--branch", "env/dev")
    assert (code, [group["outcome"] for group in groups]) == (0, ["planned"])
    assert [line for line in groups[0]["diff"] if " v: " in line] == ["-  v: '1'", "+  v: draft"]
    place.change(2)
    bundle = place.folder.parent / "bundle"
    code, _, _ = place.call("-d", str(place.folder.parent / "work"), "hydrate", "render", str(place.folder), mapped,
                            "--bundle", str(bundle))  # fmt: skip
    assert (code, [path for path in bundle.rglob("*") if path.is_file() and b"draft" in path.read_bytes()]) == (0, [])
    assert git(place.remote.path, "rev-parse", "env/dev").strip() in before


def test_watching_files(place: Place) -> None:
    """Each edit of a checkout, of hidden files too, shows what it would change; the remote is asked once."""
    place.run()
    checkout = place.folder.parent / "checkout"
    git(place.folder.parent, "clone", "--quiet", place.remote.url, str(checkout))
    words = ["-d", str(place.folder.parent / "work"), "hydrate", "run", str(place.folder), "--branch", "env/dev"]
    words += ["--dry-run", "--watch-files", "--repo-map", f"{place.remote.url}={checkout}"]
    with watching(words, place.folder.parent) as program:
        program.until("Waiting for changes")
        place.remote.vanish()
        (checkout / "apps/a/config.yaml").write_text("v: [")
        assert any("error" in line for line in program.until("Waiting for changes"))
        (checkout / "apps/a/config.yaml").write_text(CONFIG.format(name="a", value="draft"))
        assert any("+  v: draft" in line for line in program.until("Waiting for changes"))
        (checkout / "apps/a/.argocd-source.yaml").write_text("directory: {exclude: '*'}\n")
        assert any("CMD-HYD-022" in line for line in program.until("Waiting for changes"))
        assert program.end()[0] == 0
    place.remote.return_again()


@pytest.mark.requirement("H4")
def test_application_sets_are_sources(place: Place) -> None:
    (place.folder / "b.yaml").unlink()
    (place.folder / "a.yaml").unlink()
    hydrator = {
        "drySource": {"repoURL": place.remote.url, "targetRevision": "main", "path": "apps/{{name}}"},
        "syncSource": {"targetBranch": "env/{{name}}", "path": "out"},
    }
    data = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ApplicationSet",
        "metadata": {"name": "all", "namespace": "argocd"},
        "spec": {
            "generators": [{"list": {"elements": [{"name": "a"}, {"name": "b"}]}}],
            "template": {
                "metadata": {"name": "{{name}}"},
                "spec": {"project": "default", "destination": {"name": "in-cluster"}, "sourceHydrator": hydrator},
            },
        },
    }
    (place.folder / "set.yaml").write_text(yaml.safe_dump(data))
    code, groups = place.run("--twice")
    assert (code, [(group["destination"]["branch"], group["outcome"]) for group in groups]) == (
        0, [("env/a", "committed"), ("env/b", "committed")],
    )  # fmt: skip


@pytest.mark.requirement("H27", "H28")
def test_texts_and_author_of_a_configuration(place: Place) -> None:
    for name in "ab":
        (place.folder / f"{name}.yaml").unlink()
    config = {
        "apiVersion": "commodore.dev/v1alpha1",
        "kind": "HydrateConfig",
        "defaults": {"drySource": {"repoURL": place.remote.url}, "syncSource": {"targetBranch": "env/dev"}},
        "entries": [{"name": "a", "drySource": {"path": "apps/a"}, "syncSource": {"path": "a"}}],
        "templates": {"commitMessage": "Hydrate {{ .metadata.subject }}", "readme": {"file": "readme.tpl"}},
        "author": {"name": "Bot", "email": "bot@example.com"},
    }
    (place.folder / "hydrate.yaml").write_text(yaml.safe_dump(config))
    (place.folder / "readme.tpl").write_text("Of {{ .repoName }}")
    assert place.run()[0] == 0
    assert git(place.remote.path, "log", "-1", "--format=%an %s", "env/dev") == "Jo Hydrate Change"
    assert git(place.remote.path, "show", "env/dev:a/README.md") == "Of shop"


@pytest.mark.requirement("H23", "H46")
def test_what_joins_later_is_hydrated_from_the_same_commit(place: Place) -> None:
    """An Application of a commit that is hydrated already; a file of extra sources counts for nothing."""
    place.remote.commit({"apps/c/x.yaml": CONFIG.format(name="c", value=1), "apps/c/.argocd-hydrator.yaml": "x: ["})
    place.run("--branch", "env/dev")
    place.application("c")
    (group,) = place.run("--branch", "env/dev")[1]
    assert (group["outcome"], group["changed"]) == ("committed", ["c"])


@pytest.mark.requirement("H13", "H51")
def test_two_jobs(place: Place) -> None:
    """One renders, and cannot push; the other one pushes, and has no tools."""
    bundle = str(place.folder.parent / "bundle")
    place.remote.refuse_pushes("rendering does not push")
    code, out, _ = place.call(
        "-d", str(place.folder.parent / "one"), "hydrate", "render", str(place.folder), "--bundle", bundle
    )
    assert (code, out.splitlines()) == (0, ["env/dev  render", "env/dev-next  render"])
    (place.remote.path / "hooks" / "pre-receive").unlink()
    words = ["-d", str(place.folder.parent / "two"), "hydrate", "commit", bundle, "-o", "json"]
    code, _, err = place.call(*words)
    assert (code, "CMD-HYD-018" in err) == (2, True)
    code, out, _ = place.call(*words, "--allow", f"{place.remote.url}=env/*")
    assert (code, [load["outcome"] for load in json.loads(out)["groups"]]) == (0, ["committed", "committed"])
    assert [item["outcome"] for item in place.run()[1]] == ["hydrated", "hydrated"]


@pytest.mark.requirement("H36", "H37")
def test_the_same_commits_everywhere(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the order of files, the locale, the time zone, the umask and the number of workers: one commit id."""
    results = set()
    ways = [("ab", "UTC", 0o022, 1), ("ba", "Asia/Kolkata", 0o077, 3), ("ab", "America/St_Johns", 0o002, 2)]
    for number, (order, zone, umask, jobs) in enumerate(ways):
        out = GitWorld(place.folder.parent / f"out{number}").remote("out")
        for file in place.folder.iterdir():
            file.unlink()
        for position, name in enumerate(order):
            place.application(name, syncSource={"repoURL": out.url, "targetBranch": "env/dev", "path": name})
            (place.folder / f"{name}.yaml").rename(place.folder / f"{position}.yaml")
        monkeypatch.setenv("TZ", zone)
        monkeypatch.setenv("COMMODORE_HYDRATE_COMMIT_DATE", "dry")
        monkeypatch.setenv("LC_ALL", "tr_TR.UTF-8" if umask == 0o077 else "C")
        old = os.umask(umask)
        try:
            code, _ = place.run("--jobs", str(jobs), work=f"work{number}")
        finally:
            os.umask(old)
        assert code == 0
        results.add(out.sha("env/dev"))
    assert len(results) == 1


def test_a_repository_that_is_gone_does_not_hold_back_others(place: Place) -> None:
    gone = GitWorld(place.folder.parent / "gone").remote("gone", {"x/y.yaml": "kind: X\n"}, branch="main")
    place.application("c", drySource={"repoURL": gone.url, "path": "x"})
    gone.vanish()
    code, groups = place.run()
    assert (code, [group["outcome"] for group in groups]) == (3, ["committed", "committed"])


def test_repositories_are_pushed_to_at_the_same_time(place: Place) -> None:
    """One that takes its time does not hold back others: each of these waits for the other one."""
    for name, other in ("ab", "ba"):
        os.mkfifo(place.folder.parent / name)
        out = GitWorld(place.folder.parent / f"out-{name}").remote("out")
        place.application(name, syncSource={"repoURL": out.url, "targetBranch": f"env/{name}", "path": name})
        mine, others = (place.folder.parent / item for item in (name, other))
        out.hook("pre-receive", f"(echo > {mine}) & timeout 60 cat {others} || exit 1; wait")
    code, groups = place.run()
    assert (code, [group["outcome"] for group in groups]) == (0, ["committed", "committed"])


def test_nothing_new_asks_once_and_writes_nothing(place: Place) -> None:
    with GitServer(place.remote.path.parent) as server:
        url = f"{server.site}/{place.remote.path.name}"
        for name in "ab":
            place.application(name, drySource={"repoURL": url, "targetRevision": "main", "path": f"apps/{name}"})
        place.run()
        before = git(place.remote.path, "for-each-ref")
        server.asked.clear()
        assert {item["outcome"] for item in place.run()[1]} == {"hydrated"}
        assert [path.rpartition("/")[2] for method, path in server.asked if method == "GET"] == [
            "refs?service=git-upload-pack"
        ]
    assert git(place.remote.path, "for-each-ref") == before


def test_what_is_recorded_is_of_the_sources(place: Place) -> None:
    """Also if another repository is written to; paths know the reference, whose lines are no part of the body."""
    out = GitWorld(place.folder.parent / "out").remote("out")
    place.application("a", syncSource={"repoURL": out.url, "targetBranch": "env/dev", "path": "./a/"})
    (place.folder / "b.yaml").unlink()
    sha = "ab" * 20
    message = (
        "Take a new\nimage\n\nArgocd-reference-commit-sha: not here\n\nIt is better.\n\n"
        f"Argocd-reference-commit-sha: {sha}\nArgocd-reference-commit-author: Jo <jo@example.com>\n"
        "Argocd-reference-commit-repourl: https://git.example.com/code\n"
    )
    place.remote.commit({"apps/a/config.yaml": CONFIG.format(name="a", value=5)}, message=message)
    assert place.run()[0] == 0
    root, path = (json.loads(git(out.path, "show", f"env/dev:{name}hydrator.metadata")) for name in ("", "a/"))
    for told in (root, path):
        assert (told["repoURL"], told["subject"]) == (place.remote.url, "Take a new image")
        assert told["body"] == "Argocd-reference-commit-sha: not here\n\nIt is better.\n"
        assert told["references"] == [
            {"commit": {"author": "Jo <jo@example.com>", "sha": sha, "repoURL": "https://git.example.com/code"}}
        ]
        assert told["date"].endswith("Z")
    readme = git(out.path, "show", "env/dev:a/README.md")
    assert f"git clone {place.remote.url}" in readme
    assert f"It is about {sha} of https://git.example.com/code" in readme


CHART = {
    "chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n",
    "chart/templates/x.yaml": CONFIG.format(name="x", value="{{ .Values.v }}"),
}


@pytest.mark.requirement("H19")
def test_a_chart_and_its_values_in_two_repositories(place: Place) -> None:
    """A move of either one is hydrated; what was recorded can be rendered again."""
    for name in "ab":
        (place.folder / f"{name}.yaml").unlink()
    charts = GitWorld(place.folder.parent / "charts").remote("charts", CHART, branch="main")
    first = place.remote.commit({"values/dev.yaml": "v: one\n", "plain/x.yaml": CONFIG.format(name="plain", value=1)})
    config = {
        "apiVersion": "commodore.dev/v1alpha1",
        "kind": "HydrateConfig",
        "entries": [
            {
                "name": "shop",
                "drySource": {"repoURL": place.remote.url, "targetRevision": "main", "path": "plain", "ref": "here"},
                "additionalSources": [
                    {"repoURL": charts.url, "path": "chart", "helm": {"valueFiles": ["$here/values/dev.yaml"]}},
                    {"repoURL": place.remote.url, "path": "apps/a"},
                ],
                "syncSource": {"targetBranch": "env/dev", "path": "shop"},
            }
        ],
    }
    (place.folder / "hydrate.yaml").write_text(yaml.safe_dump(config))

    def values() -> dict[str, str]:
        shown = yaml.safe_load_all(git(place.remote.path, "show", "env/dev:shop/manifest.yaml"))
        return {item["metadata"]["name"]: item["data"]["v"] for item in shown}

    assert [item["outcome"] for item in place.run()[1]] == ["committed"]
    assert values() == {"x": "one", "plain": "1", "a": "1"}
    told = json.loads(git(place.remote.path, "show", "env/dev:shop/hydrator.metadata"))
    assert (told["drySha"], "commands" in told, list(told["tools"])) == (first, False, ["helm"])
    sources = [{"repoURL": charts.url, "path": "chart", "sha": charts.sha()}]
    assert told["additionalSources"] == [*sources, {"repoURL": place.remote.url, "path": "apps/a", "sha": first}]
    assert [item["outcome"] for item in place.run()[1]] == ["hydrated"]

    charts.commit({"chart/templates/x.yaml": CONFIG.format(name="x", value="new {{ .Values.v }}")})
    assert place.ask("check")[1]["paths"][0]["answer"] == "same"
    assert [item["outcome"] for item in place.run()[1]] == ["committed"]
    assert values()["x"] == "new one"
    head = git(place.remote.path, "rev-parse", "env/dev^").strip()
    assert place.ask("check", "--commit", head)[1]["paths"][0]["answer"] == "same"


def test_what_fails_leaves_no_branch_behind(place: Place) -> None:
    """No empty branch to begin with is pushed before all is rendered."""
    place.remote.commit({"apps/b/config.yaml": None})
    assert [item["outcome"] for item in place.run("--branch", "env/dev-next")[1]] == ["failed"]
    assert git(place.remote.path, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
