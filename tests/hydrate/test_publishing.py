"""Commits and notes on real remotes."""

from __future__ import annotations

import json
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, PolicyError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.hydrate.branches import layout
from commodore.hydrate.model import CommitRules
from tests.hydrate.conftest import Heard, Hydrated, config_map, output
from tests.world.repos import GitWorld, Link, Script, git


@pytest.mark.requirement("H10", "H24", "H29")
def test_the_first_commit_of_a_branch(hydrated: Hydrated) -> None:
    (outcome,) = hydrated.publish(hydrated.request(output("a", config_map("x", k="v"))))
    files = hydrated.files()
    assert outcome.word == "committed"
    assert list(files) == [
        ".gitattributes",
        "a/README.md",
        "a/hydrator.metadata",
        "a/manifest.yaml",
        "hydrator.metadata",
    ]
    assert files["a/manifest.yaml"].startswith("apiVersion: v1\ndata:\n  k: v\n")
    assert json.loads(files["hydrator.metadata"])["drySha"] == f"{1:040x}"
    assert json.loads(files["a/hydrator.metadata"])["applications"] == [{"name": "a"}]
    assert hydrated.commits() == ["Change 1"]
    assert hydrated.note()["drySha"] == f"{1:040x}"
    modes = {line.split(" ")[0] for line in git(hydrated.remote.path, "ls-tree", "-r", "env/dev").splitlines()}
    assert modes == {"100644"}


@pytest.mark.requirement("H17", "H47", "H50")
def test_no_commit_without_a_change(hydrated: Hydrated) -> None:
    """The note goes on, and other bytes of the same objects are no change."""
    item, two = config_map("x", k="v"), config_map("y")
    hydrated.publish(hydrated.request(output("a", item, two)))
    (outcome,) = hydrated.publish(hydrated.request(output("a", two, item), number=2))
    assert outcome.word == "noted"
    assert hydrated.commits() == ["Change 1"]
    assert hydrated.note()["drySha"] == f"{2:040x}"
    (outcome,) = hydrated.publish(hydrated.request(output("a", two, item), number=2))
    assert outcome.word == "unchanged"


@pytest.mark.requirement("H15")
def test_only_the_changed_path_is_written(hydrated: Hydrated) -> None:
    hydrated.publish(hydrated.request(output("a", config_map("x")), output("b", config_map("y"))))
    (outcome,) = hydrated.publish(
        hydrated.request(output("a", config_map("x")), output("b", config_map("y", k="v")), number=2)
    )
    files = hydrated.files()
    assert outcome.changed == ("b",)
    assert json.loads(files["a/hydrator.metadata"])["drySha"] == f"{1:040x}"
    assert json.loads(files["b/hydrator.metadata"])["drySha"] == f"{2:040x}"
    assert json.loads(files["hydrator.metadata"])["drySha"] == f"{2:040x}"


@pytest.mark.requirement("H39")
def test_files_of_others_stay(hydrated: Hydrated) -> None:
    hydrated.remote.commit({".gitattributes": "*.bin binary", "a/NOTES": "mine", "b": "mine"}, branch="env/dev")
    hydrated.publish(hydrated.request(output("a", config_map("x"))))
    files = hydrated.files()
    assert files["a/NOTES"] == files["b"] == "mine"
    assert files[".gitattributes"].splitlines() == [
        "*.bin binary",
        "**/README.md linguist-generated=true",
        "**/hydrator.metadata linguist-generated=true",
    ]


@pytest.mark.requirement("H40")
def test_what_no_application_writes_any_more(hydrated: Hydrated, collected: Heard) -> None:
    hydrated.remote.commit({"b/NOTES": "mine"}, branch="env/dev")
    both = (output("a", config_map("x")), output("b", config_map("y")))
    hydrated.publish(hydrated.request(*both))
    (outcome,) = hydrated.publish(hydrated.request(both[0], number=2))
    assert outcome.stale == ("b",)
    assert collected.codes == ["CMD-HYD-030"]
    (outcome,) = hydrated.publish(hydrated.request(both[0], number=3), writing=CommitRules(removal="delete"))
    assert outcome.removed == ("b",)
    assert [name for name in hydrated.files() if name.startswith("b/")] == ["b/NOTES"]


def test_most_of_a_branch_does_not_go_at_once(hydrated: Hydrated) -> None:
    paths = [output(name, config_map(name)) for name in "abcde"]
    hydrated.publish(hydrated.request(*paths))
    with pytest.raises(PolicyError, match="4 of 5 output paths") as caught:
        hydrated.publish(hydrated.request(paths[0], number=2), writing=CommitRules(removal="delete"))
    assert caught.value.code == "CMD-HYD-031"
    allowed = CommitRules(removal="delete", allow_mass_removal=True)
    (outcome,) = hydrated.publish(hydrated.request(paths[0], number=2), writing=allowed)
    assert outcome.removed == ("b", "c", "d", "e")


def test_paths_of_another_program(hydrated: Hydrated, collected: Heard) -> None:
    """They are rendered to, silently if nothing differs, and removed only if they were adopted."""
    theirs = json.dumps({"repoURL": "x", "drySha": "0" * 40})
    files = {"a/manifest.yaml": "", "a/README.md": "", "a/hydrator.metadata": theirs}
    hydrated.remote.commit({**files, "b/hydrator.metadata": theirs, "b/manifest.yaml": ""}, branch="env/dev")
    (outcome,) = hydrated.publish(hydrated.request(output("a")), writing=CommitRules(removal="delete"))
    assert outcome.word == "noted"
    assert collected.codes == ["CMD-HYD-034", "CMD-HYD-021"]
    adopting = CommitRules(removal="delete", adopt=("a", "b"))
    (outcome,) = hydrated.publish(hydrated.request(output("a"), number=2), writing=adopting)
    assert (outcome.changed, outcome.removed) == (("a",), ("b",))


def test_a_path_does_not_become_empty_unseen(hydrated: Hydrated) -> None:
    hydrated.publish(hydrated.request(output("a", config_map("x"))))
    with pytest.raises(InputError) as caught:
        hydrated.publish(hydrated.request(output("a"), number=2))
    assert caught.value.code == "CMD-HYD-022"
    (outcome,) = hydrated.publish(hydrated.request(output("a"), number=2), writing=CommitRules(allow_empty=True))
    assert outcome.word == "committed"
    assert hydrated.files()["a/manifest.yaml"] == ""


@pytest.mark.requirement("H42")
@pytest.mark.parametrize("path", ["a", "a/manifest.yaml", ".gitattributes"])
def test_links_are_never_followed(hydrated: Hydrated, path: str) -> None:
    hydrated.remote.commit({path: Link("/etc")}, branch="env/dev")
    with pytest.raises(PolicyError) as caught:
        hydrated.publish(hydrated.request(output("a", config_map("x"))))
    assert caught.value.code == "CMD-HYD-007"
    assert hydrated.commits() == ["Change"]


@pytest.mark.requirement("H3", "H16")
def test_a_staged_branch_begins_with_the_one_that_is_deployed(hydrated: Hydrated) -> None:
    request = hydrated.request(output("a", config_map("x")), branch="env/dev-next", sync="env/dev")
    (outcome,) = hydrated.publish(request)
    assert outcome.word == "committed"
    assert hydrated.commits("env/dev-next") == ["Change 1", "Start of env/dev"]
    assert hydrated.commits("env/dev") == ["Start of env/dev"]
    assert hydrated.files("env/dev") == {}


def test_nothing_is_pushed_in_a_dry_run(hydrated: Hydrated) -> None:
    (outcome,) = hydrated.publish(hydrated.request(output("a", config_map("x"))), dry=True)
    assert outcome.word == "planned"
    assert hydrated.remote.sha("env/dev", missing="none") == "none"


@pytest.mark.requirement("H41", "H49")
def test_ten_at_once(hydrated: Hydrated, tmp_path: Path) -> None:
    """Everything that each of them hydrates is there afterwards, once, and no note is lost."""
    names = [f"app{number}" for number in range(10)]

    def hydrate(number: int) -> str:
        item = Hydrated(tmp_path / f"work{number}", hydrated.remote, Heard())
        path = output(names[number], config_map(names[number]))
        (outcome,) = item.publish(item.request(path, number=number + 1, group=names[number], written=names))
        return outcome.word

    with ThreadPoolExecutor(10) as pool:
        assert list(pool.map(hydrate, range(10))) == ["committed"] * 10
    assert sorted(hydrated.commits()) == sorted(f"Change {number + 1}" for number in range(10))
    assert [name for name in names if f"{name}/manifest.yaml" in hydrated.files()] == names
    groups = hydrated.note()["commodore"]["groups"]
    assert sorted(groups) == sorted(names)


def test_a_branch_that_is_protected_does_not_hold_back_others(hydrated: Hydrated) -> None:
    hook = hydrated.remote.path / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\n[ "$1" != refs/heads/env/prod ] || { echo "env/prod is protected" >&2; exit 1; }\n')
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    requests = [hydrated.request(output("a", config_map("x")), branch=f"env/{name}") for name in ("dev", "prod")]
    taken, refused = hydrated.results(*requests)
    assert not isinstance(taken, CommodoreError)
    assert taken.word == "committed"
    assert isinstance(refused, EnvironmentFault)
    assert refused.code == "CMD-HYD-050"
    assert "env/prod is protected" in refused.message
    assert "refs/commodore/hydrate/group-env/prod:refs/heads/env/prod" in refused.hint
    assert hydrated.remote.sha("env/prod", missing="none") == "none"
    assert hydrated.note("env/dev")["drySha"] == f"{1:040x}"


@pytest.mark.requirement("H48")
def test_a_superseded_commit_is_not_pushed(hydrated: Hydrated) -> None:
    (outcome,) = hydrated.publish(
        hydrated.request(output("a", config_map("x"))),
        superseded=lambda asked: ["the dry branch has moved on"] * len(asked),
    )
    assert (outcome.word, outcome.reason) == ("superseded", "the dry branch has moved on")
    assert hydrated.remote.sha("env/dev", missing="none") == "none"


def test_a_damaged_note_counts_as_absent(hydrated: Hydrated, collected: Heard) -> None:
    hydrated.publish(hydrated.request(output("a", config_map("x"))))
    git(hydrated.remote.path, "-c", "user.name=x", "-c", "user.email=x@example.com",
        "notes", "--ref=hydrator.metadata", "add", "-f", "-m", "{no json", "env/dev")  # fmt: skip
    (outcome,) = hydrated.publish(hydrated.request(output("a", config_map("x")), number=2))
    assert outcome.word == "noted"
    assert "CMD-HYD-035" in collected.codes
    assert hydrated.note()["drySha"] == f"{2:040x}"


@pytest.mark.requirement("H36", "H37")
def test_the_order_of_applications_does_not_matter(hydrated: Hydrated, tmp_path: Path, world: GitWorld) -> None:
    paths = [output(name, config_map(name), config_map(f"{name}-2")) for name in "cab"]
    hydrated.publish(hydrated.request(*paths))
    other = Hydrated(tmp_path / "other", world.remote("other", {"x": "1"}), Heard())
    other.publish(other.request(*reversed(paths)))
    trees = [git(item.remote.path, "rev-parse", "env/dev^{tree}") for item in (hydrated, other)]
    assert trees[0] == trees[1]


def test_a_mode_alone_is_no_change(hydrated: Hydrated) -> None:
    """Argo CD's commit server makes its manifests executable."""
    expected = hydrated.request(output("a", config_map("x")))
    hydrated.publish(expected)
    hydrated.remote.commit({"a/manifest.yaml": Script(hydrated.files()["a/manifest.yaml"])}, branch="env/dev")
    (outcome,) = hydrated.publish(expected)
    assert (outcome.word, outcome.changed) == ("unchanged", ())


def test_groups_of_one_branch_share_a_note(hydrated: Hydrated) -> None:
    """Also on a commit of others, which has no note of its own."""
    item = hydrated.request(output("a", config_map("x")), group="one", written=["a", "b"])
    two = hydrated.request(output("b", config_map("y")), group="two", written=["a", "b"], number=2)
    hydrated.publish(item, two)
    hydrated.remote.commit({"theirs": "1"}, branch="env/dev")
    three = hydrated.request(output("b", config_map("y")), group="two", written=["a", "b"], number=3)
    assert [outcome.word for outcome in hydrated.publish(item, three)] == ["noted", "noted"]
    groups = hydrated.note()["commodore"]["groups"]
    assert {name: group["drySha"] for name, group in groups.items()} == {"one": f"{1:040x}", "two": f"{3:040x}"}


@pytest.mark.requirement("H11", "H12", "H31")
def test_one_commit_for_each_request(hydrated: Hydrated) -> None:
    """All paths of a request are in one commit of one branch, and branches and notes come in one push."""
    hydrated.remote.hook("pre-receive", f"wc -l >> {hydrated.folder}.pushes")
    dev = hydrated.request(output("a", config_map("x")), output("b", config_map("y")))
    hydrated.publish(dev, hydrated.request(output("c", config_map("z")), branch="env/prod"))
    assert (hydrated.commits(), hydrated.commits("env/prod")) == (["Change 1"], ["Change 1"])
    assert {"a/manifest.yaml", "b/manifest.yaml"} < hydrated.files().keys()
    assert (
        hydrated.files("env/prod").keys().isdisjoint(hydrated.files().keys() - {".gitattributes", "hydrator.metadata"})
    )
    assert Path(f"{hydrated.folder}.pushes").read_text().split() == ["3"]


@pytest.mark.requirement("H30")
def test_the_keys_of_metadata_are_documented(hydrated: Hydrated) -> None:
    hydrated.publish(hydrated.request(output("a", config_map("x"))))
    page = Path(__file__).parents[2].joinpath("docs", "reference", "hydrated-branches.md").read_text(encoding="utf-8")
    section = page.partition("## Keys of `hydrator.metadata`\n")[2].partition("\n## ")[0]
    documented = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert documented == list(layout.KEYS)
    assert set(json.loads(hydrated.files()["a/hydrator.metadata"])) <= set(documented)


def test_a_manifest_that_is_too_large(hydrated: Hydrated) -> None:
    hydrated.context = replace(hydrated.context, limits=replace(DEFAULT_LIMITS, hydrate_manifest_bytes=20))
    (error,) = hydrated.results(hydrated.request(output("a", config_map("x"))))
    assert isinstance(error, InputError)
    assert error.code == "CMD-HYD-028"


@pytest.mark.requirement("H39", "H42")
def test_files_of_others_whose_names_differ_in_case(hydrated: Hydrated, monkeypatch: pytest.MonkeyPatch) -> None:
    """With core.ignoreCase, which git sets on some file systems, fast-import takes them for the same."""
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.ignoreCase")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    hydrated.remote.commit({"A/manifest.yaml": "mine", "A/README.md": "mine"}, branch="env/dev")
    hydrated.publish(hydrated.request(output("a", config_map("x")), output("b", config_map("y"))))
    hydrated.publish(hydrated.request(output("b", config_map("y")), number=2), writing=CommitRules(removal="delete"))
    files = hydrated.files()
    assert [files[f"A/{name}"] for name in ("manifest.yaml", "README.md")] == ["mine", "mine"]
    assert [name for name in files if name.startswith("a/")] == []
