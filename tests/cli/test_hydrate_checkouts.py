"""Edits in a checkout that Applications are read from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.hydrated_place import CONFIG, Place
from tests.world.repos import git


@pytest.fixture
def checkout(place: Place) -> Path:
    """A checkout of the dry repository, in which the Applications are committed."""
    applications = {f"argocd/{file.name}": file.read_text() for file in place.folder.iterdir()}
    place.remote.commit({**applications, "apps/a/.gitignore": "*.tmp\n", "elsewhere": ""})
    folder = place.folder.parent / "checkout"
    git(folder.parent, "clone", "--quiet", place.remote.url, str(folder))
    return folder


def said(place: Place, checkout: Path, *options: str) -> list[str]:
    """The lines of a plan with the code of the warning."""
    code, _, err = place.call("-d", str(checkout), "hydrate", "plan", str(checkout), *options)
    assert code == 0, err
    return [line for line in err.splitlines() if "CMD-HYD-055" in line]


def test_edits_that_are_not_committed_are_named(place: Place, checkout: Path) -> None:
    assert said(place, checkout) == []
    (checkout / "elsewhere").write_text("edited")
    (checkout / "apps/a/x.tmp").write_text("ignored")
    assert said(place, checkout) == [], "neither is a file of an Application"
    (checkout / "apps/a/config.yaml").write_text(CONFIG.format(name="a", value=2))
    (checkout / "apps/a/new.yaml").write_text("")
    (checkout / "apps/b/config.yaml").unlink()
    (line,) = said(place, checkout)
    assert line.startswith(
        f"warning: {checkout} has edits that are not committed, and not hydrated:"
        " apps/a/config.yaml, apps/a/new.yaml, apps/b/config.yaml"
    )
    code, _, err = place.call("-d", str(checkout), "hydrate", "run", str(checkout))
    assert (code, err.count("CMD-HYD-055")) == (0, 1)


def test_a_checkout_stays_clean(place: Place, checkout: Path) -> None:
    code, _, _ = place.call("-d", str(checkout), "hydrate", "run", str(checkout))
    assert (code, git(checkout, "status", "--porcelain")) == (0, "")


def test_filters_of_a_checkout_do_not_run(place: Place, checkout: Path) -> None:
    """Somebody else may have written its configuration. What a filter changes is not an edit."""
    mark = checkout.parent / "mark"
    git(checkout, "config", "filter.evil.clean", f"touch {mark}; cat")
    git(checkout, "config", "core.fsmonitor", f"touch {mark}; false")
    (checkout / ".gitattributes").write_text("apps/a/* filter=evil\n*.yaml text\n")
    (checkout / "apps/a/config.yaml").write_text("edited")
    file = checkout / "apps/b/config.yaml"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert said(place, checkout) == []
    assert not mark.exists()
