"""What Argo CD runs beside what Kargo has recorded, and the Promotion that brings both together.

The planner is a pure function over plain objects.
"""

from __future__ import annotations

from commodore.observe.cases import PlanOptions, Step, Verdict
from commodore.observe.explaining import HEADINGS, decision_rows, explain
from commodore.observe.files import GivenObjects, ObjectText, read_files, read_objects
from commodore.observe.planning import Decision, plan_stage
from commodore.observe.quantities import read_duration, read_time, show_duration
from commodore.observe.rendered import RenderedImages, with_rendered_images
from commodore.observe.worlds import (
    AnnotationProblem,
    Authorization,
    LabelRule,
    SeenApplication,
    StageName,
    StageWorld,
    WatchScope,
    annotation_problems,
    build_worlds,
    read_selector,
)

__all__ = [
    "AnnotationProblem",
    "Authorization",
    "Decision",
    "GivenObjects",
    "HEADINGS",
    "LabelRule",
    "ObjectText",
    "PlanOptions",
    "RenderedImages",
    "SeenApplication",
    "StageName",
    "StageWorld",
    "Step",
    "Verdict",
    "WatchScope",
    "annotation_problems",
    "build_worlds",
    "decision_rows",
    "explain",
    "plan_stage",
    "read_duration",
    "read_files",
    "read_objects",
    "read_selector",
    "read_time",
    "show_duration",
    "with_rendered_images",
]
