"""What differs between two sets of Kubernetes objects: a pure model, which knows nothing of catalogs or terminals.

`review` is what reports are made from: secrets masked, noise set apart, dangers named, equal changes together.
"""

from __future__ import annotations

from commodore.core.review.object_diff.fields import field_changes
from commodore.core.review.object_diff.flags import FLAGS, Flag, Severity, Watched, flags_of, in_flag_order
from commodore.core.review.object_diff.grouping import Group
from commodore.core.review.object_diff.html_report import html_report
from commodore.core.review.object_diff.images import ImageUse, images_of
from commodore.core.review.object_diff.json_report import json_report
from commodore.core.review.object_diff.markdown_report import COMMENT_BYTES, markdown_report
from commodore.core.review.object_diff.masking import Masks, mask_object, mask_text
from commodore.core.review.object_diff.model import (
    ABSENT,
    Comparison,
    FieldChange,
    Item,
    Key,
    ObjectChange,
    Path,
    PlacedObject,
    path_text,
)
from commodore.core.review.object_diff.noise import DEFAULT_NOISE, NoiseRule, mark_noise
from commodore.core.review.object_diff.pairing import compare
from commodore.core.review.object_diff.pointers import GONE, KindPointer
from commodore.core.review.object_diff.review import Part, Review, is_noise, review, review_of, tally
from commodore.core.review.object_diff.shown import summary
from commodore.core.review.object_diff.text_report import text_report
from commodore.core.review.object_diff.values import as_json

__all__ = [
    "ABSENT",
    "COMMENT_BYTES",
    "Comparison",
    "DEFAULT_NOISE",
    "FLAGS",
    "FieldChange",
    "Flag",
    "GONE",
    "Group",
    "ImageUse",
    "Item",
    "Key",
    "KindPointer",
    "Masks",
    "NoiseRule",
    "ObjectChange",
    "Part",
    "Path",
    "PlacedObject",
    "Review",
    "Severity",
    "Watched",
    "as_json",
    "compare",
    "field_changes",
    "flags_of",
    "html_report",
    "images_of",
    "in_flag_order",
    "is_noise",
    "json_report",
    "mark_noise",
    "markdown_report",
    "mask_object",
    "mask_text",
    "path_text",
    "review",
    "review_of",
    "summary",
    "tally",
    "text_report",
]
