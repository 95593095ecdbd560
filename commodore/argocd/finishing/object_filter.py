"""Filters for the objects of Applications: kinds, hooks, and fields to remove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from commodore.argocd.finishing.hooks import hook_phases
from commodore.base.errors import UsageError
from commodore.core.review import KindPointer


@dataclass(frozen=True, slots=True)
class ObjectFilter:
    """Options: a filter for objects.

    Attributes:
        kind: only objects of these kinds; empty for all kinds.
        skip_kind: without objects of these kinds.
        hooks: with or without hooks.
        strip: fields that are removed from objects after rendering, as `[GROUP/KIND:]POINTER`.
        order: of the objects of an Application, by `name` or by `source`; empty for `source` if the sources' own
            objects are requested.
    """

    kind: tuple[str, ...] = ()
    skip_kind: tuple[str, ...] = ()
    hooks: Literal["show", "hide"] = "show"
    strip: tuple[str, ...] = ()
    order: Literal["", "name", "source"] = ""

    def keeps(self, data: Mapping[str, Any]) -> bool:
        """Check if the filter keeps an object."""
        kind = data.get("kind")
        skipped = kind in self.skip_kind
        skipped |= self.hooks == "hide" and hook_phases(data) is not None
        return not skipped and (not self.kind or kind in self.kind)


def pointers(texts: Sequence[str], option: str, pointer: str = "") -> tuple[KindPointer, ...]:
    """Parse places in objects.

    Args:
        option: the name of their option.
        pointer: the pointer of texts without one.

    Raises:
        UsageError: CMD-ARGO-030, a text is invalid.
    """
    places = []
    for text in texts:
        try:
            places.append(KindPointer.parse(text, pointer))
        except ValueError:
            raise UsageError(
                "CMD-ARGO-030",
                f"{option} {text!r}: expected GROUP/KIND:/POINTER",
                hint="for example apps/Deployment:/spec/replicas",
            ) from None
    return tuple(places)
