"""The identity of a run: what `--resume` compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import PolicyError
from commodore.base.files.workspace import Workspace
from commodore.catalog.pipeline import CatalogCompile
from commodore.catalog.stages import CompileOptions
from commodore.clusters import ClusterSelection, FleetCompile, Wave, allow_failures, canary
from commodore.clusters.journal import check_same, new_run
from commodore.clusters.planning import Plan
from commodore.core.confinement import TrustPolicy


@dataclass(frozen=True, slots=True)
class LaterCompile(CatalogCompile):
    """The options of a version that has one more."""

    further: str = "as before"


@dataclass(frozen=True, slots=True)
class LaterPolicy(TrustPolicy):
    further: tuple[str, ...] = ()


def fleet(request: CatalogCompile | None = None, **options: Any) -> FleetCompile:
    return FleetCompile(request or CatalogCompile("", Workspace.at(Path("work"))), **options)


@pytest.mark.requirement("FC8")
def test_a_new_option_at_its_default_refuses_no_older_run(tmp_path: Path) -> None:
    """A run goes on after an upgrade that brings options, as long as nobody uses them."""
    before = fleet()
    run = new_run(tmp_path, Plan(before, ()).record(""))
    later = fleet(LaterCompile("", Workspace.at(tmp_path)))
    check_same(run, Plan(later, ()).record(""))
    assert (later.digest, later.deciding) == (before.digest, {})
    used = fleet(LaterCompile("", Workspace.at(tmp_path), further="otherwise"))
    with pytest.raises(PolicyError) as error:
        check_same(run, Plan(used, ()).record(""))
    assert "started with other options: --further" in error.value.message
    policies = [CompileOptions(policy=policy) for policy in (TrustPolicy(shell=("a",)), LaterPolicy(shell=("a",)))]
    first, second = (fleet(replace(before.request, options=options)) for options in policies)
    assert first.digest == second.digest != before.digest


@pytest.mark.requirement("FC8")
def test_an_option_that_is_not_given_any_more_is_named(tmp_path: Path) -> None:
    run = new_run(tmp_path, Plan(fleet(selection=ClusterSelection(tenants=("t-one",))), ()).record(""))
    with pytest.raises(PolicyError) as error:
        check_same(run, Plan(fleet(), ()).record(""))
    assert "started with other options: --tenant" in error.value.message


@pytest.mark.requirement("FC8")
@pytest.mark.parametrize(
    "change",
    [
        lambda item: replace(item, waves=canary("1")),
        lambda item: replace(item, waves=allow_failures(item.waves, "10%")),
        lambda item: replace(item, waves=(Wave("all", manual=True),)),
        lambda item: replace(item, selection=ClusterSelection(facts=(("region", "eu-*"),))),
        lambda item: replace(item, selection=ClusterSelection(facts=(("region", "eu"), ("cloud", "*")))),
        lambda item: replace(item, request=replace(item.request, tenant_revision="v1")),
        lambda item: replace(item, request=replace(item.request, diff_mode="ignore-yaml-formatting")),
        lambda item: replace(item, request=replace(item.request, options=CompileOptions(policy=TrustPolicy()))),
        lambda item: replace(
            item, request=replace(item.request, options=CompileOptions(policy=TrustPolicy(rendering_seconds=1)))
        ),
    ],
)
def test_each_option_that_decides_changes_the_identity(change: Callable[[FleetCompile], FleetCompile]) -> None:
    assert change(fleet()).digest != fleet().digest
    assert change(fleet()).digest == change(fleet()).digest


@pytest.mark.requirement("FC6")
def test_where_and_how_fast_clusters_are_compiled_is_no_part_of_the_identity() -> None:
    options = CompileOptions(processes=8, cached=False, allowed=frozenset({"CMD-INV-001"}))
    other = fleet(
        CatalogCompile("", Workspace.at(Path("elsewhere")), push=True, options=options), workers=3, keep="nothing"
    )
    assert other.digest == fleet().digest
