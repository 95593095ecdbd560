"""Templates shared by all repositories of a run, fetched once."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from commodore.authoring.slug import Kind
from commodore.authoring.templates import Template, open_template
from commodore.base.context import Context
from commodore.base.errors import CommodoreError


class SharedTemplates:
    """Open templates, kept until the end of the block."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], Template] = {}
        self._stack = contextlib.ExitStack()
        self._lock = threading.Lock()

    def __enter__(self) -> SharedTemplates:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextlib.contextmanager
    def open(
        self, url: str, kind: Kind, versions: tuple[str | None, ...], context: Context, *, trust: bool
    ) -> Iterator[Template]:
        """Open a template like `open_template`. An open template is fetched again only for missing versions."""
        with self._lock:
            template = self._open.get((kind.name, url))
            if template is None or not _has_all(template, versions):
                template = self._stack.enter_context(open_template(url, kind, versions, context, trust=trust))
                self._open[kind.name, url] = template
        yield template


def _has_all(template: Template, versions: tuple[str | None, ...]) -> bool:
    try:
        return all(template.has(template.resolve(version)) for version in versions)
    except CommodoreError:
        return False
