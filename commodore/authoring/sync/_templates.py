"""Templates that are fetched once per run, however many repositories come from them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from commodore.authoring.slug import Kind
from commodore.authoring.templates import Template, open_template
from commodore.base.context import Context
from commodore.base.errors import CommodoreError


class SharedTemplates:
    """Opens templates, and keeps them open until the end of the block."""

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
        """See `open_template`. What is open is fetched again only for versions that it does not have."""
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
