"""The documents for machines that commands print or write, each with a published JSON Schema."""

from __future__ import annotations

import importlib
from types import MappingProxyType
from typing import Final

DOCUMENTS: Final = MappingProxyType(
    {
        "argocd-apps": "commodore.argocd:Listing",
        "argocd-appsets": "commodore.argocd:Expansions",
        "argocd-diagnostics": "commodore.argocd:Diagnosis",
        "argocd-diff": "commodore.argocd.comparing.document:DifferenceRecord",
        "argocd-explain": "commodore.argocd:Explanation",
        "argocd-images": "commodore.argocd:Images",
        "argocd-normalize": "commodore.argocd:Normalized",
        "argocd-render": "commodore.argocd:Rendering",
        "argocd-settings": "commodore.argocd:Settings",
        "argocd-test": "commodore.argocd:Report",
        "argocd-version": "commodore.argocd:Version",
        "cache-info": "commodore.cli.machine.cache:CacheInfo",
        "cache-info-remote": "commodore.cli.machine.remote_cache:RemoteInfo",
        "cache-prune": "commodore.cli.machine.cache:CachePruned",
        "cache-prune-remote": "commodore.cli.machine.remote_cache:RemotePrune",
        "cache-verify": "commodore.cli.machine.cache:CacheVerified",
        "cache-verify-remote": "commodore.cli.machine.remote_cache:RemoteVerify",
        "catalog-compile": "commodore.cli.shell.compile_summary:CompileSummary",
        "compile-watch": "commodore.cli.shell.watch:WatchedChange",
        "catalog-diff": "commodore.core.review:DiffRecord",
        "catalog-explain": "commodore.catalog.stages.explaining:ManifestExplanation",
        "catalog-images": "commodore.cli.catalog.views:ListedImages",
        "catalog-images-diff": "commodore.cli.catalog.views:ImageChanges",
        "catalog-objects": "commodore.cli.catalog.views:ListedObjects",
        "catalog-validate": "commodore.catalog.validation:Validation",
        "config-show": "commodore.cli.machine.config:ShownConfig",
        "doctor": "commodore.cli.machine.doctor:Checks",
        "doctor-switch": "commodore.cli.machine.doctor:Repairs",
        "explain": "commodore.cli.machine.explain:ExplainedCode",
        "explain-list": "commodore.cli.machine.explain:ListedCodes",
        "fleet-diff": "commodore.cli.fleet.documents:RenderedChanges",
        "fleet-drift": "commodore.fleet:Drifts",
        "fleet-fold": "commodore.cli.fleet.documents:FoldedPatch",
        "fleet-generate": "commodore.cli.fleet.documents:GeneratedFleet",
        "fleet-import": "commodore.cli.fleet.documents:FleetImport",
        "fleet-owners-list": "commodore.cli.fleet.documents:Approvers",
        "fleet-plan": "commodore.cli.fleet.documents:PatchPlan",
        "fleet-promote": "commodore.cli.fleet.documents:PromotedSteps",
        "fleet-report": "commodore.clusters:FleetReport",
        "fleet-schema": "commodore.cli.fleet.documents:SchemaNames",
        "fleet-status": "commodore.fleet.promotion.overview:OverviewRecord",
        "fleet-validate": "commodore.fleet:FindingsRecord",
        "hydrate-check": "commodore.cli.hydrate.documents:CheckedPaths",
        "hydrate-plan": "commodore.cli.hydrate.documents:HydratedGroups",
        "hydrate-run": "commodore.cli.hydrate.documents:HydratedGroups",
        "hydrate-status": "commodore.cli.hydrate.documents:HydratedBranches",
        "inventory-explain": "commodore.core.inventory.explain:Explanation",
        "inventory-lint": "commodore.core.inventory.lint:Report",
        "inventory-show-diff": "commodore.cli.shell.parameters:ParameterDifferences",
        "observe-plan": "commodore.cli.observe.commands:Decisions",
        "sync-item": "commodore.authoring.sync.model:ItemResult",
        "test-case": "commodore.authoring.testing:CaseResult",
        "tool-list": "commodore.cli.machine.tool:ListedTools",
        "trust-explain": "commodore.cli.machine.trust:ExplainedTrust",
        "version": "commodore.cli.machine.version:Versions",
    }
)
"""Their dataclasses, `package.module:attribute`, by name: the words of the command, and what else it shows."""


def document_class(name: str) -> type:
    """The dataclass of a document."""
    module, attribute = DOCUMENTS[name].split(":")
    result: type = getattr(importlib.import_module(module), attribute)
    return result
