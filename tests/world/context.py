"""The context that tests give to the library."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from commodore.base.context import Context
from commodore.base.events import Announce, ignore
from commodore.base.limits import DEFAULT_LIMITS, Limits
from commodore.core.sources.git import Author, PublishedClone, RepositoryStore


def make_context(
    announce: Announce = ignore,
    limits: Limits = DEFAULT_LIMITS,
    *,
    offline: bool = False,
    allowed: Iterable[str] = (),
) -> Context:
    """A context of its own, by default without a listener, with the usual limits, and with all errors as strict."""
    return Context(announce, limits, offline, allowed=frozenset(allowed))


def working_clone(
    url: str, folder: Path, context: Context, *, author: Author | None = None, mirrors: Path | None = None
) -> PublishedClone:
    """Bring a clone to publish from up to date, in a run of its own."""
    with RepositoryStore(folder.parent / ".repos", context, mirrors=mirrors) as store:
        return store.working_clone(url, folder, author=author)
