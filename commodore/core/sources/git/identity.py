"""Author and committer of commits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from commodore.base.context import Context
from commodore.base.events import Announce, Warned
from commodore.core.sources.git.runner import Git

_IDENT = re.compile(r"^(?P<name>.*) <(?P<email>.*)> \d+ [+-]\d+$")


@dataclass(frozen=True, slots=True)
class Author:
    """A commit's author, who is also its committer."""

    name: str
    email: str


FALLBACK_AUTHOR = Author("Commodore", "commodore@syn.tools")
"""Fallback if git has no identity of the user."""


def author_from(name: str | None, email: str | None, announce: Announce) -> Author | None:
    """Return the author of the settings; None for git's own identity.

    If only one of the two is set, it is not used, with a warning.
    """
    if name and email:
        return Author(name, email)
    if name or email:
        given, missing = ("name", "e-mail address") if name else ("e-mail address", "name")
        announce(
            Warned(
                "CMD-GIT-053",
                f"the git author's {given} is set without the {missing}, so git's own identity is used",
                hint="set both, or neither",
            )
        )
    return None


def identity_environment(folder: Path, author: Author | None, context: Context) -> dict[str, str]:
    """Return the variables that set author and committer to `author` (None: git's own identity, else the fallback)."""
    if author is None:
        answer = Git(folder, context).run(["var", "GIT_COMMITTER_IDENT"], check=False)
        own = _IDENT.match(answer.text) if answer.returncode == 0 else None
        author = Author(own["name"], own["email"]) if own and own["name"] and own["email"] else FALLBACK_AUTHOR
    return {
        "GIT_AUTHOR_NAME": author.name,
        "GIT_AUTHOR_EMAIL": author.email,
        "GIT_COMMITTER_NAME": author.name,
        "GIT_COMMITTER_EMAIL": author.email,
    }
