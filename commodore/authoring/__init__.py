"""Authoring of components and packages."""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.authoring.arguments import MINOR_ALLOW as MINOR_ALLOW
    from commodore.authoring.arguments import PATCH_BLOCK as PATCH_BLOCK
    from commodore.authoring.arguments import PATCH_V0_ALLOW as PATCH_V0_ALLOW
    from commodore.authoring.arguments import Choices as Choices
    from commodore.authoring.arguments import depname as depname
    from commodore.authoring.component import ComponentCompile as ComponentCompile
    from commodore.authoring.component import ComponentSource as ComponentSource
    from commodore.authoring.component import compile_component as compile_component
    from commodore.authoring.component import watched_sources as watched_sources
    from commodore.authoring.component_suite import ComponentSuite as ComponentSuite
    from commodore.authoring.delete import delete_component as delete_component
    from commodore.authoring.delete import plan_deletion as plan_deletion
    from commodore.authoring.fake_cluster import Facts as Facts
    from commodore.authoring.golden import GoldenDifference as GoldenDifference
    from commodore.authoring.hierarchy import HierarchyRequest as HierarchyRequest
    from commodore.authoring.hierarchy import create_hierarchy as create_hierarchy
    from commodore.authoring.junit import as_junit as as_junit
    from commodore.authoring.new import Created as Created
    from commodore.authoring.new import NewRequest as NewRequest
    from commodore.authoring.new import create_repository as create_repository
    from commodore.authoring.package import PackageCompile as PackageCompile
    from commodore.authoring.package import PackageSource as PackageSource
    from commodore.authoring.package import compile_package as compile_package
    from commodore.authoring.package_suite import PackageSuite as PackageSuite
    from commodore.authoring.slug import COMPONENT as COMPONENT
    from commodore.authoring.slug import PACKAGE as PACKAGE
    from commodore.authoring.slug import Kind as Kind
    from commodore.authoring.sync import ItemResult as ItemResult
    from commodore.authoring.sync import SyncRequest as SyncRequest
    from commodore.authoring.sync import SyncResult as SyncResult
    from commodore.authoring.sync import sync_repositories as sync_repositories
    from commodore.authoring.testing import CaseResult as CaseResult
    from commodore.authoring.testing import CaseSource as CaseSource
    from commodore.authoring.testing import CheckOptions as CheckOptions
    from commodore.authoring.testing import SuiteResult as SuiteResult
    from commodore.authoring.testing import run_suite as run_suite
    from commodore.authoring.update import Updated as Updated
    from commodore.authoring.update import UpdateRequest as UpdateRequest
    from commodore.authoring.update import update_repository as update_repository
else:
    __getattr__ = lazy_exports(__name__)
