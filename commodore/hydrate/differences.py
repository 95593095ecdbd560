"""How manifests of a branch differ, object by object."""

from __future__ import annotations

from collections.abc import Mapping

from commodore.base.limits import Limits
from commodore.core.review import compare_trees, render
from commodore.hydrate.layout import MANIFEST, manifest, objects_of, ordered


def manifest_diff(old: Mapping[str, bytes], new: Mapping[str, bytes], limits: Limits) -> tuple[str, ...]:
    """The lines of a diff between manifests by output path, whichever program wrote them and in whichever order."""
    before, after = _comparable(old), _comparable(new)
    lines = render(compare_trees(before, after, limits=limits), before, after, limits=limits)
    return tuple(line.text.rstrip("\n") for line in lines)


def _comparable(manifests: Mapping[str, bytes]) -> dict[str, bytes]:
    found = {}
    for path, content in manifests.items():
        objects = objects_of(content)
        found[f"{path}/{MANIFEST}"] = content if objects is None else manifest(ordered(objects, "seed"))
    return found
