"""Changes between two sides: files, lines, and objects with their groups, dangers, masks and reports.

Reports of objects are made from a `review`: secrets masked, noise separated, dangers named, equal changes grouped.
Equal changes of files in several clusters are `FileGroups`. Nothing here depends on catalogs or terminals.
"""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.base.documents import ABSENT as ABSENT
    from commodore.core.review.changes import ChangeKind as ChangeKind
    from commodore.core.review.changes import FileChange as FileChange
    from commodore.core.review.changes import TreeChange as TreeChange
    from commodore.core.review.changes import compare_trees as compare_trees
    from commodore.core.review.diff import DiffMode as DiffMode
    from commodore.core.review.diff import render as render
    from commodore.core.review.fields import field_changes as field_changes
    from commodore.core.review.file_changes import ChangeSummary as ChangeSummary
    from commodore.core.review.file_changes import FileDiff as FileDiff
    from commodore.core.review.file_changes import describe as describe
    from commodore.core.review.file_groups import FileGroup as FileGroup
    from commodore.core.review.file_groups import FileGroups as FileGroups
    from commodore.core.review.file_groups import Hunk as Hunk
    from commodore.core.review.file_groups import merge_groups as merge_groups
    from commodore.core.review.flags import FLAGS as FLAGS
    from commodore.core.review.flags import Flag as Flag
    from commodore.core.review.flags import FlagRules as FlagRules
    from commodore.core.review.flags import Severity as Severity
    from commodore.core.review.flags import flags_of as flags_of
    from commodore.core.review.flags import in_flag_order as in_flag_order
    from commodore.core.review.grouping import Group as Group
    from commodore.core.review.images import ImageUse as ImageUse
    from commodore.core.review.images import images_of as images_of
    from commodore.core.review.masking import Masks as Masks
    from commodore.core.review.masking import mask_object as mask_object
    from commodore.core.review.masking import mask_text as mask_text
    from commodore.core.review.model import Comparison as Comparison
    from commodore.core.review.model import FieldChange as FieldChange
    from commodore.core.review.model import Item as Item
    from commodore.core.review.model import Key as Key
    from commodore.core.review.model import ObjectChange as ObjectChange
    from commodore.core.review.model import ObjectKind as ObjectKind
    from commodore.core.review.model import Path as Path
    from commodore.core.review.model import PlacedObject as PlacedObject
    from commodore.core.review.model import path_text as path_text
    from commodore.core.review.noise import DEFAULT_NOISE as DEFAULT_NOISE
    from commodore.core.review.noise import NoiseRule as NoiseRule
    from commodore.core.review.noise import mark_noise as mark_noise
    from commodore.core.review.pairing import compare as compare
    from commodore.core.review.placeholders import Placeholders as Placeholders
    from commodore.core.review.pointers import GONE as GONE
    from commodore.core.review.pointers import KindPointer as KindPointer
    from commodore.core.review.reports.html import html_report as html_report
    from commodore.core.review.reports.json import ChangeRecord as ChangeRecord
    from commodore.core.review.reports.json import DiffRecord as DiffRecord
    from commodore.core.review.reports.json import FlagRecord as FlagRecord
    from commodore.core.review.reports.json import change_record as change_record
    from commodore.core.review.reports.json import json_report as json_report
    from commodore.core.review.reports.markdown import COMMENT_BYTES as COMMENT_BYTES
    from commodore.core.review.reports.markdown import fenced as fenced
    from commodore.core.review.reports.markdown import fit_blocks as fit_blocks
    from commodore.core.review.reports.markdown import markdown_report as markdown_report
    from commodore.core.review.reports.text import text_report as text_report
    from commodore.core.review.reviewing import Part as Part
    from commodore.core.review.reviewing import Review as Review
    from commodore.core.review.reviewing import is_noise as is_noise
    from commodore.core.review.reviewing import review as review
    from commodore.core.review.reviewing import review_of as review_of
    from commodore.core.review.reviewing import tally as tally
    from commodore.core.review.shown import change_lines as change_lines
    from commodore.core.review.shown import group_title as group_title
    from commodore.core.review.shown import summary as summary
    from commodore.core.review.textdiff import CONTEXT as CONTEXT
    from commodore.core.review.textdiff import DiffLine as DiffLine
    from commodore.core.review.textdiff import LineStyle as LineStyle
    from commodore.core.review.textdiff import diff_lines as diff_lines
    from commodore.core.review.values import as_json as as_json
else:
    __getattr__ = lazy_exports(__name__)
