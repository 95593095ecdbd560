"""Choosing Applications by name, project and label."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from commodore.argocd.model.application import Application
from commodore.errors import InputError, did_you_mean
from commodore.printable import some_of


def select(
    applications: Sequence[Application], wanted: Sequence[str], *, controller: str, project: str = ""
) -> list[Application]:
    """The Applications that are named, in their order; all if none is named.

    Args:
        wanted: `NAME` or `NAMESPACE/NAME`, or patterns of these with `*` and `?`.
        controller: the namespace of Applications that name none.
        project: a pattern of their projects; empty for all.

    Raises:
        InputError: CMD-ARGO-006, a name fits none; CMD-ARGO-007, an exact name fits several namespaces.
    """
    places = {id(one): f"{one.namespace or controller}/{one.name}" for one in applications}
    kept = [one for one in applications if not project or fnmatch.fnmatchcase(one.project, project)]
    if not wanted:
        return kept
    chosen: set[int] = set()
    for text in wanted:
        pattern = text if "/" in text else f"*/{text}"
        fits = [one for one in kept if fnmatch.fnmatchcase(places[id(one)], pattern)]
        exact = not any(character in text for character in "*?[")
        if not fits:
            names = sorted({one.name for one in kept})
            raise InputError(
                "CMD-ARGO-006",
                f"no Application fits {text!r}",
                hint=did_you_mean(text.rpartition("/")[2], names) or f"there are {some_of(names) or 'none'}",
            )
        if exact and len(fits) > 1:
            raise InputError(
                "CMD-ARGO-007",
                f"the Application {text!r} is in several namespaces",
                hint=f"name one of {', '.join(places[id(one)] for one in fits)}",
            )
        chosen |= {id(one) for one in fits}
    return [one for one in kept if id(one) in chosen]
