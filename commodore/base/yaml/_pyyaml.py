"""Write documents that the fast emitter does not support with PyYAML. Imported only when it is needed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import yaml
from yaml.representer import BaseRepresenter

from commodore.base.errors import InputError

_STYLES = {"literal": "|", "folded": ">", "double-quotes": '"'}


class _IndentedDumper(yaml.SafeDumper):
    """PyYAML's dumper with list items indented below their key."""

    # Kapitan registers a representer for its enumerations on PyYAML's own dumper, which must not affect the output.
    yaml_multi_representers: ClassVar[dict[type[Any], Callable[[BaseRepresenter, Any], yaml.Node]]] = {}

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


@functools.cache
def _dumper(multiline_style: str) -> type[_IndentedDumper]:
    style = _STYLES[multiline_style]

    def write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style if "\n" in text else None)

    class Dumper(_IndentedDumper):
        pass

    Dumper.add_representer(str, write_text)
    return Dumper


class _FlushDumper(yaml.SafeDumper):
    """PyYAML's default dumper, without other representers registered for texts and enumerations."""

    yaml_multi_representers: ClassVar[dict[type[Any], Callable[[BaseRepresenter, Any], yaml.Node]]] = {}


_FlushDumper.add_representer(str, yaml.representer.SafeRepresenter.represent_str)


def dump_flush(document: object) -> str:
    """Write a document in PyYAML's default style.

    Raises:
        InputError: CMD-YAML-002, a value YAML has no form for; CMD-YAML-003, nested too deeply.
    """
    return _written([document], _FlushDumper)


def dump_ordered(document: object, quoted: Callable[[str], bool]) -> str:
    """Write a document with keys in their order, long lines, no anchors, and quotes around texts if `quoted` returns
    True.

    Raises:
        InputError: CMD-YAML-002, a value YAML has no form for; CMD-YAML-003, nested too deeply.
    """

    class Dumper(_FlushDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    def write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'" if quoted(text) else None)

    def write_set(dumper: yaml.SafeDumper, data: set[Any]) -> yaml.MappingNode:
        members = sorted(data, key=lambda member: (type(member).__name__, str(member)))  # a set has no order of its own
        return dumper.represent_mapping("tag:yaml.org,2002:set", dict.fromkeys(members))

    Dumper.add_representer(str, write_text)
    Dumper.add_representer(set, write_set)
    return _written([document], Dumper, sort_keys=False, width=1000)


def dump_all(documents: Sequence[object], multiline_style: str) -> str:
    """Write the documents as a stream.

    Raises:
        InputError: CMD-YAML-002, a value YAML has no form for; CMD-YAML-003, nested too deeply.
    """
    return _written(documents, _dumper(multiline_style))


def _written(
    documents: Sequence[object], dumper: type[yaml.SafeDumper], *, sort_keys: bool = True, width: int | None = None
) -> str:
    try:
        return str(
            yaml.dump_all(
                documents, Dumper=dumper, indent=2, default_flow_style=False, sort_keys=sort_keys, width=width or 80
            )
        )
    except yaml.representer.RepresenterError as error:
        kind = type(error.args[-1]).__name__
        raise InputError(
            "CMD-YAML-002",
            f"a value of type {kind!r} cannot be written as YAML",
            hint="turn it into maps, lists, strings, numbers, booleans or null",
        ) from error
    except ValueError as error:
        raise InputError(
            "CMD-YAML-002",
            f"a value cannot be written as YAML: {error}",
            hint="turn it into maps, lists, strings, numbers, booleans or null",
        ) from error
    except RecursionError:
        raise InputError(
            "CMD-YAML-003",
            "a document is nested too deeply to be written as YAML",
            hint="flatten it, and check for a value that contains itself",
        ) from None
