"""Equal changes of many clusters are one group, whatever the clusters are called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.catalog import FileDiff
from commodore.clusters.compiled import values_of
from commodore.core.lieutenant import Cluster, Tenant
from commodore.core.review import DiffLine, FileGroups, Hunk, Placeholders

TENANT = Tenant("t-one", "Tenant", "https://x/t.git", "https://x/g.git", None, None)


def cluster(name: str, **facts: str) -> Cluster:
    return Cluster(name, f"The {name}", TENANT, facts, {}, f"https://x/{name}.git", None, None)


def hunk(of: Cluster, *lines: str, path: str = "manifests/a.yaml") -> Hunk:
    shown = tuple(DiffLine("hunk" if line.startswith("@@") else "add", line) for line in lines)
    return Hunk.of(FileDiff("modified", path, shown), Placeholders(values_of(of)))


@pytest.mark.requirement("FC9")
def test_equal_but_for_the_clusters_values() -> None:
    """Line numbers do not count; in what the clusters differ is reported."""
    groups = FileGroups()
    for name, region, place in (("c-a", "eu-west", 3), ("c-b", "us-east", 7)):
        item = cluster(name, region=region)
        groups.add(name, [hunk(item, f"@@ -{place} +{place} @@", f"+host: {name}.{region}.example.com")])
    [group] = groups
    assert (group.clusters, group.differs_in) == (["c-a", "c-b"], {"cluster.name", "facts.region"})
    assert group.diff[1] == ("add", "+host: c-a.eu-west.example.com")


def test_different_changes() -> None:
    """A value that is part of a longer word is not the cluster's."""
    item, two = cluster("c-a"), cluster("c-b")
    assert hunk(item, "+xc-a").id != hunk(two, "+xc-b").id
    assert hunk(item, "+c-a").id == hunk(two, "+c-b").id
    assert hunk(item, "+c-a").id != hunk(item, "+c-b").id
    assert hunk(item, "+1", path="manifests/c-a.yaml").id == hunk(two, "+1", path="manifests/c-b.yaml").id


@pytest.mark.requirement("FC14")
def test_secrets_are_masked() -> None:
    [line] = [text for _, text in hunk(cluster("c-a"), "+  password: correct-horse").diff]
    assert "correct-horse" not in line
    assert line.startswith("+  password: +++")


@pytest.mark.requirement("FC9")
@given(st.lists(st.lists(st.sampled_from("abcd"), unique=True), max_size=8))
def test_no_cluster_is_lost(changes: list[list[str]]) -> None:
    groups = FileGroups()
    for number, letters in enumerate(changes):
        item = cluster(f"c-{number}")
        groups.add(item.id, [hunk(item, f"+{letter}", path=letter) for letter in letters])
    result = sorted((name, group.path) for group in groups for name in group.clusters)
    assert result == sorted((f"c-{number}", letter) for number, letters in enumerate(changes) for letter in letters)
    sizes = [len(group.clusters) for group in groups]
    assert sizes == sorted(sizes, reverse=True)
