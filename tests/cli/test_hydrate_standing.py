"""Files on hydrated branches that are not of their Applications are neither lost nor kept in silence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.hydrated_place import Place
from tests.world.repos import git

EDITED = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: x}\ndata: {v: hotfix}\n"


def codes(said: str) -> list[str]:
    return [json.loads(line)["code"] for line in said.splitlines() if '"code"' in line]


def outcomes(groups: list[dict[str, Any]]) -> dict[str, str]:
    return {group["destination"]["branch"]: group["outcome"] for group in groups}


def only_dev(place: Place, *names: str) -> None:
    for name in names:
        place.application(name)


@pytest.mark.requirement("H3")
def test_a_staged_branch_that_comes_later_is_made(place: Place) -> None:
    only_dev(place, "a", "b")
    place.run()
    for name in "ab":
        place.application(name, hydrateTo={"targetBranch": "env/dev-next"})
    code, result = place.ask("plan", "--check")
    assert (code, outcomes(result["groups"])) == (1, {"env/dev-next": "render"})
    code, (group,) = place.run("--dry-run")
    assert (code, group["outcome"], group["reason"]) == (0, "planned", "the branch would be created")
    code, (group,) = place.run()
    assert (code, group["outcome"], group["commit"]) == (0, "created", place.remote.sha("env/dev"))
    assert place.remote.sha("env/dev-next") == place.remote.sha("env/dev")
    assert place.ask("plan", "--check")[0] == 0
    only_dev(place, "a", "b")
    assert outcomes(place.run("--removed", "keep")[1]) == {"env/dev": "hydrated"}, "the note names both branches"


@pytest.mark.requirement("H3")
def test_a_deployed_branch_that_is_gone_is_made_again(place: Place) -> None:
    place.application("a", hydrateTo={"targetBranch": "env/dev-next"})
    place.run()
    start = place.remote.sha("env/dev")
    place.remote.delete_branch("env/dev")
    assert place.ask("plan", "--check")[0] == 1
    code, (group,) = place.run()
    assert (code, group["outcome"], place.remote.sha("env/dev")) == (0, "created", start)


@pytest.mark.requirement("H40")
def test_stale_paths_are_said_at_each_run_and_removed_when_that_is_wanted(place: Place) -> None:
    only_dev(place, "a", "b")
    place.run()
    (place.folder / "b.yaml").unlink()
    for _ in range(3):
        code, (group,) = place.run()
        assert (code, [item["code"] for item in group["warnings"]], group["stale"]) == (0, ["CMD-HYD-030"], ["b"])
    assert group["outcome"] == "hydrated"
    code, result = place.ask("plan", "--check")
    assert (code, result["groups"][0]["stale"]) == (1, ["b"])
    assert place.ask("plan", "--check", "--removed", "keep")[0] == 0
    code, result = place.ask("plan", "--check", "--removed", "delete")
    assert (code, result["groups"][0]["outcome"]) == (1, "remove")
    code, (group,) = place.run("--removed", "delete")
    assert (code, group["outcome"], group["removed"]) == (0, "committed", ["b"])
    assert "b/manifest.yaml" not in git(place.remote.path, "ls-tree", "-r", "--name-only", "env/dev")
    assert place.ask("plan", "--check")[0] == 0
    assert place.ask("status")[1]["branches"][0]["ours"], "the dry commit is the same, and so is the root's metadata"


@pytest.mark.requirement("H40")
def test_a_branch_without_applications_is_named(place: Place) -> None:
    """It is an error until it was said what is to happen to it; branches of others that begin there are none of it."""
    only_dev(place, "a", "b")
    place.run()
    place.remote.start_branch("feature", "env/dev")
    for name in "ab":
        place.application(name, branch="env/other")
    code, result = place.ask("plan", "--check")
    assert (code, outcomes(result["groups"])) == (1, {"env/other": "render", "env/dev": "abandoned"})
    code, groups = place.run()
    assert (code, outcomes(groups)) == (1, {"env/other": "committed", "env/dev": "failed"})
    assert groups[1]["error"]["code"] == "CMD-HYD-049"
    assert [group["name"] for group in groups[1]["applications"]] == ["a", "b"]
    _, result = place.ask("status")
    assert [(item["branch"], item["stale"]) for item in result["branches"]] == [
        ("env/other", []),
        ("env/dev", ["a", "b"]),
    ]
    code, result = place.ask("check")
    assert (code, result["partial"]) == (1, True)
    assert [(item["branch"], item["answer"]) for item in result["paths"]] == [
        ("env/other", "same"), ("env/other", "same"), ("env/dev", "cannot"), ("env/dev", "cannot"),
    ]  # fmt: skip
    assert place.ask("check", "--allow-unknown")[0] == 0
    for narrowed in (["--removed", "keep"], ["--branch", "env/other"], ["--protect", "env/other"]):
        assert place.run(*narrowed)[0] == 0
    code, groups = place.run("--removed", "delete")
    assert (code, groups[1]["error"]["code"]) == (4, "CMD-HYD-031")
    code, groups = place.run("--removed", "delete", "--allow-mass-removal")
    assert (code, groups[1]["removed"]) == (0, ["a", "b"])
    assert git(place.remote.path, "ls-tree", "-r", "--name-only", "env/dev").splitlines() == [
        ".gitattributes",
        "hydrator.metadata",
    ]
    assert place.ask("plan", "--check")[0] == 0
    assert "a/manifest.yaml" in git(place.remote.path, "ls-tree", "-r", "--name-only", "feature")


@pytest.mark.requirement("H40")
def test_branches_may_have_one_commit(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal manifests, of one dry commit in one second, are one commit: its note names all branches that have it."""
    monkeypatch.setenv("COMMODORE_HYDRATE_COMMIT_DATE", "dry")
    only_dev(place, "a", "b")
    place.run()
    for name in "ab":
        place.application(name, branch="env/other")
    code, groups = place.run()
    assert (code, outcomes(groups)) == (1, {"env/other": "committed", "env/dev": "failed"})
    assert place.remote.sha("env/other") == place.remote.sha("env/dev")
    _, result = place.ask("status")
    assert [item["branch"] for item in result["branches"]] == ["env/other", "env/dev"]


@pytest.mark.requirement("H40", "H41")
def test_edits_of_others_are_neither_overwritten_nor_kept_in_silence(place: Place) -> None:
    only_dev(place, "a", "b")
    place.run()
    edit = place.remote.commit({"a/manifest.yaml": EDITED}, branch="env/dev", message="Hotfix")
    code, result = place.ask("plan", "--check")
    assert (code, result["groups"][0]["edited"]) == (1, {"a": f"{edit[:7]} by Tess Ter"})
    assert place.ask("status")[1]["branches"][0]["edited"] == {"a": f"{edit[:7]} by Tess Ter"}
    for number in (None, 2):
        if number:
            place.change(number)
        code, (group,) = place.run()
        assert (code, group["error"]["code"], place.remote.sha("env/dev")) == (4, "CMD-HYD-047", edit)
    place.change(3, "b")
    for again in ("committed", "hydrated"):
        code, (group,) = place.run("--edited", "keep")
        assert (code, group["outcome"]) == (0, again)
        assert [item["code"] for item in group["warnings"]] == ["CMD-HYD-048"]
    assert git(place.remote.path, "show", "env/dev:a/manifest.yaml") == EDITED.strip()
    assert "v: '3'" in git(place.remote.path, "show", "env/dev:b/manifest.yaml")
    assert place.ask("plan", "--check", "--edited", "keep")[0] == 0
    assert place.run()[0] == 4, "what was kept once is not overwritten later"
    code, (group,) = place.run("--edited", "overwrite")
    assert (code, group["outcome"], group["changed"]) == (0, "committed", ["a"])
    assert [item["code"] for item in group["warnings"]] == ["CMD-HYD-032"]
    assert place.ask("plan", "--check")[0] == 0


@pytest.mark.requirement("H41")
def test_an_edit_that_its_sources_render_by_now_is_settled(place: Place) -> None:
    only_dev(place, "a")
    (place.folder / "b.yaml").unlink()
    place.run()
    place.remote.commit({"a/manifest.yaml": EDITED}, branch="env/dev")
    place.remote.commit({"apps/a/config.yaml": EDITED})
    code, (group,) = place.run()
    assert (code, group["outcome"]) == (0, "noted")
    assert place.ask("plan", "--check")[0] == 0


@pytest.mark.requirement("H41")
@pytest.mark.parametrize("notes", [[], ["--no-notes"]])
def test_what_a_person_takes_back_is_an_edit(place: Place, notes: list[str]) -> None:
    """Also if all files of a path go back together, or go; without notes a commit is known by what it records."""
    only_dev(place, "a")
    (place.folder / "b.yaml").unlink()
    place.run(*notes)
    place.change(2)
    place.run(*notes)
    files = {name: git(place.remote.path, "show", f"env/dev^:a/{name}") for name in ("README.md", "manifest.yaml")}
    place.remote.commit({f"a/{name}": f"{text}\n" for name, text in files.items()}, branch="env/dev")
    assert place.run(*notes)[0] == 4
    place.remote.commit({f"a/{name}": None for name in (*files, "hydrator.metadata")}, branch="env/dev")
    code, (group,) = place.run(*notes)
    assert (code, group["error"]["code"]) == (4, "CMD-HYD-047")
    assert place.run("--edited", "overwrite", *notes)[0] == 0


@pytest.mark.requirement("H39")
def test_another_group_on_the_branch_does_not_hide_edits(place: Place) -> None:
    place.remote.start_branch("release", "main")
    place.remote.commit({"apps/x": ""}, branch="main")
    only_dev(place, "a")
    dry = {"repoURL": place.remote.url, "targetRevision": "release", "path": "apps/b"}
    place.application("b", drySource=dry)
    place.run()
    place.remote.commit({"a/manifest.yaml": EDITED}, branch="env/dev")
    place.remote.commit({"apps/b/config.yaml": EDITED.replace("name: a", "name: b")}, branch="release")
    for _ in range(2):
        code, groups = place.run()
        assert (code, "CMD-HYD-047" in json.dumps(groups)) == (4, True)
    assert git(place.remote.path, "show", "env/dev:a/manifest.yaml") == EDITED.strip()
    assert "hotfix" in git(place.remote.path, "show", "env/dev:b/manifest.yaml")


@pytest.mark.requirement("H52")
def test_an_old_commit_is_checked_with_its_options(place: Place) -> None:
    """The options that stood in the Application then count, not those of today."""
    chart = "apiVersion: v2\nname: a\nversion: 1.0.0\n"
    template = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {v: {{ .Values.v | quote }}}\n"
    place.remote.commit({"apps/a/Chart.yaml": chart, "apps/a/templates/x.yaml": template, "apps/a/config.yaml": None})
    (place.folder / "b.yaml").unlink()
    dry = {"repoURL": place.remote.url, "targetRevision": "main", "path": "apps/a"}
    commits = []
    for value in ("first", "second"):
        place.application("a", drySource={**dry, "helm": {"parameters": [{"name": "v", "value": value}]}})
        commits.append(place.run()[1][0]["commit"])
    for commit in commits:
        code, result = place.ask("check", "--commit", commit)
        assert (code, [item["answer"] for item in result["paths"]]) == (0, ["same"])
    _, result = place.ask("plan")
    assert result["groups"][0]["outcome"] == "hydrated"


@pytest.mark.requirement("H52")
def test_metadata_without_options_make_no_false_alarm(place: Place) -> None:
    """Older versions did not record options: if the commands differ, nothing can be said."""
    chart = "apiVersion: v2\nname: a\nversion: 1.0.0\n"
    template = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {v: {{ .Values.v | quote }}}\n"
    place.remote.commit({"apps/a/Chart.yaml": chart, "apps/a/templates/x.yaml": template, "apps/a/config.yaml": None})
    (place.folder / "b.yaml").unlink()
    dry = {"repoURL": place.remote.url, "targetRevision": "main", "path": "apps/a"}
    place.application("a", drySource={**dry, "helm": {"parameters": [{"name": "v", "value": "first"}]}})
    place.run()
    metadata = json.loads(git(place.remote.path, "show", "env/dev:a/hydrator.metadata"))
    del metadata["drySource"]["options"]
    old = place.remote.commit({"a/hydrator.metadata": json.dumps(metadata)}, branch="env/dev")
    place.application("a", drySource={**dry, "helm": {"parameters": [{"name": "v", "value": "second"}]}})
    code, result = place.ask("check", "--commit", old)
    assert (code, result["paths"][0]["answer"]) == (1, "cannot")
    assert result["paths"][0]["reason"].startswith("options have changed")


@pytest.mark.requirement("H52")
def test_what_is_not_hydrated_yet_cannot_be_checked(place: Place) -> None:
    """Green would mean that branches are what their Applications say."""
    for hydrated in ([], ["a"]):
        code, result = place.ask("check")
        answers = {item["path"]: item["answer"] for item in result["paths"]}
        assert (code, result["partial"]) == (1, True)
        assert answers == {path: "same" if path in hydrated else "cannot" for path in "ab"}
        place.run("--only", "a")


@pytest.mark.requirement("H18")
def test_an_application_that_is_wrong_holds_back_its_branch_alone(place: Place) -> None:
    """A name without quotes that YAML reads as false; nothing is removed while it is not known what is written."""
    place.application("c", branch="env/prod")
    only_dev(place, "a")
    place.run()
    wrong = (place.folder / "c.yaml").read_text(encoding="utf-8").replace("name: c", "name: n")
    (place.folder / "wrong.yaml").write_text(wrong, encoding="utf-8")
    (place.folder / "b.yaml").unlink()
    place.change(2)
    code, out, said = place.call(
        "-d", str(place.folder.parent / "work"), "hydrate", "run", str(place.folder), "--removed", "delete"
    )
    assert code == 1
    assert "metadata.name must be text, not false" in said
    assert "nothing is hydrated to the branch env/prod" in said
    assert [line.split(":")[0].rsplit(" ", 1)[0] for line in out.splitlines() if line.startswith("env")] == [
        "env/dev  committed"
    ]
    assert "env/dev-next" not in said, "its only Application is gone, or is it the wrong one?"
