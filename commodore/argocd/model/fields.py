"""Reading the fields of objects that people wrote, with errors that name file, line and field."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from commodore.base.errors import InputError, Location, did_you_mean
from commodore.base.yaml.kube_scalars import scalar_text


@dataclass(frozen=True, slots=True)
class Fields:
    """A map of an object: its data, where it is in the object, and where the object is.

    A null is read as if the field were absent, as Kubernetes does.
    """

    data: Mapping[str, Any]
    path: str
    place: Location

    @classmethod
    def of(cls, value: Any, path: str, place: Location) -> Fields:
        """A value that must be a map.

        Raises:
            InputError: CMD-ARGO-103, it is none. The other methods raise this, too, for values of other types.
        """
        if not isinstance(value, Mapping):
            raise wrong_type(path, "a map", value, place)
        return cls(value, path, place)

    def __contains__(self, key: str) -> bool:
        return self.data.get(key) is not None

    def at(self, key: str) -> str:
        """The path of a field."""
        return f"{self.path}.{key}" if self.path else key

    def place_of(self, key: str) -> Location:
        """Where a field is, for errors."""
        return self.place.at(self.at(key))

    def raw(self, key: str) -> Any:
        """A value of any type; None if it is absent."""
        return self.data.get(key)

    def text(self, key: str, default: str = "") -> str:
        """A text. `no` and `1.0` without quotes are read as Kubernetes reads them, and then written as texts."""
        value = self.data.get(key)
        return default if value is None else self._text(value, self.at(key))

    def _text(self, value: Any, path: str) -> str:
        if not isinstance(value, str | int | float):
            raise wrong_type(path, "text", value, self.place)
        return scalar_text(value)

    def required(self, key: str) -> str:
        """A text that must be there and not be empty. It names something, so a number is a mistake.

        Raises:
            InputError: CMD-ARGO-103, it is missing, empty, or no text.
        """
        value = self.data.get(key)
        if value is not None and not isinstance(value, str):
            raise wrong_type(self.at(key), "text", value, self.place)
        if not value:
            place = self.place_of(key)
            raise InputError("CMD-ARGO-103", f"{self.at(key)} is missing", hint="add the field", locations=[place])
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        """A boolean, `default` if it is absent.

        Raises:
            InputError: CMD-ARGO-103, it is something else.
        """
        value = self.data.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise wrong_type(self.at(key), "true or false", value, self.place)
        return value

    def fields(self, key: str) -> Fields:
        """A map; an empty one if it is absent."""
        value = self.data.get(key)
        return Fields.of({} if value is None else value, self.at(key), self.place)

    def optional(self, key: str) -> Fields | None:
        """A map, if it is there."""
        return self.fields(key) if key in self else None

    def items(self, key: str) -> Iterator[Fields]:
        """The maps of a list."""
        for number, value in enumerate(self.values(key)):
            yield Fields.of(value, f"{self.at(key)}[{number}]", self.place)

    def values(self, key: str) -> list[Any]:
        """A list of anything; empty if it is absent."""
        value = self.data.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise wrong_type(self.at(key), "a list", value, self.place)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty if it is absent."""
        return tuple(self._text(value, f"{self.at(key)}[{number}]") for number, value in enumerate(self.values(key)))

    def text_map(self, key: str) -> dict[str, str]:
        """A map of texts; empty if it is absent. A null value is an empty text."""
        found: dict[str, str] = {}
        for name, value in self.fields(key).data.items():
            found[name] = "" if value is None else self._text(value, f"{self.at(key)}.{name}")
        return found

    def unknown(self, known: Collection[str]) -> Iterator[tuple[str, str]]:
        """The fields that are not known: their paths, and hints."""
        for key in self.data:
            if key not in known:
                yield self.at(key), did_you_mean(key, known)


def wrong_type(path: str, expected: str, value: Any, place: Location) -> InputError:
    """A field has a value of the wrong type."""
    hint = "see the reference of Argo CD's fields"
    if expected == "text" and isinstance(value, bool):
        hint = f"write it in quotes: {unquoted(value)}"
    elif expected == "text" and isinstance(value, int | float):
        hint = "write it in quotes"
    return InputError(
        "CMD-ARGO-103",
        f"{path} must be {expected}, not {kind_of(value)}",
        hint=hint,
        locations=[place.at(path)],
    )


_BOOLEANS = {True: ("y", "yes", "on", "true"), False: ("n", "no", "off", "false")}


def unquoted(value: bool) -> str:
    """The reason why a word in YAML became true or false."""
    *words, last = _BOOLEANS[value]
    return f"without quotes {', '.join(words)} and {last} are {last}"


def boolean_of(word: str) -> bool | None:
    """What YAML makes of a word without quotes, if that is a boolean."""
    return next((value for value, words in _BOOLEANS.items() if word.lower() in words), None)


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "a map"
