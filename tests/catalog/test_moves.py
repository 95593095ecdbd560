"""Changed dependencies since a commit of the catalog."""

from __future__ import annotations

from dataclasses import replace

from commodore.catalog import Move, commit_message
from commodore.catalog.moves import moves_between
from tests.catalog.samples import METADATA, version


def test_nothing_has_moved() -> None:
    assert moves_between(commit_message(METADATA), METADATA) == ()


def test_what_has_moved_is_new_and_is_gone() -> None:
    last = replace(METADATA, packages={**METADATA.packages, "gone": version("gone")})
    moved = replace(METADATA.instances["a"], version="v2 (final)", sha="f" * 40, short_sha="ffffff")
    new = {**METADATA.instances, "a": moved, "new": version("new")}
    assert moves_between(commit_message(last), replace(METADATA, instances=new)) == (
        Move("component", "a", "v1.0.0 (000000)", "v2 (final) (ffffff)"),
        Move("component", "new", None, "v1.0.0 (000000)"),
        Move("package", "gone", "v1.0.0 (000000)", None),
    )
    assert moves_between(commit_message(replace(METADATA, instances=new)), METADATA)[0] == (
        Move("component", "a", "v2 (final) (ffffff)", "v1.0.0 (000000)")
    )


def test_a_branch_that_has_moved() -> None:
    now = replace(METADATA, tenant_config=replace(METADATA.tenant_config, sha="1" * 40, short_sha="111111"))
    (move,) = moves_between(commit_message(METADATA), now)
    assert (move.name, move.before, move.after) == ("tenant", "v1.0.0 (000000)", "v1.0.0 (111111)")


def test_a_longer_abbreviation_is_no_move() -> None:
    assert moves_between(commit_message(METADATA).replace("(000000)", "(00000000)"), METADATA) == ()
