"""Files that pass the rendered inventory to the workers: every distinct value once, targets as references to values.

The parameters of all targets are nearly equal, so together they need little more space than one target. A worker reads
only the values it needs, and keeps each of them once, too.

The format is `marshal`: it keeps the types of plain values (JSON would turn the key 1 into "1"), is faster than JSON
and pickle, and creates data only, never objects. The files are in the run's own staging folder and only for that run.
"""

from __future__ import annotations

import marshal
from array import array
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from commodore.base.errors import InternalError, PolicyError
from commodore.base.limits import Limits
from commodore.base.values.interning import SHARED_LEVELS, Branch, InternTable

_VALUES = "values"
_PLACES = "places"


def write_nodes(nodes: Mapping[str, Mapping[str, Any]], folder: Path, limits: Limits) -> dict[str, Path]:
    """Write each target's node. Returns the file of each target.

    Raises:
        InternalError: a node has a value that is not plain data.
        PolicyError: together they exceed `limits.inventory_bytes`, each distinct value counted once.
    """
    folder.mkdir(parents=True)
    table = InternTable(SHARED_LEVELS)
    places = array("Q", [0])
    files: dict[str, Path] = {}
    with (folder / _VALUES).open("wb") as values:
        for number, (name, node) in enumerate(sorted(nodes.items())):
            try:
                root = table.add(dict(node))
            except ValueError as error:
                raise InternalError("CMD-ENG-001", f"the inventory of target {name!r}: {error}") from error
            for record in table.records[len(places) - 1 :]:
                written: Any = (True, record.numbers) if isinstance(record, Branch) else (False, record)
                content = marshal.dumps(written, 2)
                values.write(content)
                places.append(places[-1] + len(content))
            if places[-1] > limits.inventory_bytes:
                raise PolicyError(
                    "CMD-ENG-002",
                    f"the rendered inventory is larger than {limits.inventory_bytes} bytes",
                    hint="look for parameters that embed large files",
                )
            files[name] = folder / f"{number}.node"
            files[name].write_bytes(marshal.dumps(root))
    (folder / _PLACES).write_bytes(places.tobytes())
    return files


class WrittenNodes(Mapping[str, Mapping[str, Any]]):
    """The targets' nodes, read from the files of `write_nodes`. Their values are shared and must not be changed.

    Args:
        files: the file of each target.
    """

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = files
        self._nodes: dict[str, dict[str, Any]] = {}
        self._known: dict[int, Any] = {}

    def node(self, name: str) -> dict[str, Any]:
        """Return a target's node.

        Raises:
            KeyError: unknown target.
        """
        if name not in self._nodes:
            self._nodes[name] = self._value(marshal.loads(self._files[name].read_bytes()))  # noqa: S302 - see _value
        return self._nodes[name]

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        return self.node(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def _value(self, number: int) -> Any:
        if number not in self._known:
            places = self._places
            content = memoryview(self._values)[places[number] : places[number + 1]]
            branch, value = marshal.loads(content)  # noqa: S302 - the main process wrote it a moment ago
            self._known[number] = {key: self._value(number) for key, number in value.items()} if branch else value
        return self._known[number]

    @cached_property
    def _folder(self) -> Path:
        return next(iter(self._files.values())).parent

    @cached_property
    def _places(self) -> array[int]:
        return array("Q", (self._folder / _PLACES).read_bytes())

    @cached_property
    def _values(self) -> bytes:
        return (self._folder / _VALUES).read_bytes()
