"""Groups, conflicts, and what can be left out."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import CommodoreError, InputError, Location
from commodore.base.limits import DEFAULT_LIMITS
from commodore.hydrate.model import Hydration
from commodore.hydrate.planning import groups as planning
from commodore.hydrate.reading.applications import read_config, read_hydration
from commodore.hydrate.reading.checks import check_together
from commodore.hydrate.reading.sources import read_sources
from tests.hydrate.conftest import Heard

URL = "https://git.example.com/dry.git"
PLACE = Location("app.yaml", 1)


def application(name: str = "a", **changes: Any) -> dict[str, Any]:
    hydrator = {
        "drySource": {"repoURL": URL, "targetRevision": "main", "path": "apps"},
        "syncSource": {"targetBranch": "env/dev", "path": name},
    }
    for key, value in changes.items():
        part, _, field = key.partition("_")
        hydrator.setdefault({"dry": "drySource", "sync": "syncSource", "to": "hydrateTo"}[part], {})[field] = value
    return {"metadata": {"name": name}, "spec": {"sourceHydrator": hydrator}}


def read(*applications: dict[str, Any]) -> list[Hydration]:
    return [read_hydration(item, PLACE) for item in applications]


@pytest.mark.requirement("H45")
def test_one_commit_is_one_group_however_it_is_named() -> None:
    """Also if the repository's URL is written in another way."""
    other = URL.removesuffix(".git").replace("git.example", "GIT.example")
    hydrations = read(
        application("a"), application("b", dry_targetRevision="HEAD"), application("c", dry_repoURL=other)
    )
    (group,) = planning.group(hydrations, lambda _: "f" * 40)
    assert [member.name for member in group.members] == ["a", "b", "c"]


@pytest.mark.requirement("H8", "H45")
def test_repositories_whose_paths_differ_in_capitals() -> None:
    """They are two to most servers."""
    other = URL.replace("dry.git", "Dry.git")
    groups = planning.group(read(application("a"), application("b", dry_repoURL=other)), lambda _: "f" * 40)
    assert [len(group.members) for group in groups] == [1, 1]


@pytest.mark.requirement("H37")
def test_the_order_of_applications_does_not_matter() -> None:
    hydrations = read(application("a"), application("b", sync_targetBranch="env/prod"), application("c"))
    groups = planning.group(hydrations, lambda _: "f" * 40)
    assert planning.group(reversed(hydrations), lambda _: "f" * 40) == groups
    assert len({group.id for group in groups}) == 2


@pytest.mark.parametrize(
    ("applications", "code"),
    [
        pytest.param([application("a"), application("b", sync_path="./a/")], "CMD-HYD-006",
                     marks=pytest.mark.requirement("H38")),
        ([application("a", to_targetBranch="next"), application("b", to_targetBranch="next", sync_targetBranch="x")],
         "CMD-HYD-009"),
        ([application("a", sync_targetBranch="main")], "CMD-HYD-008"),
    ],
)  # fmt: skip
def test_conflicts(applications: list[dict[str, Any]], code: str) -> None:
    with pytest.raises(CommodoreError) as caught:
        check_together(read(*applications))
    assert caught.value.code == code


def test_only_protected_branches() -> None:
    check_together(read(application("a")), ["env/*"])
    with pytest.raises(CommodoreError, match=r"matches none of prod/\*"):
        check_together(read(application("a")), ["prod/*"])


@pytest.mark.requirement("H8", "H9")
def test_groups_are_by_dry_commit_and_branch() -> None:
    """Of repositories, only the host is the same in small and in capital letters."""
    other = URL.replace("dry", "Dry")
    hydrations = read(
        application("a"),
        application("b", to_targetBranch="next"),
        application("c", dry_targetRevision="v1"),
        application("d", dry_repoURL=other, sync_repoURL=URL),
    )
    collected = Heard()
    groups = planning.group(hydrations, lambda hydration: ("a" if hydration.dry_revision == "v1" else "f") * 40)
    assert [[member.name for member in group.members] for group in groups] == [["a"], ["c"], ["d"], ["b"]]
    planning.warn(groups, collected.append)
    assert collected.codes == ["CMD-HYD-033"]


def test_a_group_has_its_limit() -> None:
    groups = planning.group(read(application("a"), application("b")), lambda _: "f" * 40)
    planning.check_sizes(groups, 2)
    with pytest.raises(CommodoreError, match="2 Applications are hydrated to the branch env/dev, which is more than 1"):
        planning.check_sizes(groups, 1)


@pytest.mark.requirement("H20")
def test_values_come_from_an_umbrella_chart() -> None:
    helm = {"valueFiles": ["$values/dev.yaml", "values.yaml"]}
    with pytest.raises(CommodoreError) as caught:
        read(application("a", dry_helm=helm))
    assert caught.value.code == "CMD-HYD-019"
    assert "umbrella chart" in caught.value.hint
    read(application("a", dry_helm={"valueFiles": ["$ARGOCD_APP_NAME/values.yaml", "values.yaml"]}))


@pytest.mark.requirement("H5", "H19", "H21", "H22")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"spec": {"source": {}, "sourceHydrator": {}}}, "CMD-HYD-003"),
        ({"dry_repoURL": "oci://registry.example.com/x"}, "CMD-HYD-004"),
        ({"dry_plugin": {}}, "CMD-HYD-005"),
        ({"dry_helm": {"releaseName": "x"}}, "CMD-HYD-010"),
        ({"dry_chart": "x"}, "CMD-HYD-002"),
        ({"dry_repoURL": None}, "CMD-HYD-002"),
        ({"sync_targetBranch": ""}, "CMD-HYD-002"),
        ({"sync_path": ".."}, "CMD-HYD-007"),
        ({"to_targetBranch": "-x"}, "CMD-HYD-008"),
        ({"to_branch": "x"}, "CMD-HYD-002"),
    ],
)
def test_what_is_refused(change: dict[str, Any], code: str) -> None:
    wrong = {"metadata": {"name": "a"}, **change} if "spec" in change else application("a", **change)
    with pytest.raises(CommodoreError) as caught:
        read_hydration(wrong, PLACE, options_in_git=True)
    assert caught.value.code == code


def test_old_words_are_named() -> None:
    wrong = application("a")
    wrong["spec"]["sourceHydrator"]["writeTo"] = {}
    with pytest.raises(CommodoreError) as caught:
        read_hydration(wrong, PLACE)
    assert caught.value.hint == "it was renamed to hydrateTo"


def test_entries_of_a_file_of_our_own() -> None:
    config = {
        "apiVersion": "commodore.dev/v1alpha1",
        "kind": "HydrateConfig",
        "defaults": {"drySource": {"repoURL": URL}, "syncSource": {"targetBranch": "env/dev"}},
        "entries": [
            {"name": "west", "drySource": {"path": "west"}, "syncSource": {"path": "west"}},
            {"name": "east", "drySource": {"path": "east"}, "syncSource": {"path": "east", "targetBranch": "x"}},
        ],
    }
    west, east = (read_hydration(item, PLACE) for item in read_config(config, PLACE, Path()).applications)
    assert (west.branch, west.path, west.dry_path, west.dry_url) == ("env/dev", "west", "west", URL)
    assert east.branch == "x"


def test_a_key_of_a_file_of_our_own_that_stands_twice(tmp_path: Path) -> None:
    entries = "entries:\n- {name: west, drySource: {}, syncSource: {}}\n"
    head = "apiVersion: commodore.dev/v1alpha1\nkind: HydrateConfig\n"
    other = "kind: Application\nkind: Application\nspec: {sourceHydrator: {}}\n"
    file = tmp_path / "hydrate.yaml"
    file.write_text(f"{other}---\n{head}{entries}---\n{other}")
    assert len(read_sources([file], DEFAULT_LIMITS).applications) == 3
    file.write_text(f"{head}{entries}{entries}")
    with pytest.raises(InputError) as caught:
        read_sources([file], DEFAULT_LIMITS)
    assert (caught.value.code, caught.value.message) == ("CMD-HYD-002", "the key 'entries' is set twice")
    assert [str(location) for location in caught.value.locations] == [f"{file}:5"]


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ({"repoURL": "https://charts.example.com", "chart": "app", "targetRevision": "1.*"}, "CMD-HYD-043"),
        ({"repoURL": "https://charts.example.com", "chart": "app"}, "CMD-HYD-043"),
        ({"repoURL": URL, "path": "x", "targetRevision": "other"}, "CMD-HYD-043"),
        ({"repoURL": URL, "path": "x", "plugin": {}}, "CMD-HYD-002"),
        ({"path": "x"}, "CMD-HYD-002"),
    ],
)
def test_additional_sources_that_are_refused(source: dict[str, Any], code: str) -> None:
    config = {
        "apiVersion": "commodore.dev/v1alpha1",
        "kind": "HydrateConfig",
        "entries": [
            {
                "name": "a",
                "drySource": {"repoURL": URL, "path": "a"},
                "additionalSources": [source],
                "syncSource": {"targetBranch": "env/dev", "path": "a"},
            }
        ],
    }
    (entry,) = read_config(config, PLACE, Path()).applications
    with pytest.raises(CommodoreError, match=r"entries\.a\.additionalSources\[0\]") as caught:
        read_hydration(entry, PLACE)
    assert caught.value.code == code
    with pytest.raises(CommodoreError, match=r"unknown field .*additionalSources"):
        read_hydration({**entry, "kind": "Application"}, PLACE)


@pytest.mark.parametrize(
    ("dry", "own", "accepted"),
    [("", "HEAD", True), ("HEAD", "", True), ("v1", "v1", True), ("v1", "", True), ("v1", "HEAD", False)],
)
def test_revisions_of_the_dry_repository_in_additional_sources(dry: str, own: str, accepted: bool) -> None:
    config = {
        "entries": [
            {
                "name": "a",
                "drySource": {"repoURL": URL, "path": "a", "targetRevision": dry},
                "additionalSources": [{"repoURL": URL, "path": "x", "targetRevision": own}],
                "syncSource": {"targetBranch": "env/dev", "path": "a"},
            }
        ],
    }
    (entry,) = read_config(config, PLACE, Path()).applications
    with nullcontext() if accepted else pytest.raises(InputError, match="only read at the dry commit"):
        read_hydration(entry, PLACE)


@pytest.mark.requirement("H47")
@pytest.mark.parametrize(
    ("annotation", "changed", "affected"),
    [
        ("", ["README"], True),
        (".", ["other/x"], False),
        (".", ["apps/x"], True),
        ("../lib;/common", ["lib/x"], True),
        ("../lib;/common", ["common"], True),
        ("../lib;/common", ["apps/x"], False),
        ("*.yaml", ["apps/x.yaml"], True),
        (".", [], False),
    ],
)
def test_paths_that_count(annotation: str, changed: list[str], affected: bool) -> None:
    item = application("a")
    item["metadata"]["annotations"] = {"argocd.argoproj.io/manifest-generate-paths": annotation}
    (group,) = planning.group(read(item), lambda _: "f" * 40)
    assert planning.is_affected(group, changed) is affected
