"""What ApplicationSets make: those of files that are named, or else those that a tree defines."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from commodore.argocd.appsets import ApplicationSet, Expander, Generated, read_sets
from commodore.argocd.asking.options import Tree
from commodore.argocd.asking.session import Selection, Session, after_listing, given_settings, listed
from commodore.argocd.rendering import open_sources
from commodore.base.diagnostics import Diagnostics
from commodore.base.errors import UsageError, did_you_mean
from commodore.base.printable import some_of


@dataclass(frozen=True, slots=True)
class Expanded:
    """ApplicationSets, and the Applications that they make in the order of their generators."""

    sets: tuple[ApplicationSet, ...]
    made: tuple[Generated, ...]


def expand_sets(session: Session, tree: Tree, names: Sequence[str] = ()) -> Expanded:
    """The ApplicationSets that are named, all if none is, with what they make. What goes wrong is reported.

    Raises:
        UsageError: CMD-ARGO-022, a name fits no ApplicationSet.
        CommodoreError: a file or the tree cannot be read.
    """
    if session.options.search.appset:
        expanded = _of_files(session)
    else:
        listing = listed(session, tree)
        after_listing(session, Selection(listing, ()))
        expanded = Expanded(listing.sets, listing.generated)
    known = {appset.name for appset in expanded.sets}
    chosen = _chosen(expanded.sets, names) if names else known
    return Expanded(
        tuple(one for one in expanded.sets if one.name in chosen),
        tuple(one for one in expanded.made if one.set in chosen),
    )


def _of_files(session: Session) -> Expanded:
    settings, context, diagnostics = given_settings(session), session.context, session.found
    sets = read_sets(session.options.search.appset, context.limits)
    with open_sources(settings, session.repo_map, session.capabilities, context, Diagnostics()) as opened:
        expander = Expander(settings, opened.repositories.tree, session.facts, context, diagnostics, previewed=True)
        return Expanded(tuple(sets), tuple(made for appset in sets for made in expander.expand(appset)))


def _chosen(sets: Iterable[ApplicationSet], select: Sequence[str]) -> set[str]:
    names = {appset.name: f"{appset.namespace or 'argocd'}/{appset.name}" for appset in sets}
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
