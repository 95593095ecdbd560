"""Compare the images that Argo CD runs with the ones that Kargo has recorded, and create the Promotion for a
difference.

The planner is a pure function over plain objects.
"""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.observe.cases import PlanOptions as PlanOptions
    from commodore.observe.cases import Step as Step
    from commodore.observe.cases import Verdict as Verdict
    from commodore.observe.cluster import ClusterAccess as ClusterAccess
    from commodore.observe.cluster import Clusters as Clusters
    from commodore.observe.cluster import ControllerOptions as ControllerOptions
    from commodore.observe.cluster import LeaseOptions as LeaseOptions
    from commodore.observe.cluster import cluster_worlds as cluster_worlds
    from commodore.observe.cluster import try_out as try_out
    from commodore.observe.explaining import HEADINGS as HEADINGS
    from commodore.observe.explaining import decision_rows as decision_rows
    from commodore.observe.explaining import explain as explain
    from commodore.observe.files import GivenObjects as GivenObjects
    from commodore.observe.files import ObjectText as ObjectText
    from commodore.observe.files import read_files as read_files
    from commodore.observe.files import read_objects as read_objects
    from commodore.observe.kargo import Application as Application
    from commodore.observe.planning import Decision as Decision
    from commodore.observe.planning import plan_stage as plan_stage
    from commodore.observe.quantities import read_duration as read_duration
    from commodore.observe.quantities import read_time as read_time
    from commodore.observe.quantities import show_duration as show_duration
    from commodore.observe.rendered import RenderedImages as RenderedImages
    from commodore.observe.rendered import with_rendered_images as with_rendered_images
    from commodore.observe.worlds import AnnotationProblem as AnnotationProblem
    from commodore.observe.worlds import Authorization as Authorization
    from commodore.observe.worlds import LabelRule as LabelRule
    from commodore.observe.worlds import SeenApplication as SeenApplication
    from commodore.observe.worlds import StageName as StageName
    from commodore.observe.worlds import StageWorld as StageWorld
    from commodore.observe.worlds import WatchScope as WatchScope
    from commodore.observe.worlds import annotation_problems as annotation_problems
    from commodore.observe.worlds import build_worlds as build_worlds
    from commodore.observe.worlds import read_selector as read_selector
else:
    __getattr__ = lazy_exports(__name__)
