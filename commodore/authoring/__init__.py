"""Components and packages as their authors see them."""

from commodore.authoring.arguments import MINOR_ALLOW, PATCH_BLOCK, PATCH_V0_ALLOW, Choices, depname
from commodore.authoring.component import ComponentCompile, ComponentSource, compile_component, watched_sources
from commodore.authoring.component_suite import ComponentSuite
from commodore.authoring.delete import delete_component, plan_deletion
from commodore.authoring.fake_cluster import Facts
from commodore.authoring.golden import GoldenDifference
from commodore.authoring.hierarchy import HierarchyRequest, create_hierarchy
from commodore.authoring.junit import as_junit
from commodore.authoring.new import Created, NewRequest, create_repository
from commodore.authoring.package import PackageCompile, PackageSource, compile_package
from commodore.authoring.package_suite import PackageSuite
from commodore.authoring.slug import COMPONENT, PACKAGE, Kind
from commodore.authoring.testing import CaseResult, CaseSource, CheckOptions, SuiteResult, run_suite
from commodore.authoring.update import Updated, UpdateRequest, update_repository

__all__ = [
    "COMPONENT",
    "CaseResult",
    "CaseSource",
    "CheckOptions",
    "Choices",
    "ComponentCompile",
    "ComponentSource",
    "ComponentSuite",
    "Created",
    "Facts",
    "GoldenDifference",
    "HierarchyRequest",
    "Kind",
    "MINOR_ALLOW",
    "NewRequest",
    "PACKAGE",
    "PATCH_BLOCK",
    "PATCH_V0_ALLOW",
    "PackageCompile",
    "PackageSource",
    "PackageSuite",
    "SuiteResult",
    "UpdateRequest",
    "Updated",
    "as_junit",
    "compile_component",
    "compile_package",
    "create_hierarchy",
    "create_repository",
    "delete_component",
    "depname",
    "plan_deletion",
    "run_suite",
    "update_repository",
    "watched_sources",
]
