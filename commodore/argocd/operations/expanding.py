"""Expanding the ApplicationSets of named files, or else of a tree."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from commodore.argocd.appsets import ApplicationSet, Expander, Generated, read_sets
from commodore.argocd.operations.options import Tree
from commodore.argocd.operations.session import Selection, Session, after_listing, given_settings, listed
from commodore.argocd.rendering import open_sources
from commodore.base.diagnostics import Diagnostics
from commodore.base.errors import UsageError, did_you_mean
from commodore.base.printable import some_of


@dataclass(frozen=True, slots=True)
class Expanded:
    """ApplicationSets, and their Applications in the order of the generators."""

    sets: tuple[ApplicationSet, ...]
    made: tuple[Generated, ...]


def expand_sets(session: Session, tree: Tree, names: Sequence[str] = ()) -> Expanded:
    """Expand the ApplicationSets with the names, or all. Errors are reported.

    Raises:
        UsageError: CMD-ARGO-022, a name matches no ApplicationSet.
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
        tuple(appset for appset in expanded.sets if appset.name in chosen),
        tuple(made for made in expanded.made if made.set in chosen),
    )


def _of_files(session: Session) -> Expanded:
    settings, context, diagnostics = given_settings(session), session.context, session.diagnostics
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
                f"no ApplicationSet matches {text!r}",
                hint=did_you_mean(text.rpartition("/")[2], names) or f"there are {some_of(sorted(names)) or 'none'}",
            )
        chosen |= fits
    return chosen
