"""The objects of Applications that count for those who ask: of some kinds, without hooks or some of their fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from commodore.argocd.finishing.hooks import hook_phases
from commodore.base.errors import UsageError
from commodore.core.review import KindPointer


@dataclass(frozen=True, slots=True)
class Shown:
    """Options: the objects that count.

    Attributes:
        kind: objects of these kinds alone; all if there are none.
        skip_kind: no objects of these kinds.
        hooks: whether hooks count.
        strip: fields that are taken out of objects after rendering, as `[GROUP/KIND:]POINTER`.
        order: of the objects of an Application: `name`, or that of their `source`; empty for the latter where the
            sources' own objects are asked for.
    """

    kind: tuple[str, ...] = ()
    skip_kind: tuple[str, ...] = ()
    hooks: Literal["show", "hide"] = "show"
    strip: tuple[str, ...] = ()
    order: Literal["", "name", "source"] = ""

    def counts(self, data: Mapping[str, Any]) -> bool:
        """Indicate if an object counts."""
        kind = data.get("kind")
        skipped = kind in self.skip_kind
        skipped |= self.hooks == "hide" and hook_phases(data) is not None
        return not skipped and (not self.kind or kind in self.kind)


def pointers(texts: Sequence[str], option: str, pointer: str = "") -> tuple[KindPointer, ...]:
    """Places in objects.

    Args:
        option: gives them.
        pointer: that of texts without one.

    Raises:
        UsageError: CMD-ARGO-030, a text has another form.
    """
    places = []
    for text in texts:
        try:
            places.append(KindPointer.parse(text, pointer))
        except ValueError:
            raise UsageError(
                "CMD-ARGO-030",
                f"{option} {text!r} says no place in objects",
                hint="write it as GROUP/KIND:/POINTER, such as apps/Deployment:/spec/replicas",
            ) from None
    return tuple(places)
