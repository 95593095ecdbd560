"""Class files of one target in merge order, each read at most once, and only if it may contain the parameter."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from commodore.core.inventory.class_index import ClassFiles
from commodore.core.inventory.explain._nodes import MapEntry, MapNode, read_tree


@dataclass(frozen=True, slots=True)
class Document:
    """A class file, the target's own file (last), or the values that reclass-rs adds (first). `name` is the class's or
    target's.
    """

    name: str
    file: Path
    is_target: bool = False
    by_reclass: bool = False


@dataclass(slots=True)
class Documents:
    """All documents that are merged into a target."""

    files: ClassFiles
    target: str
    ordered: tuple[Document, ...] = ()
    _parameters: dict[Path, MapNode | None] = field(default_factory=dict)

    @property
    def own(self) -> Document:
        """The target's file."""
        return Document(self.target, self.files.target(self.target), is_target=True)

    def __post_init__(self) -> None:
        name = dict.fromkeys(("full", "path", "short"), self.target) | {"parts": [self.target]}
        own = {"parameters": {"_reclass_": {"environment": "base", "name": name}}}
        self._read_text(_RECLASS.file, json.dumps(own))

    def merging(self, classes: Iterable[str]) -> Documents:
        """Return documents of these classes only, before the following classes are known. Read files are shared."""
        documents = (_RECLASS, *(Document(name, self.files.paths[name]) for name in classes))
        return replace(self, ordered=documents, _parameters=self._parameters)

    def defining(self, key: Any) -> Iterator[tuple[Document, Sequence[MapEntry]]]:
        """Yield the documents that set a top-level parameter, each with its entries."""
        # A key may be written with escapes or come from `<<`; usually it is plain text.
        text = str(key).encode() if isinstance(key, str) else b""
        for document in self.ordered:
            content = self.files.content(document.file) if document is not _RECLASS else text
            if text in content or b"\\" in content:
                parameters = self._read(document.file)
                entries = parameters.at(key) if parameters else []
                if entries:
                    yield document, entries

    def _read(self, file: Path) -> MapNode | None:
        if file not in self._parameters:
            self._read_text(file, self.files.content(file))
        return self._parameters[file]

    def _read_text(self, file: Path, content: bytes | str) -> None:
        tree = read_tree(content)
        entries = tree.at("parameters") if isinstance(tree, MapNode) else []
        value = entries[-1].value if entries else None
        self._parameters[file] = value if isinstance(value, MapNode) else None


_RECLASS = Document("", Path("reclass"), by_reclass=True)
