"""PortablePaths that touch."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.core.engine.cache.fetch_plan import Overlaps, overlap


@pytest.mark.parametrize(
    ("place", "owners"), [("/a", "xyz"), ("/a/b", "xy"), ("/a/b/c/d", "xy"), ("/a/bc", ""), ("/e", "")]
)
def test_owners_of_places_that_touch(place: str, owners: str) -> None:
    overlaps: Overlaps[str] = Overlaps()
    for owner, at in (("x", "/a/b"), ("y", "/a/b/c"), ("z", "/a/d")):
        overlaps.add(Path(at), owner)
    assert set(overlaps.touching(Path(place))) == set(owners)


PLACES = st.lists(st.sampled_from("ab"), max_size=4).map(lambda names: Path("/", *names))


@given(st.lists(PLACES), PLACES)
def test_the_same_as_comparing_with_each(places: list[Path], other: Path) -> None:
    overlaps: Overlaps[int] = Overlaps()
    for number, place in enumerate(places):
        overlaps.add(place, number)
    expected = {number for number, place in enumerate(places) if overlap(place, other)}
    assert set(overlaps.touching(other)) == expected
