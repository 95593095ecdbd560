"""The result: assemble the manifests, show what changed, commit, push, report."""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports
from commodore.catalog.assemble import assemble as assemble
from commodore.catalog.publish import publish as publish

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.catalog._local_changes import find_work as find_work
    from commodore.catalog.assemble import warn_about_objects as warn_about_objects
    from commodore.catalog.message import commit_message as commit_message
    from commodore.catalog.metadata import CompileMetadata as CompileMetadata
    from commodore.catalog.metadata import RepositoryVersion as RepositoryVersion
    from commodore.catalog.metadata import local_now as local_now
    from commodore.catalog.moves import Move as Move
    from commodore.catalog.moves import moves_since as moves_since
    from commodore.catalog.pending import expect_report as expect_report
    from commodore.catalog.pending import pending_file as pending_file
    from commodore.catalog.pending import report_pending as report_pending
    from commodore.catalog.pipeline import CatalogCompile as CatalogCompile
    from commodore.catalog.pipeline import CatalogResult as CatalogResult
    from commodore.catalog.pipeline import Shared as Shared
    from commodore.catalog.pipeline import StagedCatalog as StagedCatalog
    from commodore.catalog.pipeline import publish_catalog as publish_catalog
    from commodore.catalog.pipeline import run_compile as run_compile
    from commodore.catalog.pipeline import stage_catalog as stage_catalog
    from commodore.catalog.pipeline import watched_sources as watched_sources
    from commodore.catalog.publish import CatalogChange as CatalogChange
    from commodore.catalog.publish import add_files as add_files
    from commodore.catalog.publish import install as install
    from commodore.catalog.publish import leave as leave
    from commodore.catalog.publish import moved_meanwhile as moved_meanwhile
    from commodore.catalog.publish import open_local as open_local
    from commodore.catalog.publish import prepare as prepare
    from commodore.catalog.publish import stage as stage
    from commodore.catalog.publish import staged_tree as staged_tree
    from commodore.catalog.publish import tree_digest as tree_digest
    from commodore.catalog.publish import unchanged as unchanged
    from commodore.catalog.stages import CompileOptions as CompileOptions
    from commodore.catalog.stages import LastRun as LastRun
    from commodore.catalog.stages import check_same_cluster as check_same_cluster
    from commodore.catalog.stages import clean as clean
    from commodore.catalog.stages import open_engine as open_engine
    from commodore.catalog.stages.bill import bill_of_materials as bill_of_materials
    from commodore.catalog.stages.explaining import CompileEntry as CompileEntry
    from commodore.catalog.stages.explaining import ComponentCheckout as ComponentCheckout
    from commodore.catalog.stages.explaining import FieldPlace as FieldPlace
    from commodore.catalog.stages.explaining import FilterUse as FilterUse
    from commodore.catalog.stages.explaining import ManifestExplanation as ManifestExplanation
    from commodore.catalog.stages.explaining import ParameterCandidate as ParameterCandidate
    from commodore.catalog.stages.explaining import ReadParameter as ReadParameter
    from commodore.catalog.stages.explaining import explain_manifest as explain_manifest
    from commodore.catalog.stages.trust import Action as Action
    from commodore.catalog.stages.trust import describe_isolation as describe_isolation
    from commodore.catalog.stages.trust import explain_trust as explain_trust
    from commodore.catalog.switching import Repair as Repair
    from commodore.catalog.switching import find_repairs as find_repairs
    from commodore.catalog.trees import objects_of as objects_of
    from commodore.catalog.trees import read_folder as read_folder
    from commodore.catalog.trees import read_revision as read_revision
    from commodore.catalog.trees import review_staged as review_staged
    from commodore.catalog.trees import review_trees as review_trees
    from commodore.catalog.validation import Validation as Validation
    from commodore.catalog.validation import validate_objects as validate_objects
    from commodore.catalog.views import CatalogImage as CatalogImage
    from commodore.catalog.views import ImageChange as ImageChange
    from commodore.catalog.views import ListedObject as ListedObject
    from commodore.catalog.views import compare_images as compare_images
    from commodore.catalog.views import list_images as list_images
    from commodore.catalog.views import list_objects as list_objects
    from commodore.core.review import ChangeSummary as ChangeSummary
    from commodore.core.review import FileDiff as FileDiff
else:
    __getattr__ = lazy_exports(__name__)
