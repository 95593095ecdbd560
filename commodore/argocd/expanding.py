"""What ApplicationSets make: those of files that are named, or else those that a tree defines."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from commodore.argocd.acquiring import Repositories
from commodore.argocd.appsets import ApplicationSet, Expander, Generated, read_sets
from commodore.argocd.options import Tree
from commodore.argocd.question import Question
from commodore.base.errors import UsageError, did_you_mean
from commodore.base.printable import some_of


@dataclass(frozen=True, slots=True)
class Expanded:
    """ApplicationSets, and the Applications that they make in the order of their generators."""

    sets: tuple[ApplicationSet, ...]
    made: tuple[Generated, ...]


def expand_sets(asked: Question, tree: Tree, select: Sequence[str] = ()) -> Expanded:
    """The ApplicationSets that are named, all if none is, with what they make. What goes wrong is reported.

    Raises:
        UsageError: CMD-ARGO-022, a name fits no ApplicationSet.
        CommodoreError: a file or the tree cannot be read.
    """
    if asked.options.sets:
        found = _of_files(asked)
    else:
        listing = asked.listing(tree)
        asked.listed(listing)
        found = Expanded(listing.sets, listing.generated)
    names = {one.name for one in found.sets}
    chosen = _chosen(found.sets, select) if select else names
    return Expanded(
        tuple(one for one in found.sets if one.name in chosen), tuple(one for one in found.made if one.set in chosen)
    )


def _of_files(asked: Question) -> Expanded:
    settings = asked.given_settings()
    sets = read_sets(asked.options.sets, asked.context.limits)
    repositories = Repositories(asked.context, asked.repo_map, asked.scratch)
    try:
        expander = Expander(settings, repositories.tree, asked.facts, asked.context, asked.found, previewed=True)
        return Expanded(tuple(sets), tuple(made for one in sets for made in expander.expand(one)))
    finally:
        repositories.close()


def _chosen(sets: Iterable[ApplicationSet], select: Sequence[str]) -> set[str]:
    names = {one.name: f"{one.namespace or 'argocd'}/{one.name}" for one in sets}
    chosen: set[str] = set()
    for text in select:
        pattern = text if "/" in text else f"*/{text}"
        fits = {name for name, label in names.items() if fnmatch.fnmatchcase(label, pattern)}
        if not fits:
            raise UsageError(
                "CMD-ARGO-022",
                f"no ApplicationSet fits {text!r}",
                hint=did_you_mean(text.rpartition("/")[2], names) or f"there are {some_of(sorted(names)) or 'none'}",
            )
        chosen |= fits
    return chosen
