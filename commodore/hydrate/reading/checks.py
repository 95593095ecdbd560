"""Checks of Applications: against each other, the projects of Argo CD, and the promotions of gitops-promoter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import combinations
from typing import Any

from commodore.argocd import Fields
from commodore.base.errors import CommodoreError, InputError, Location, PolicyError, raise_all
from commodore.base.events import Announce, Warned
from commodore.base.values.globs import stars
from commodore.base.values.patterns import fits
from commodore.core.sources.git import redact, repository_key
from commodore.hydrate.model import Hydration
from commodore.hydrate.reading.sources import Placed


def check_together(
    hydrations: Sequence[Hydration], protect: Sequence[str] = (), lost: Sequence[CommodoreError] = ()
) -> None:
    """Check Applications for conflicts with each other.

    Args:
        protect: patterns; if not empty, only matching branches may be written.
        lost: the errors of excluded Applications, which are reported together with conflicts.

    Raises:
        InputError: CMD-HYD-006, two Applications write to one path; CMD-HYD-009, they disagree about the deployed
            branch.
        PolicyError: CMD-HYD-008, a branch must not be written to.
    """
    errors = [*_same_path(hydrations), *_same_sync_branch(hydrations), *_not_permitted(hydrations, protect)]
    raise_all([*lost, *errors] if errors else [])


def check_projects(hydrations: Iterable[Hydration], projects: Iterable[Placed]) -> None:
    """Check that projects permit the repositories of their Applications. An unknown project permits all.

    Raises:
        PolicyError: CMD-HYD-011, a repository is not permitted.
    """
    permitted: dict[str, tuple[str, ...]] = {}
    for data, place in projects:
        fields = Fields.of(data, "", place)
        permitted[fields.fields("metadata").text("name")] = fields.fields("spec").texts("sourceRepos")
    raise_all(
        [
            _forbidden(hydration, url)
            for hydration in hydrations
            if (patterns := permitted.get(hydration.project)) is not None
            for url in dict.fromkeys((hydration.dry_url, hydration.url, *(other.url for other in hydration.additional)))
            if not is_permitted(url, patterns)
        ]
    )


def _forbidden(hydration: Hydration, url: str) -> PolicyError:
    return PolicyError(
        "CMD-HYD-011",
        f"the project {hydration.project} of the Application {hydration.name} does not permit {redact(url)}",
        hint="add it to spec.sourceRepos of the AppProject",
        locations=[hydration.place],
    )


def is_permitted(url: str, patterns: Iterable[str]) -> bool:
    """Return True if a repository matches a pattern of `sourceRepos`, and no pattern with `!`.

    `*` matches a part of a path, `**` and a single `*` match everything.
    """
    given = list(patterns)
    refused = any(_fits(url, item.removeprefix("!")) for item in given if item.startswith("!"))
    return not refused and any(_fits(url, item) for item in given if not item.startswith("!"))


def _fits(url: str, pattern: str) -> bool:
    return fits(stars("**" if pattern == "*" else _plain(pattern)), _plain(redact(url)))


def _plain(url: str) -> str:
    """Normalise a URL like Argo CD for comparison."""
    text = url.strip().lower().removesuffix(".git").removeprefix("ssh://")
    return re.sub(r"^([^/@:]+@[^/:]+):(?!\d+/)", r"\1/", text)


@dataclass(frozen=True, slots=True)
class _Promotion:
    """An environment of a PromotionStrategy: its deployed branch, and its promoted path."""

    strategy: str
    branch: str
    path: str

    @property
    def proposed(self) -> str:
        return f"{self.branch}-next/{self.path}" if self.path else f"{self.branch}-next"


def check_promotions(hydrations: Sequence[Hydration], strategies: Iterable[Placed], announce: Announce) -> None:
    """Warn about branches and paths that gitops-promoter does not promote, and about conflicting active paths.

    Raises:
        InputError: CMD-HYD-006, output paths are nested on a branch that is promoted by paths.
    """
    promotions = [promotion for data, place in strategies for promotion in _promotions(data, place)]
    for hydration in hydrations:
        _warn_of_branch(
            hydration, [promotion for promotion in promotions if promotion.branch == hydration.sync_branch], announce
        )
    for branch in sorted({promotion.branch for promotion in promotions}):
        of_branch = [promotion for promotion in promotions if promotion.branch == branch]
        _warn_of_paths(branch, sorted({item.path for item in of_branch}), announce)
        if any(item.path for item in of_branch):
            _check_nested([item for item in hydrations if item.sync_branch == branch])


def _promotions(data: Mapping[str, Any], place: Location) -> Iterator[_Promotion]:
    fields = Fields.of(data, "", place)
    name = fields.fields("metadata").text("name")
    for field in fields.fields("spec").items("environments"):
        yield _Promotion(name, field.text("branch"), field.text("activePath").strip("/"))


def _warn_of_branch(hydration: Hydration, promotions: Sequence[_Promotion], announce: Announce) -> None:
    fitting = [promotion for promotion in promotions if promotion.path in ("", hydration.path)]
    if promotions and not fitting:
        announce(
            Warned(
                "CMD-HYD-061",
                f"the Application {hydration.name} writes to {hydration.path}, which is not an activePath of the"
                f" PromotionStrategy {promotions[0].strategy}",
                hint="write the same path into syncSource.path and activePath",
            )
        )
    elif fitting and hydration.branch not in {item.proposed for item in fitting}:
        announce(
            Warned(
                "CMD-HYD-060",
                f"the Application {hydration.name} is hydrated to {hydration.branch}, and the PromotionStrategy"
                f" {fitting[0].strategy} promotes {fitting[0].proposed}",
                hint=f"set hydrateTo.targetBranch to {fitting[0].proposed}",
            )
        )


def _warn_of_paths(branch: str, paths: Sequence[str], announce: Announce) -> None:
    nested = [
        (combination, other)
        for combination, other in combinations(paths, 2)
        if not combination or other.startswith(f"{combination}/")
    ]
    if nested:
        item, other = nested[0]
        announce(
            Warned(
                "CMD-HYD-061",
                f"the activePaths {item or '(none)'} and {other} of the branch {branch} exclude each other",
                hint="give all environments of a branch an activePath, and none inside another one",
            )
        )


def _check_nested(hydrations: Sequence[Hydration]) -> None:
    for combination, other in combinations(sorted(hydrations, key=lambda hydration: hydration.path), 2):
        if combination.branch == other.branch and other.path.startswith(f"{combination.path}/"):
            raise InputError(
                "CMD-HYD-006",
                f"{other.path} of the Application {other.name} is inside {combination.path} of {combination.name}, and"
                f" the branch {combination.sync_branch} is promoted by paths",
                hint="use paths that are not nested",
                locations=[combination.place, other.place],
            )


def _same_path(hydrations: Iterable[Hydration]) -> list[CommodoreError]:
    places: dict[tuple[str, str, str], list[Hydration]] = {}
    for hydration in hydrations:
        places.setdefault((repository_key(hydration.url), hydration.branch, hydration.path), []).append(hydration)
    return [
        InputError(
            "CMD-HYD-006",
            f"the Applications {', '.join(sorted(item.name for item in several))} all write to {path} of the branch"
            f" {branch}",
            hint=f"use a separate path for each, such as {path}/{several[0].name}",
            locations=[item.place for item in several],
        )
        for (_, branch, path), several in sorted(places.items())
        if len(several) > 1
    ]


def _same_sync_branch(hydrations: Iterable[Hydration]) -> list[CommodoreError]:
    targets: dict[tuple[str, str], list[Hydration]] = {}
    for hydration in hydrations:
        targets.setdefault((repository_key(hydration.url), hydration.branch), []).append(hydration)
    errors: list[CommodoreError] = []
    for (_, branch), several in sorted(targets.items()):
        branches = sorted({item.sync_branch for item in several})
        if len(branches) > 1:
            errors.append(
                InputError(
                    "CMD-HYD-009",
                    f"the branch {branch} is promoted to {' and '.join(branches)} by different Applications",
                    hint="write the same syncSource.targetBranch into all Applications that hydrate to one branch",
                    locations=[item.place for item in several],
                )
            )
    return errors


def check_dry_branch(hydration: Hydration, branch: str) -> None:
    """Refuse to write to the branch of the sources.

    Args:
        branch: the dry branch; empty or None if the revision is not a branch.

    Raises:
        PolicyError: CMD-HYD-008.
    """
    if repository_key(hydration.url) == repository_key(hydration.dry_url) and hydration.branch == branch:
        raise _not_writable(hydration, "is the branch of the sources")


def _not_permitted(hydrations: Iterable[Hydration], protect: Sequence[str]) -> list[CommodoreError]:
    errors: list[CommodoreError] = []
    for hydration in hydrations:
        try:
            check_dry_branch(hydration, hydration.dry_revision)
        except PolicyError as error:
            errors.append(error)
        if protect and not any(fnmatchcase(hydration.branch, pattern) for pattern in protect):
            errors.append(_not_writable(hydration, f"matches none of {', '.join(protect)}"))
    return errors


def _not_writable(hydration: Hydration, reason: str) -> PolicyError:
    return PolicyError(
        "CMD-HYD-008",
        f"Application {hydration.name} may not write to the branch {hydration.branch} of {redact(hydration.url)}: it"
        f" {reason}",
        hint="hydrate to another branch",
        locations=[hydration.place],
    )
