"""Runs that are disturbed in the middle of what they do, one after another; the next one gives what it should.

`scripts/faults` does the same at all points, `scripts/faults --tests` at all of these.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.world.faults import Fault, FaultWorld, Place
from tests.world.sampling import sample
from tests.world.syscalls import why_not

pytestmark = pytest.mark.skipif(why_not() != "", reason="changes of the disk cannot be seen here")

CLONE = r"work/dependencies/\.repos/.*/app\.git"
STAGING = r"work/\.commodore/[a-z]*-[^/]*"
CATALOG = r"work/catalog/\.git"

# Faults and their places, in the order in which a run comes by: each run gets further than the one before.
RUNS = {
    "killed": [
        ("kill", "link", rf"{CLONE}/objects/pack"),
        ("killall", "open", r"work/dependencies/app/docs/5\.md"),
        ("kill", "open", rf"{STAGING}/refs/a/b/"),
        ("killall", "rename", r"work/compiled$"),
        ("kill", "rename", r"work/catalog/manifests$"),
        ("killall", "rename", rf"{CATALOG}/refs/remotes"),
    ],
    "killed elsewhere": [
        ("killall", "rename", rf"{CLONE}/refs/remotes"),
        ("kill", "write", rf"{CLONE}/worktrees/app/index\.lock"),
        ("killall", "rename", r"work/vendor/\.cache/[^.][^/]*$"),
        ("kill", "open", rf"{STAGING}/fetch/.*/files/"),
        ("killall", "rename", rf"{CATALOG}/index$"),
    ],
    "asked to end, and failing": [
        ("SIGTERM", "unlink", r"work/dependencies/app/docs/5\.md"),
        ("exception", "rename", r"work/inventory/targets/app"),
        ("SIGINT", "rename", r"work/vendor/\.cache/installed"),
        ("SIGTERM", "open", rf"{STAGING}/work/charted/compiled/"),
        ("exception", "rename", r"work/catalog/refs$"),
        ("SIGTERM", "open", rf"{CATALOG}/refs/remotes"),
    ],
    "without a disk that works": [
        ("EIO", "unlink", r"work/dependencies/charted/chart/templates/0\.yaml"),
        ("ENOSPC", "open", r"work/dependencies/app/docs/5\.md"),
        ("EIO", "write", rf"{CLONE}/worktrees/other/"),
        ("ENOSPC", "write", rf"{STAGING}/work/charted/compiled/.*/00_namespace\.yaml"),
        ("EIO", "rename", r"work/catalog/refs$"),
        ("ENOSPC", "write", rf"{CATALOG}/index\.lock"),
    ],
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultWorld]:
    with FaultWorld(tmp_path_factory.mktemp("faults")).opened() as made:
        yield made


@pytest.mark.parametrize("name", RUNS)
def test_the_run_after_disturbed_ones(world: FaultWorld, name: str) -> None:
    faults = [Fault(kind, Place("moved", *place)) for kind, *place in sample(RUNS[name], 3, seed=6)]
    assert world.try_faults(*faults) == []
