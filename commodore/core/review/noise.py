"""Differences without effect on an object: separated, never dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal

from commodore.core.review.model import Comparison, FieldChange, Item, Key, ObjectChange, Path, path_text, step_name
from commodore.core.review.pointers import KindPointer

_TEMPLATES = (
    (),
    ("spec", "template"),
    ("spec", "jobTemplate"),
    ("spec", "jobTemplate", "spec", "template"),
    ("spec", "volumeClaimTemplates"),
)
"""The metadata of an object: its own, and those of its templates."""


@dataclass(frozen=True, slots=True)
class NoiseRule:
    """Labels or annotations whose changed values are noise, except for selectors. Or descriptions in the schemas of
    CustomResourceDefinitions. Or any other field.

    Attributes:
        field: the kind of field.
        key: a pattern for the key, in which `*` matches any text; for other fields a JSON pointer, in which `*` matches
            any step.
    """

    field: Literal["labels", "annotations", "descriptions", "place"]
    key: str

    def fits(self, path: Path) -> bool:
        """Return True if a path leads to such a label or annotation of an object or its templates, or to a
        description.
        """
        if self.field == "descriptions":
            return is_description(path)
        if self.field == "place":
            return KindPointer.parse(self.key).covers(tuple(map(step_name, path)))
        names = [step.key for step in path if isinstance(step, Key)]
        if len(names) < 3 or names[-3:-1] != ["metadata", self.field] or isinstance(path[-1], Item):
            return False
        return tuple(names[:-3]) in _TEMPLATES and fnmatchcase(str(names[-1]), self.key)


DEFAULT_NOISE: tuple[NoiseRule, ...] = (
    NoiseRule("labels", "helm.sh/chart"),
    NoiseRule("labels", "app.kubernetes.io/version"),
    NoiseRule("labels", "chart"),
    NoiseRule("labels", "*generated-by"),
    NoiseRule("annotations", "checksum/*"),
    NoiseRule("annotations", "*generated-by"),
    NoiseRule("annotations", "controller-gen.kubebuilder.io/version"),
    NoiseRule("descriptions", "*"),
)
"""Fields that charts and generators rewrite with each version."""


def is_description(path: Path) -> bool:
    """Return True if a path leads to a description in the schema of a definition, and not to a property of
    that name.
    """
    names = [step.key for step in path if isinstance(step, Key)]
    if names[:4] != ["spec", "versions", "schema", "openAPIV3Schema"] or names[-1] != "description":
        return False
    named = False  # True if the next step is the name of a property
    for name in names[4:-1]:
        named = not named and name in ("properties", "patternProperties")
    return not named


def hide_noise(comparison: Comparison, rules: Sequence[NoiseRule] = DEFAULT_NOISE) -> Comparison:
    """Move noise from `fields` to `hidden`. Every change stays in the comparison: reports count the hidden ones.

    An object in another file without other differences is `moved`.
    """
    return replace(comparison, changes=tuple(_hide(change, rules) for change in comparison.changes))


def _hide(change: ObjectChange, rules: Sequence[NoiseRule]) -> ObjectChange:
    noise = tuple(field for field in change.fields if _is_noise(field, rules))
    if not noise:
        return change
    fields = tuple(field for field in change.fields if not _is_noise(field, rules))
    kind = "moved" if not fields and change.is_moved and not change.is_renamed else change.kind
    return replace(change, kind=kind, fields=fields, hidden=(*change.hidden, *noise))


def mark_noise(comparison: Comparison, rules: Sequence[NoiseRule] = DEFAULT_NOISE) -> Comparison:
    """Mark noise among the shown fields, as `noise` in `ignored`."""
    return replace(comparison, changes=tuple(_marked(change, rules) for change in comparison.changes))


def _marked(change: ObjectChange, rules: Sequence[NoiseRule]) -> ObjectChange:
    noise = tuple((path_text(field.path), "noise") for field in change.fields if _is_noise(field, rules))
    return replace(change, ignored=(*noise, *change.ignored)) if noise else change


def _is_noise(field: FieldChange, rules: Sequence[NoiseRule]) -> bool:
    return any((field.kind == "replaced" or rule.field == "descriptions") and rule.fits(field.path) for rule in rules)
