"""Read unvalidated objects: a value of the wrong type is noted and counts as absent."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any, ClassVar

from commodore.base import fields
from commodore.observe.quantities import read_duration, read_time


class Fields(fields.Fields):
    """The fields of a map in an object of Kargo or Argo CD."""

    __slots__ = ()
    code: ClassVar[str] = "CMD-OBS-002"

    def _text(self, value: Any, path: str) -> str | None:
        # YAML reads an unquoted time as a time
        return value.isoformat() if isinstance(value, date) else super()._text(value, path)

    def time(self, key: str) -> datetime | None:
        """Return a time; None if it is absent."""
        text = self.text(key)
        time = read_time(text) if text else None
        if text and time is None:
            self.refuse(self.at(key), "a time", text, "this text")
        return time

    def duration(self, key: str) -> timedelta | None:
        """Return a duration; None if it is absent."""
        text = self.text(key)
        duration = read_duration(text) if text else None
        if text and duration is None:
            self.refuse(self.at(key), "a duration", text, "this text")
        return duration
