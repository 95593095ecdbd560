"""The change model on what real components render: the golden trees in their repositories, version after version.

`COMMODORE_COMPONENTS` names a folder with clones (bare or not) of component repositories that have golden trees, as
`<owner>+component-<name>/repo`; without it the test is skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.catalog import objects_of, read_revision
from commodore.core.review import PlacedObject, compare, html_report, json_report, markdown_report, review, text_report
from commodore.core.review.values import identity
from tests.core.review.applying import apply_comparison, mirrored
from tests.core.review.test_model import sort_keys
from tests.world.context import make_context
from tests.world.repos import git

GOLDEN = "tests/golden/"
STEPS = 4
"""Changes between versions that are looked at in each repository, the newest first."""

pytestmark = pytest.mark.components


def golden(repository: Path, version: str) -> dict[str, bytes]:
    tree = read_revision(repository, version, make_context())
    return {path: content for path, content in tree.items() if path.startswith(GOLDEN)}


def steps(repository: Path) -> list[tuple[str, str]]:
    """Versions that follow each other and render something else: the older one and the newer one."""
    tags = git(repository, "tag", "--sort=-v:refname").split()
    trees = git(repository, "for-each-ref", "--format=%(refname:short)", "refs/tags").split()
    versions: dict[str, str] = {}
    for tag in tags:
        listed = git(repository, "ls-tree", f"{tag}^{{tree}}", "tests/golden").split() if tag in trees else []
        if len(listed) > 2 and listed[2] not in versions:
            versions[listed[2]] = tag
    newest = list(versions.values())[: STEPS + 1]
    return list(zip(newest[1:], newest, strict=False))


def as_set(objects: list[PlacedObject]) -> list[bytes]:
    return sorted(identity([item.file, sort_keys(item.content)]) for item in objects)


def test_versions_of_real_components(components: Path) -> None:
    looked_at = 0
    for repository in sorted(components.glob("*component-*/repo")):
        for before, after in steps(repository):
            old_tree, new_tree = golden(repository, before), golden(repository, after)
            old, new = list(objects_of(old_tree, new_tree)), list(objects_of(new_tree, old_tree))
            result = compare(old, new)
            assert as_set(apply_comparison(old, result)) == as_set(new), (repository, before, after)
            assert mirrored(result) == compare(new, old), (repository, before, after)
            assert compare(old[::-1], new[::-1]) == result, (repository, before, after)
            shown = review(old, new)
            assert len(markdown_report(shown).encode()) <= 65_536
            assert list(text_report(shown))
            assert html_report(shown).count("</script") == 2
            assert len(json_report(shown).changes) == len(result.changes)
            looked_at += 1
    assert looked_at > 20
