"""Everything that projects permit, and what gitops-promoter can find."""

from __future__ import annotations

from typing import Any

import pytest

from commodore.base.errors import InputError, PolicyError
from commodore.hydrate.reading.checks import check_projects, check_promotions, is_permitted
from tests.hydrate.conftest import Heard
from tests.hydrate.test_planning import PLACE, application, read


@pytest.mark.parametrize(
    ("patterns", "permitted"),
    [
        (["*"], True),
        (["https://git.example.com/shop.git"], True),
        (["https://GIT.example.com/Shop"], True),
        (["https://git.example.com/*"], True),
        (["https://git.example.com/other/*"], False),
        (["https://*"], False),
        (["https://**"], True),
        (["https://*/*"], True),
        (["https://**/shop"], True),
        (["**p*.**com**"], True),
        (["**p*.**net**"], False),
        (["**" * 30 + "x"], False),
        (["*", "!https://git.example.com/shop"], False),
        ([], False),
    ],
)
def test_patterns_of_repositories(patterns: list[str], permitted: bool) -> None:
    assert is_permitted("https://jo:secret@git.example.com/shop.git", patterns) is permitted


@pytest.mark.requirement("H32")
def test_projects_permit_both_repositories() -> None:
    (item,) = read(application(sync_repoURL="https://git.example.com/hydrated.git"))
    project = {"metadata": {"name": "default"}, "spec": {"sourceRepos": ["https://git.example.com/dry"]}}
    with pytest.raises(PolicyError, match=r"does not permit https://git\.example\.com/hydrated\.git") as caught:
        check_projects([item], [(project, PLACE)])
    assert caught.value.code == "CMD-HYD-011"
    check_projects([item], [({"metadata": {"name": "other"}, "spec": {}}, PLACE)])


def strategy(*environments: dict[str, str]) -> tuple[dict[str, Any], Any]:
    return {"metadata": {"name": "shop"}, "spec": {"environments": list(environments)}}, PLACE


@pytest.mark.parametrize(
    ("hydrate_to", "environments", "codes"),
    [
        ("env/dev-next", [{"branch": "env/dev"}], []),
        ("env/dev-new", [{"branch": "env/dev"}], ["CMD-HYD-060"]),
        ("env/dev-next/a", [{"branch": "env/dev", "activePath": "a"}], []),
        ("env/dev-next", [{"branch": "env/dev", "activePath": "a"}], ["CMD-HYD-060"]),
        ("env/dev-next/a", [{"branch": "env/dev", "activePath": "b"}], ["CMD-HYD-061"]),
        ("env/dev-next/a", [{"branch": "env/dev", "activePath": item} for item in ("a", "a/b")], ["CMD-HYD-061"]),
        ("env/dev-next", [{"branch": "env/prod"}], []),
    ],
)
def test_what_a_promoter_finds(hydrate_to: str, environments: list[dict[str, str]], codes: list[str]) -> None:
    collected = Heard()
    check_promotions(read(application("a", to_targetBranch=hydrate_to)), [strategy(*environments)], collected.append)
    assert collected.codes == codes


def test_paths_in_each_other_cannot_be_promoted() -> None:
    hydrations = read(application("a"), application("b", sync_path="a/b"))
    check_promotions(hydrations, [strategy({"branch": "env/dev"})], Heard().append)
    with pytest.raises(InputError, match=r"a/b of the Application b is inside a of a"):
        check_promotions(hydrations, [strategy({"branch": "env/dev", "activePath": "a"})], Heard().append)
