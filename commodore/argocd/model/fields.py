"""Typed access to the fields of Argo CD's objects and files, with errors that name file, line and field."""

from __future__ import annotations

from typing import Any, ClassVar

from commodore.base import fields
from commodore.base.yaml.kube_scalars import scalar_text


class Fields(fields.Fields):
    """A map of an object. Unquoted `no` and `1.0` are texts as Kubernetes writes them."""

    __slots__ = ()
    code: ClassVar[str] = "CMD-ARGO-103"
    advice: ClassVar[str] = "see the reference of Argo CD's fields"

    def _text(self, value: Any, path: str) -> str | None:
        return scalar_text(value) if isinstance(value, str | int | float) else super()._text(value, path)
