"""Analyse Argo CD repositories from files only, without a cluster, Argo CD or kubectl.

`list_applications`, `render`, `diff` and the other functions are the API (docs/how-to/argocd-from-python.md). Names are
imported on first use. The packages import only later ones of this list: operations, comparing, checking, normalising,
discovery, finishing, rendering, acquiring, planning, appsets, configuration, model.
"""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.argocd.acquiring import ArtefactProvider as ArtefactProvider
    from commodore.argocd.acquiring import ChartProvider as ChartProvider
    from commodore.argocd.acquiring import Clock as Clock
    from commodore.argocd.acquiring import GitProvider as GitProvider
    from commodore.argocd.acquiring import PluginRenderer as PluginRenderer
    from commodore.argocd.acquiring import PluginSource as PluginSource
    from commodore.argocd.acquiring import Providers as Providers
    from commodore.argocd.acquiring import RemoteProvider as RemoteProvider
    from commodore.argocd.acquiring import RepoMap as RepoMap
    from commodore.argocd.acquiring import Repositories as Repositories
    from commodore.argocd.acquiring import parse_repo_map as parse_repo_map
    from commodore.argocd.appsets import Expander as Expander
    from commodore.argocd.appsets import Facts as Facts
    from commodore.argocd.appsets import read_set as read_set
    from commodore.argocd.checking import Checks as Checks
    from commodore.argocd.checking import Outcome as Outcome
    from commodore.argocd.comparing import ChangedFileFilter as ChangedFileFilter
    from commodore.argocd.comparing import ComparisonOptions as ComparisonOptions
    from commodore.argocd.comparing import Rules as Rules
    from commodore.argocd.comparing import State as State
    from commodore.argocd.comparing.images import ImageUse as ImageUse
    from commodore.argocd.configuration import ArgoSettings as ArgoSettings
    from commodore.argocd.configuration import Installation as Installation
    from commodore.argocd.configuration import LocatedValue as LocatedValue
    from commodore.argocd.configuration import Profile as Profile
    from commodore.argocd.configuration import VersionOptions as VersionOptions
    from commodore.argocd.configuration import choose_profile as choose_profile
    from commodore.argocd.configuration import read_candidates as read_candidates
    from commodore.argocd.configuration import read_file as read_file
    from commodore.argocd.configuration import read_installation as read_installation
    from commodore.argocd.configuration import read_policy as read_policy
    from commodore.argocd.configuration import read_settings as read_settings
    from commodore.argocd.configuration.installed import Installed as Installed
    from commodore.argocd.diagnostics import is_partial as is_partial
    from commodore.argocd.discovery import Origin as Origin
    from commodore.argocd.discovery import Search as Search
    from commodore.argocd.discovery import remotes_of as remotes_of
    from commodore.argocd.discovery import report_unused as report_unused
    from commodore.argocd.discovery.scan import is_of_argo as is_of_argo
    from commodore.argocd.finishing import ObjectFilter as ObjectFilter
    from commodore.argocd.finishing import expand_lists as expand_lists
    from commodore.argocd.finishing import hook_phases as hook_phases
    from commodore.argocd.finishing import in_namespace as in_namespace
    from commodore.argocd.model import IN_CLUSTER as IN_CLUSTER
    from commodore.argocd.model import IN_CLUSTER_SERVER as IN_CLUSTER_SERVER
    from commodore.argocd.model import Cluster as Cluster
    from commodore.argocd.model import KnownRepository as KnownRepository
    from commodore.argocd.model.application import Destination as Destination
    from commodore.argocd.model.application import read_application as read_application
    from commodore.argocd.model.fields import Fields as Fields
    from commodore.argocd.model.plugins import PluginProgram as PluginProgram
    from commodore.argocd.model.plugins import PluginRule as PluginRule
    from commodore.argocd.operations.api import diagnose as diagnose
    from commodore.argocd.operations.api import diff as diff
    from commodore.argocd.operations.api import expand as expand
    from commodore.argocd.operations.api import explain as explain
    from commodore.argocd.operations.api import images as images
    from commodore.argocd.operations.api import list_applications as list_applications
    from commodore.argocd.operations.api import normalize as normalize
    from commodore.argocd.operations.api import render as render
    from commodore.argocd.operations.api import run_images as run_images
    from commodore.argocd.operations.api import settings as settings
    from commodore.argocd.operations.api import test as test
    from commodore.argocd.operations.api import version as version
    from commodore.argocd.operations.explaining import ExplainedApplication as ExplainedApplication
    from commodore.argocd.operations.explaining import ExplainedSource as ExplainedSource
    from commodore.argocd.operations.explaining import ListedSource as ListedSource
    from commodore.argocd.operations.explaining_objects import ExplainedObject as ExplainedObject
    from commodore.argocd.operations.explaining_objects import ObjectStage as ObjectStage
    from commodore.argocd.operations.explaining_objects import SourcedObject as SourcedObject
    from commodore.argocd.operations.options import Execution as Execution
    from commodore.argocd.operations.options import Kubernetes as Kubernetes
    from commodore.argocd.operations.options import Options as Options
    from commodore.argocd.operations.options import Plugins as Plugins
    from commodore.argocd.operations.options import Reporting as Reporting
    from commodore.argocd.operations.options import Servers as Servers
    from commodore.argocd.operations.options import Tree as Tree
    from commodore.argocd.operations.options import compared as compared
    from commodore.argocd.operations.rendered import RenderedApplication as RenderedApplication
    from commodore.argocd.operations.rendered import Stage as Stage
    from commodore.argocd.operations.results import ApplicationChange as ApplicationChange
    from commodore.argocd.operations.results import Diagnosis as Diagnosis
    from commodore.argocd.operations.results import Difference as Difference
    from commodore.argocd.operations.results import Expansion as Expansion
    from commodore.argocd.operations.results import Expansions as Expansions
    from commodore.argocd.operations.results import Explanation as Explanation
    from commodore.argocd.operations.results import Images as Images
    from commodore.argocd.operations.results import ListedApplication as ListedApplication
    from commodore.argocd.operations.results import ListedOrigin as ListedOrigin
    from commodore.argocd.operations.results import Listing as Listing
    from commodore.argocd.operations.results import Normalized as Normalized
    from commodore.argocd.operations.results import RenderedObject as RenderedObject
    from commodore.argocd.operations.results import Rendering as Rendering
    from commodore.argocd.operations.results import Report as Report
    from commodore.argocd.operations.results import RunImages as RunImages
    from commodore.argocd.operations.results import Settings as Settings
    from commodore.argocd.operations.results import SettingValue as SettingValue
    from commodore.argocd.operations.results import Version as Version
    from commodore.argocd.planning.generate_paths import GENERATE_PATHS as GENERATE_PATHS
    from commodore.argocd.planning.generate_paths import GeneratePaths as GeneratePaths
    from commodore.argocd.rendering import Capabilities as Capabilities
    from commodore.argocd.rendering import OpenSources as OpenSources
    from commodore.argocd.rendering import Rendered as Rendered
    from commodore.argocd.rendering import Renderer as Renderer
    from commodore.argocd.rendering import Trace as Trace
    from commodore.argocd.rendering import checkouts as checkouts
    from commodore.argocd.rendering import open_sources as open_sources
    from commodore.argocd.rendering.value_layers import ExplainedValue as ExplainedValue
    from commodore.argocd.rendering.value_layers import LayerValue as LayerValue
    from commodore.argocd.rendering.value_layers import SourceValue as SourceValue
    from commodore.base.diagnostics import Diagnostic as Diagnostic
    from commodore.base.diagnostics import Diagnostics as Diagnostics
    from commodore.base.diagnostics import Severity as Severity
    from commodore.base.diagnostics import Subject as Subject
    from commodore.base.documents import Absent as Absent
    from commodore.base.kubernetes.images import ImageReference as ImageReference
    from commodore.core.review import ABSENT as ABSENT
    from commodore.core.review import FieldChange as FieldChange
    from commodore.core.review import Flag as Flag
    from commodore.core.review import Item as Item
    from commodore.core.review import Key as Key
    from commodore.core.review import NoiseRule as NoiseRule
    from commodore.core.review import ObjectChange as ObjectChange
    from commodore.core.review import PlacedObject as PlacedObject
    from commodore.core.review import path_text as path_text
else:
    __getattr__ = lazy_exports(__name__)
