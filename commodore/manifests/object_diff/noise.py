"""Differences that say nothing about what an object does: set apart, never dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal

from commodore.manifests.object_diff.model import Comparison, FieldChange, Item, Key, ObjectChange, Path

_TEMPLATES = (
    (),
    ("spec", "template"),
    ("spec", "jobTemplate"),
    ("spec", "jobTemplate", "spec", "template"),
    ("spec", "volumeClaimTemplates"),
)
"""Where an object has metadata: its own, and those of what it makes."""


@dataclass(frozen=True, slots=True)
class NoiseRule:
    """Labels or annotations whose new value is noise, if both sides have one. Selectors never are.

    Attributes:
        field: which of the two maps.
        key: a pattern for the key, in which `*` stands for any text.
    """

    field: Literal["labels", "annotations"]
    key: str

    def fits(self, path: Path) -> bool:
        """Whether a path leads to such a label or annotation of an object, or of what it makes."""
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
)
"""What charts and generators rewrite with each version."""


def hide_noise(comparison: Comparison, rules: Sequence[NoiseRule] = DEFAULT_NOISE) -> Comparison:
    """The comparison with noise moved from `fields` to `hidden`. Every change stays: reports count what they hide."""
    return replace(comparison, changes=tuple(_hide(change, rules) for change in comparison.changes))


def _hide(change: ObjectChange, rules: Sequence[NoiseRule]) -> ObjectChange:
    noise = tuple(field for field in change.fields if _is_noise(field, rules))
    if not noise:
        return change
    fields = tuple(field for field in change.fields if field not in noise)
    return replace(change, fields=fields, hidden=(*change.hidden, *noise))


def _is_noise(field: FieldChange, rules: Sequence[NoiseRule]) -> bool:
    return field.kind == "replaced" and any(rule.fits(field.path) for rule in rules)
