"""Generate the charts of many clusters from configuration that is promoted through environments."""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.fleet.application_sets import ApplicationSetOptions as ApplicationSetOptions
    from commodore.fleet.application_sets import application_set as application_set
    from commodore.fleet.comparing import RenderedDiff as RenderedDiff
    from commodore.fleet.comparing import diff_rendered as diff_rendered
    from commodore.fleet.drifting import Drifts as Drifts
    from commodore.fleet.drifting import drift as drift
    from commodore.fleet.examples import new_fleet as new_fleet
    from commodore.fleet.findings import FindingsRecord as FindingsRecord
    from commodore.fleet.findings import by_severity as by_severity
    from commodore.fleet.generating import Generated as Generated
    from commodore.fleet.generating import GenerateOptions as GenerateOptions
    from commodore.fleet.generating import Selection as Selection
    from commodore.fleet.generating import check_known as check_known
    from commodore.fleet.generating import check_output as check_output
    from commodore.fleet.generating import generate as generate
    from commodore.fleet.generating import stale_error as stale_error
    from commodore.fleet.importing import import_applications as import_applications
    from commodore.fleet.objects import ObjectChange as ObjectChange
    from commodore.fleet.objects import ObjectChanges as ObjectChanges
    from commodore.fleet.previewing import preview as preview
    from commodore.fleet.promotion.changing import LocatedPatch as LocatedPatch
    from commodore.fleet.promotion.changing import Wait as Wait
    from commodore.fleet.promotion.changing import find_patch as find_patch
    from commodore.fleet.promotion.changing import waits_of as waits_of
    from commodore.fleet.promotion.folding import loss_lines as loss_lines
    from commodore.fleet.promotion.gates import Conditions as Conditions
    from commodore.fleet.promotion.overview import Overview as Overview
    from commodore.fleet.promotion.overview import OverviewFilter as OverviewFilter
    from commodore.fleet.promotion.overview import as_dot as as_dot
    from commodore.fleet.promotion.overview import as_mermaid as as_mermaid
    from commodore.fleet.promotion.overview import as_svg as as_svg
    from commodore.fleet.promotion.overview import survey as survey
    from commodore.fleet.promotion.planning import PlannedStep as PlannedStep
    from commodore.fleet.promotion.planning import plan as plan
    from commodore.fleet.promotion.promoting import PromoteOptions as PromoteOptions
    from commodore.fleet.promotion.promoting import Step as Step
    from commodore.fleet.promotion.promoting import fold_patch as fold_patch
    from commodore.fleet.promotion.promoting import load_fleet as load_fleet
    from commodore.fleet.promotion.promoting import promote as promote
    from commodore.fleet.promotion.promoting import start_patch as start_patch
    from commodore.fleet.promotion.promoting import write_changes as write_changes
    from commodore.fleet.promotion.status_file import FleetState as FleetState
    from commodore.fleet.promotion.status_file import named_cells as named_cells
    from commodore.fleet.promotion.status_file import parse_duration as parse_duration
    from commodore.fleet.promotion.status_file import read_states as read_states
    from commodore.fleet.repository.config import SequenceNode as SequenceNode
    from commodore.fleet.repository.config import read_config as read_config
    from commodore.fleet.repository.owners import Owners as Owners
    from commodore.fleet.repository.schema import STATIC_SCHEMAS as STATIC_SCHEMAS
    from commodore.fleet.repository.schema import config_schema as config_schema
    from commodore.fleet.repository.schema import static_schema as static_schema
    from commodore.fleet.values_text import as_yaml as as_yaml
else:
    __getattr__ = lazy_exports(__name__)
