"""Reading of objects that were not checked: a value of the wrong type is noted and counts as absent."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any, ClassVar

from commodore.base import fields
from commodore.observe.quantities import read_duration, read_time


class Fields(fields.Fields):
    """The fields of one map of an object of Kargo or Argo CD."""

    __slots__ = ()
    code: ClassVar[str] = "CMD-OBS-002"

    def _text(self, value: Any, path: str) -> str | None:
        # YAML reads a time without quotes as one
        return value.isoformat() if isinstance(value, date) else super()._text(value, path)

    def time(self, key: str) -> datetime | None:
        """A time; None if there is none."""
        text = self.text(key)
        time = read_time(text) if text else None
        if text and time is None:
            self.refuse(self.at(key), "a time", text, "this text")
        return time

    def duration(self, key: str) -> timedelta | None:
        """A duration; None if there is none."""
        text = self.text(key)
        duration = read_duration(text) if text else None
        if text and duration is None:
            self.refuse(self.at(key), "a duration", text, "this text")
        return duration
