"""Find the secret references in rendered parameters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from commodore.base import events
from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, Setting, raise_all
from commodore.base.names import BOOTSTRAP_TARGET, parameter_key
from commodore.core.refs import _syntax as _token


@dataclass(frozen=True, slots=True, order=True)
class SecretReference:
    """A secret reference and the first parameter that has it.

    Attributes:
        type: the kind of store, always `vaultkv`.
        path: path and key as written, `a/b/key`.
        tag: the whole reference as written, `?{vaultkv:a/b/key}`.
        parameter_path: the parameter that holds it, `comp.list[0].password`.
        target: the inventory target (`cluster` or an instance) whose parameters were searched.
        setting: the parameter, to be found in files.
    """

    type: str
    path: str
    tag: str
    parameter_path: str
    target: str
    setting: Setting = field(compare=False)

    @property
    def file(self) -> str:
        """The ref file, relative to `catalog/refs`."""
        return _token.Token(self.tag, self.type, self.path).file

    @property
    def secret(self) -> str:
        """Folder and key in Vault, `a/b:key`."""
        return _token.Token(self.tag, self.type, self.path).secret

    @property
    def place(self) -> str:
        """Target and parameter, for messages."""
        return _place(self.target, self.parameter_path)


def find_references(
    parameters: Mapping[str, Any],
    context: Context,
    *,
    target: str,
    only_keys: Collection[str] | None = None,
) -> tuple[SecretReference, ...]:
    """Return all references in the string values of `parameters`, sorted; a path that occurs twice is listed twice.

    Args:
        parameters: rendered parameters of one target.
        target: its name, for messages.
        only_keys: top-level keys to search; None searches all. Missing keys are ignored.
        context: announces references in map keys (CMD-REF-011), unclosed ones (CMD-REF-016), and malformed ones
            if it allows them.

    Raises:
        InputError, PolicyError, Findings: malformed references, all of them.
    """
    search = _Search(context)
    search.add(parameters, target, only_keys)
    raise_all(search.errors())
    return tuple(sorted(search.references))


def collect(
    nodes: Mapping[str, Mapping[str, Any]], instances: Mapping[str, str], context: Context
) -> tuple[SecretReference, ...]:
    """Return the references of a cluster, sorted by path, each path once.

    The search covers the bootstrap target, except the parameters of deployed components, and in each instance's target
    the parameters of its component. Missing targets and keys are skipped.

    Args:
        nodes: the rendered inventory: per target a map with `parameters`.
        instances: component name per instance name.
        context: announces references in map keys (CMD-REF-011) and unclosed ones (CMD-REF-016).

    Raises:
        InputError, PolicyError, Findings: malformed references and references whose files exclude each other
            (CMD-REF-009), all of them.
    """
    search = _Search(context)
    component_keys = {parameter_key(component) for component in instances.values()}
    search.add(_parameters(nodes, BOOTSTRAP_TARGET), BOOTSTRAP_TARGET, None, component_keys)
    for instance in sorted(instances):
        search.add(_parameters(nodes, instance), instance, {parameter_key(instances[instance])})
    first: dict[str, SecretReference] = {}
    for reference in sorted(search.references, key=_by_path):
        first.setdefault(reference.path, reference)
    references = tuple(first.values())
    raise_all([*search.errors(), *_conflicts(references)])
    return references


def _by_path(reference: SecretReference) -> tuple[str, bool, str, str]:
    """Sort key with the bootstrap target first: for a message, a parameter of the whole cluster is the better place."""
    return reference.path, reference.target != BOOTSTRAP_TARGET, reference.target, reference.parameter_path


class _Search:
    """The references and faults of a search. A fault that occurs in several places is one error with many locations."""

    def __init__(self, context: Context) -> None:
        self.references: list[SecretReference] = []
        self._context = context
        self._faults: dict[tuple[str, str], tuple[CommodoreError, list[Setting]]] = {}

    def add(
        self,
        parameters: Mapping[str, Any],
        target: str,
        only_keys: Collection[str] | None,
        skip_keys: Collection[str] = (),
    ) -> None:
        searched = {
            key: value
            for key, value in parameters.items()
            if key not in skip_keys and (only_keys is None or key in only_keys)
        }
        for text, path, is_key in _texts(searched):
            if is_key:
                self._warn_about_key(text, _place(target, _written(path)))
            else:
                self._read(text, path, target)

    def _read(self, text: str, path: tuple[Any, ...], target: str) -> None:
        written = _written(path)
        place = _place(target, written)
        setting = Setting(place, path=path, target=target)
        for tag in _token.tags(text):
            fault: CommodoreError | None
            try:
                token, fault = _token.read(tag, place)
                self.references.append(SecretReference(token.type, token.path, tag, written, target, setting))
            except CommodoreError as error:
                fault = error
            if fault is not None:
                self._faults.setdefault((fault.code, tag), (fault, []))[1].append(setting)
        if beginning := _token.unclosed(text):
            self._context.announce(
                events.Warned(
                    "CMD-REF-016",
                    f"{_token.shown(beginning)} in {place} is not closed and stays as it is",
                    "close the reference with '}'",
                )
            )

    def _warn_about_key(self, key: str, place: str) -> None:
        for tag in _token.tags(key):
            self._context.announce(
                events.Warned(
                    "CMD-REF-011",
                    f"{_token.shown(tag)} is in a key of {place}, where it is not replaced",
                    "references work in values only",
                )
            )

    def errors(self) -> list[CommodoreError]:
        """Return the faults that stop the run; allowed ones are announced as warnings."""
        return self._context.problems(
            type(error)(error.code, error.message, hint=error.hint, locations=places)
            for error, places in self._faults.values()
        )


def _texts(parameters: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Any, ...], bool]]:
    """Yield strings that may hold a reference, with the path of their parameter, and True for map keys.

    The order is that of the sorted keys, independent of the order of the maps.
    """
    stack: list[tuple[Any, tuple[Any, ...]]] = [(parameters, ())]
    while stack:
        value, path = stack.pop()
        if isinstance(value, str):
            if "?{" in value:
                yield value, path, False
        elif isinstance(value, Mapping):
            members = sorted(value.items(), key=lambda entry: str(entry[0]))
            for key, _ in members:
                if "?{" in str(key):
                    yield str(key), path, True
            stack += [(member, (*path, key)) for key, member in reversed(members)]
        elif isinstance(value, (list, tuple)):
            stack += [(member, (*path, _Index(index))) for index, member in reversed(list(enumerate(value)))]


class _Index(int):
    """The index of a list item, to tell it from an integer key of a map."""


def _written(path: tuple[Any, ...]) -> str:
    return "".join(f"[{key}]" if isinstance(key, _Index) else f".{key}" for key in path).removeprefix(".")


def _conflicts(references: Iterable[SecretReference]) -> list[CommodoreError]:
    """Return errors for ref files that exclude each other: `a/b` is both a file and a folder, or two spellings of
    one file (`a//b`, `a/b`) have different contents."""
    errors: list[CommodoreError] = []
    files: dict[str, SecretReference] = {}
    for reference in references:
        other = files.setdefault(reference.file, reference)
        if other is not reference:
            errors.append(_conflict(other, reference, f"both are written to the file {reference.file!r}"))
    for file, reference in files.items():
        for parent in PurePosixPath(file).parents:
            if (blocking := files.get(str(parent))) is not None:
                reason = f"{str(parent)!r} cannot be both a file and a folder"
                errors.append(_conflict(blocking, reference, reason))
    return errors


def _conflict(first: SecretReference, second: SecretReference, reason: str) -> CommodoreError:
    return InputError(
        "CMD-REF-009",
        f"{_token.shown(first.tag)} in {first.place} and {_token.shown(second.tag)} in {second.place} "
        f"exclude each other: {reason}",
        hint="give one of the secrets another path",
        locations=(first.setting, second.setting),
    )


def _parameters(nodes: Mapping[str, Mapping[str, Any]], target: str) -> Mapping[str, Any]:
    parameters = nodes.get(target, {}).get("parameters")
    return parameters if isinstance(parameters, Mapping) else {}


def _place(target: str, path: str) -> str:
    return f"parameter {path or '(top level)'} of target {target}"
