"""A small cookiecutter template in a git repository, with a second version, and repositories made from it."""

from __future__ import annotations

from pathlib import Path

from commodore.authoring import (
    COMPONENT,
    Choices,
    NewRequest,
    Updated,
    UpdateRequest,
    create_repository,
    update_repository,
)
from commodore.base.events import Event
from commodore.base.files.workspace import Workspace
from tests.world.context import make_context
from tests.world.repos import Content, GitWorld, Remote, Script

ROOT = "{{ cookiecutter.slug }}"

NUMBERS = "".join(f"{number}\n" for number in range(1, 21))

ARGUMENTS = """{
  "name": "x",
  "slug": "x",
  "test_cases": "defaults",
  "add_golden": "y",
  "add_matrix": "y",
  "add_lib": "n",
  "add_pp": "n",
  "github_owner": "nobody",
  "copyright_holder": "nobody",
  "copyright_year": "1950",
  "flavour": "plain",
  "github_name": "component-{{ cookiecutter.slug }}",
  "__private": "p-{{ cookiecutter.slug }}"
}
"""

FIRST: dict[str, Content] = {
    "cookiecutter.json": ARGUMENTS,
    f"{ROOT}/numbers.txt": NUMBERS,
    f"{ROOT}/about.txt": "{{ cookiecutter.name }} of {{ cookiecutter.github_owner }}, {{ cookiecutter.flavour }}\n",
    f"{ROOT}/old.txt": "old\n",
    f"{ROOT}/sub/run.sh": Script("#!/bin/sh\n"),
    f"{ROOT}/cases.txt": "{{ cookiecutter.test_cases }}\n",
}

SECOND: dict[str, Content] = {
    f"{ROOT}/numbers.txt": NUMBERS.replace("3\n", "three\n", 1),
    f"{ROOT}/old.txt": None,
    f"{ROOT}/new.txt": "new\n",
}


def template(world: GitWorld) -> Remote:
    """The template at its first version, on the branch `main`."""
    return world.remote("template", FIRST, branch="main")


def make(
    root: Path,
    remote: Remote | None = None,
    slug: str = "foo",
    choices: Choices | None = None,
    *,
    url: str | None = None,
) -> Path:
    """A component of an author in `root`, made from the template (`url`: another address of it) or the bundled one."""
    request = NewRequest(
        COMPONENT,
        slug,
        choices=choices or Choices(),
        template_url=(url or remote.url) if remote else None,
        output_dir=root,
        trust_template=remote is not None,
    )
    return create_repository(Workspace.at(root), request, make_context(announce=lambda event: None)).folder


def update(
    folder: Path,
    choices: Choices | None = None,
    *,
    version: str | None = None,
    commit: bool = True,
    trust: bool = True,
    collected: list[Event] | None = None,
) -> Updated:
    """Update an author's component."""
    request = UpdateRequest(COMPONENT, folder, choices or Choices(), version, commit, trust)
    return update_repository(request, make_context(announce=(collected if collected is not None else []).append))
