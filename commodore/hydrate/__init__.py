"""Rendered branches: the manifests of Argo CD Applications with their provenance, committed and pushed.

`hydrate` runs the steps read, plan, render and publish; each step is a folder. Names are loaded on first use.
"""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.hydrate.branches.texts import Texts as Texts
    from commodore.hydrate.checking.proof import PathCheck as PathCheck
    from commodore.hydrate.checking.proof import check as check
    from commodore.hydrate.checking.status import BranchStatus as BranchStatus
    from commodore.hydrate.checking.status import commits_behind as commits_behind
    from commodore.hydrate.checking.status import survey as survey
    from commodore.hydrate.model import CommitRules as CommitRules
    from commodore.hydrate.model import Outcome as Outcome
    from commodore.hydrate.model import PublishRules as PublishRules
    from commodore.hydrate.model import Result as Result
    from commodore.hydrate.planning.groups import PlannedGroup as PlannedGroup
    from commodore.hydrate.planning.plan import Plan as Plan
    from commodore.hydrate.planning.plan import plan as plan
    from commodore.hydrate.publishing.bundle import publish_bundle as publish_bundle
    from commodore.hydrate.publishing.bundle import read_allowed as read_allowed
    from commodore.hydrate.publishing.bundle import read_bundle as read_bundle
    from commodore.hydrate.publishing.bundle import write_bundle as write_bundle
    from commodore.hydrate.publishing.catalogs import CatalogProvenance as CatalogProvenance
    from commodore.hydrate.publishing.credentials import read_credentials as read_credentials
    from commodore.hydrate.reading.catalogs import Catalogs as Catalogs
    from commodore.hydrate.reading.checkouts import warn_of_edits as warn_of_edits
    from commodore.hydrate.reading.inputs import Inputs as Inputs
    from commodore.hydrate.reading.inputs import Run as Run
    from commodore.hydrate.reading.inputs import read as read
    from commodore.hydrate.reading.job import Job as Job
    from commodore.hydrate.reading.job import Rules as Rules
    from commodore.hydrate.reading.job import Selection as Selection
    from commodore.hydrate.reading.job import author_of as author_of
    from commodore.hydrate.reading.job import renderer_versions as renderer_versions
    from commodore.hydrate.reading.job import templates_of as templates_of
    from commodore.hydrate.reading.sources import Sources as Sources
    from commodore.hydrate.reading.sources import expanded as expanded
    from commodore.hydrate.reading.sources import read_installation as read_installation
    from commodore.hydrate.reading.sources import read_remote as read_remote
    from commodore.hydrate.reading.sources import read_sources as read_sources
    from commodore.hydrate.rendering.group_renderer import GroupRenderer as GroupRenderer
    from commodore.hydrate.rendering.trees import render_trees as render_trees
    from commodore.hydrate.walk import PUSH_STAGE as PUSH_STAGE
    from commodore.hydrate.walk import HydrationResult as HydrationResult
    from commodore.hydrate.walk import hydrate as hydrate
    from commodore.hydrate.walk import requests_of as requests_of
    from commodore.hydrate.watching.metrics import GroupStatus as GroupStatus
    from commodore.hydrate.watching.watched import Backoff as Backoff
    from commodore.hydrate.watching.watched import Wakeup as Wakeup
    from commodore.hydrate.watching.watched import WatchState as WatchState
else:
    __getattr__ = lazy_exports(__name__)
