"""Read the fields of maps from files or servers; a value of another type is an error, or noted and absent."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar, Self

from commodore.base.errors import InputError, Location, did_you_mean

_NOWHERE = Location("")


@dataclass(frozen=True, slots=True)
class Fields:
    """A map: its data, its path in the object, and the object's place. A null counts as an absent field.

    Subclasses define the error of a wrong value.

    Attributes:
        noted: collects the errors of wrong values, which count as absent; None raises them.
    """

    data: Mapping[str, Any]
    path: str = ""
    place: Location = _NOWHERE
    noted: list[InputError] | None = None

    code: ClassVar[str]
    advice: ClassVar[str] = ""

    @classmethod
    def of(cls, value: Any, path: str, place: Location, noted: list[InputError] | None = None) -> Self:
        """Check that a value is a map.

        Raises:
            InputError: with the class's code, it is not a map. The other methods also raise it for values of other
                types, unless these are noted.
        """
        if isinstance(value, Mapping):
            return cls(value, path, place, noted)
        empty = cls({}, path, place, noted)
        empty.refuse(path, "a map", value)
        return empty

    def __contains__(self, key: str) -> bool:
        return self.data.get(key) is not None

    def at(self, key: str) -> str:
        """Return the path of a field."""
        return f"{self.path}.{key}" if self.path else key

    def place_of(self, key: str) -> Location:
        """Return the place of a field, for errors."""
        return self.place.at(self.at(key))

    def raw(self, key: str) -> Any:
        """Return a value of any type; None if it is absent."""
        return self.data.get(key)

    def text(self, key: str, default: str = "") -> str:
        """Return a text."""
        value = self.data.get(key)
        text = None if value is None else self._text(value, self.at(key))
        return default if text is None else text

    def _text(self, value: Any, path: str) -> str | None:
        if isinstance(value, str):
            return value
        self.refuse(path, "text", value)
        return None

    def required(self, key: str) -> str:
        """Return a required, non-empty text. It is a name, so numbers are rejected.

        Raises:
            InputError: with the class's code, it is missing, empty, or not a text.
        """
        value = self.data.get(key)
        if value is not None and not isinstance(value, str):
            self.refuse(self.at(key), "text", value)
        elif not value:
            self.complain(key, "is missing", "add the field")
        return value if isinstance(value, str) else ""

    def flag(self, key: str, default: bool = False) -> bool:
        """Return a boolean; `default` if it is absent."""
        value = self.data.get(key)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.refuse(self.at(key), "true or false", value)
        return default

    def fields(self, key: str) -> Self:
        """Return a map; an empty one if it is absent."""
        value = self.data.get(key)
        return type(self).of({} if value is None else value, self.at(key), self.place, self.noted)

    def optional(self, key: str) -> Self | None:
        """Return a map; None if it is absent."""
        return self.fields(key) if key in self else None

    def items(self, key: str) -> Iterator[Self]:
        """Yield the maps of a list."""
        for number, value in enumerate(self.values(key)):
            yield type(self).of(value, f"{self.at(key)}[{number}]", self.place, self.noted)

    def entries(self, key: str) -> Iterator[tuple[str, Self]]:
        """Yield the maps of a map, with their keys; an empty one for null."""
        inner = self.fields(key)
        for name in inner.data:
            yield str(name), inner.fields(name)

    def values(self, key: str) -> list[Any]:
        """Return a list of any values; empty if it is absent."""
        value = self.data.get(key)
        if value is None or isinstance(value, list):
            return value or []
        self.refuse(self.at(key), "a list", value)
        return []

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; empty if it is absent."""
        texts = (self._text(value, f"{self.at(key)}[{number}]") for number, value in enumerate(self.values(key)))
        return tuple(text for text in texts if text is not None)

    def text_map(self, key: str) -> dict[str, str]:
        """Return a map of texts; empty if it is absent. A null value is an empty text."""
        inner = self.fields(key)
        return {str(name): inner.text(name) for name in inner.data}

    def unknown(self, known: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield the unknown fields: their paths, and hints."""
        for key in self.data:
            if key not in known:
                yield self.at(key), did_you_mean(key, known)

    def refuse(self, path: str, expected: str, value: Any, actual: str = "") -> None:
        """Report a value of the wrong type; see `wrong_type`."""
        self._report(self.wrong_type(path, expected, value, self.place, actual))

    def complain(self, key: str, reason: str, hint: str = "") -> None:
        """Report a field whose value is invalid for other reasons than its type."""
        place = self.place_of(key)
        self._report(InputError(self.code, f"{self.at(key)} {reason}", hint=hint or self.advice, locations=[place]))

    def _report(self, error: InputError) -> None:
        if self.noted is None:
            raise error
        self.noted.append(error)

    @classmethod
    def wrong_type(cls, path: str, expected: str, value: Any, place: Location, actual: str = "") -> InputError:
        """Return the error for a value of the wrong type.

        Args:
            actual: a description of the value; by default its kind.
        """
        hint = cls.advice
        if expected == "text" and isinstance(value, bool):
            hint = f"write it in quotes: {unquoted(value)}"
        elif expected == "text" and isinstance(value, int | float):
            hint = "write it in quotes"
        message = f"{path} must be {expected}, not {actual or kind_of(value)}"
        return InputError(cls.code, message, hint=hint, locations=[place.at(path)])


_BOOLEANS = {True: ("y", "yes", "on", "true"), False: ("n", "no", "off", "false")}


def unquoted(value: bool) -> str:
    """Return a hint why YAML reads an unquoted word as true or false."""
    *words, last = _BOOLEANS[value]
    return f"without quotes {', '.join(words)} and {last} are {last}"


def boolean_of(word: str) -> bool | None:
    """Return the boolean that YAML reads from an unquoted word; None for other words."""
    return next((value for value, words in _BOOLEANS.items() if word.lower() in words), None)


def kind_of(value: object) -> str:
    """Return the kind of a JSON or YAML value as in messages; null and booleans as themselves."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    kinds = {int | float: "a number", str: "text", Mapping: "a map", list: "a list", date: "a date"}
    return next((word for kind, word in kinds.items() if isinstance(value, kind)), type(value).__name__)
