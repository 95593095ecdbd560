"""Names and paths of an author's components and packages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from commodore.base.errors import InputError
from commodore.base.files.workspace import Workspace
from commodore.base.names import NAME_LENGTH, RESERVED_CLASSES, RESERVED_INSTANCES

_SLUG = re.compile(r"[a-z][a-z0-9-]+[a-z0-9]")
_OWNER = re.compile(r"[A-Za-z0-9](-?[A-Za-z0-9])*")
_CASE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

# Parameters of the hierarchy that would clash with a component's own ones.
_RESERVED_PARAMETERS = frozenset({"commodore", "components", "facts", "global", "kapitan", "packages"})


@dataclass(frozen=True, slots=True)
class Kind:
    """Component or package, with the differences between the two.

    Attributes:
        name: the name of the kind, and of the bundled template.
        public_template: the template of existing repositories.
        reserved: reserved slugs.
    """

    name: Literal["component", "package"]
    public_template: str
    reserved: frozenset[str]

    @property
    def prefix(self) -> str:
        return f"{self.name}-"

    def folder(self, workspace: Workspace, slug: str) -> Path:
        """Return the folder in a working directory."""
        return workspace.component(slug) if self.name == "component" else workspace.package(slug)

    def remote(self, owner: str, slug: str) -> str:
        """Return the URL of a new repository."""
        return f"git@github.com:{check_owner(owner)}/{self.prefix}{slug}.git"


COMPONENT = Kind(
    "component",
    "https://github.com/projectsyn/commodore-component-template.git",
    RESERVED_INSTANCES | _RESERVED_PARAMETERS,
)
PACKAGE = Kind("package", "https://github.com/projectsyn/commodore-config-package-template.git", RESERVED_CLASSES)


def check_slug(slug: object, kind: Kind) -> str:
    """Return `slug` if it follows the rules for names of components and packages.

    Raises:
        InputError: it is malformed, begins with the kind's own prefix, or is reserved.
    """
    if not isinstance(slug, str) or not _SLUG.fullmatch(slug) or len(slug) > NAME_LENGTH:
        raise InputError(
            "CMD-TPL-001",
            f"{slug!r} is not a valid slug of a {kind.name}",
            hint="use at least three lower-case letters, digits and '-', beginning with a letter, not ending in '-'",
        )
    if slug.startswith(kind.prefix):
        raise InputError(
            "CMD-TPL-002",
            f"the slug {slug!r} begins with {kind.prefix!r}, which commodore adds itself",
            hint=f"use {slug.removeprefix(kind.prefix)!r}",
        )
    if slug in kind.reserved or (kind is PACKAGE and slug.startswith("t-")):
        what = "begins with 't-', which is reserved for tenants" if slug.startswith("t-") else "is reserved"
        raise InputError(
            "CMD-TPL-003",
            f"the slug {slug!r} {what} and cannot be used for a {kind.name}",
            hint="choose another name",
        )
    return slug


def check_owner(owner: object) -> str:
    """Return `owner` if it is a valid account or organisation on GitHub.

    Raises:
        InputError: it is not.
    """
    if not isinstance(owner, str) or not _OWNER.fullmatch(owner):
        raise InputError(
            "CMD-TPL-004",
            f"{owner!r} is not a valid owner of a repository on GitHub",
            hint="use letters, digits and single '-'",
        )
    return owner


def check_case(case: object) -> str:
    """Return `case` if it is a valid name of a test case: of a file, a folder, a class, and in a blank-separated list.

    Raises:
        InputError: it is not.
    """
    if not isinstance(case, str) or not _CASE.fullmatch(case):
        raise InputError(
            "CMD-TPL-005",
            f"{case!r} is not a valid name of a test case",
            hint="use letters, digits, '-', '_' and '.', beginning with a letter or digit",
        )
    return case


def check_switch(answer: object, name: str) -> str:
    """Return `answer` if it is "y" or "n". Templates insert it into the code of their hooks.

    Raises:
        InputError: it is not.
    """
    if answer not in ("y", "n"):
        raise InputError(
            "CMD-TPL-009",
            f"{answer!r} is not a valid value of the template's argument {name!r}",
            hint="it is a switch: write y or n in .cruft.json",
        )
    return str(answer)


def check_text(text: object, what: str) -> str:
    """Return `text` if it is one line of printable text, like titles and names of copyright holders.

    Raises:
        InputError: it is not.
    """
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        raise InputError(
            "CMD-TPL-006",
            f"{text!r} is not valid as the {what}",
            hint="use one line of text without control characters",
        )
    return text
