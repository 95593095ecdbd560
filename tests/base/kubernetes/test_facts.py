"""The table of removed APIs says what the schemas of Kubernetes say, for the versions that both know."""

from __future__ import annotations

from commodore.base.kubernetes.facts import REMOVED
from commodore.base.kubernetes.schemas import ApiKind, Kubernetes, show_release

# Kinds of each group's own protocol, which are in no manifest.
_PROTOCOL = {"DeleteOptions", "WatchEvent"}


def test_removed_apis_are_those_of_the_schemas() -> None:
    kubernetes = Kubernetes()
    served = {kind for release in kubernetes.releases for kind in kubernetes.kinds(release)}
    gone = {
        (f"{kind.group}/{kind.version}", kind.kind): show_release(removed)
        for kind in served
        if (last := kubernetes.last_served(kind)) and (removed := kubernetes.removed_in(kind, last))
        if is_stable(kind)
    }
    oldest = kubernetes.releases[0]
    table = {
        name: value.removed_in
        for name, value in REMOVED.items()
        if tuple(map(int, value.removed_in.split("."))) > oldest
    }
    assert table == gone


def is_stable(kind: ApiKind) -> bool:
    """Clusters serve the version unless their facts say otherwise, and manifests have objects of the kind."""
    return "alpha" not in kind.version and kind.kind not in _PROTOCOL and not kind.kind.endswith("List")
