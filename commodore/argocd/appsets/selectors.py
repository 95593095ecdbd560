"""Label selectors, on labels of clusters and on parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commodore.base.errors import InputError, Location


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str], place: Location) -> bool:
    """Check if labels match a selector; None matches all.

    Raises:
        InputError: CMD-ARGO-103, it has an unknown operator.
    """
    if selector is None:
        return True
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            return False
    return all(_fits(expression, labels, place) for expression in selector.get("matchExpressions") or [])


def _fits(expression: Mapping[str, Any], labels: Mapping[str, str], place: Location) -> bool:
    key, operator = expression.get("key", ""), expression.get("operator", "")
    values = expression.get("values") or []
    match operator:
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return key not in labels or labels[key] not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    raise InputError(
        "CMD-ARGO-103",
        f"unknown operator {operator!r} in a selector",
        hint="write In, NotIn, Exists or DoesNotExist",
        locations=[place],
    )
