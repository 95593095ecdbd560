"""The index of a chart repository. It may have hundreds of charts in thousands of versions; one is needed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from commodore.base.errors import InputError
from commodore.base.yaml.kube_yaml import read_documents

_ENTRIES = re.compile(rb"^entries:[ ]*\n", re.MULTILINE)


class ChartIndex:
    """The text of an `index.yaml`, parsed only in part if possible.

    Args:
        place: its name in errors.
    """

    def __init__(self, text: bytes, place: str) -> None:
        self._text = text
        self._place = place
        self._whole: Mapping[str, Any] | None = None

    def entries(self, name: str) -> Any:
        """Return the entries of a chart; None if the index does not have it.

        Raises:
            InputError: CMD-ARGO-315, this is not an index.
        """
        if name.encode() not in self._text and _ENTRIES.search(self._text):
            return None
        return self._part(name) or self._parsed().get(name)

    def _part(self, name: str) -> list[Any] | None:
        """Return the entries of a chart, parsed separately; None if the index is not formatted as helm writes it."""
        if self._whole is not None or len(_ENTRIES.findall(self._text)) != 1:
            return None
        # A second match may be a line within a text.
        begins = re.findall(rb"^  %s:[ ]*\n" % re.escape(name.encode()), self._text, re.MULTILINE)
        if len(begins) != 1:
            return None
        start = self._text.index(b"\n" + begins[0]) + 1
        end = _end(self._text, start + len(begins[0]))
        try:
            content = next(read_documents(self._text[start:end], place=self._place), None)
        except InputError:
            return None
        entries = content.get(name) if isinstance(content, Mapping) else None
        return entries if isinstance(entries, list) else None

    def _parsed(self) -> Mapping[str, Any]:
        if self._whole is None:
            try:
                content = next(read_documents(self._text, place=self._place), None)
            except InputError as error:
                raise InputError(
                    "CMD-ARGO-315",
                    f"{self._place} is not a chart index: {error.message}",
                    hint="check the repository's URL",
                    locations=error.locations,
                ) from error
            entries = content.get("entries") if isinstance(content, Mapping) else None
            if not isinstance(entries, Mapping):
                raise InputError(
                    "CMD-ARGO-315", f"{self._place} is not a chart index", hint="check the repository's URL"
                )
            self._whole = entries
        return self._whole


def _end(text: bytes, place: int) -> int:
    """Return the end of the lines of a key that is indented by two: list items and deeper lines."""
    while 0 <= place < len(text):
        line = text[place : place + 4]
        if not (line.startswith((b"  - ", b"   ", b"\n", b"#"))):
            return place
        place = text.find(b"\n", place) + 1 or len(text)
    return len(text)
