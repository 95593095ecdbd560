"""Options for comparisons on the API server, which are impossible with files alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.model.application import Application
from commodore.base.diagnostics import Diagnostic, Diagnostics

_OPTIONS = {
    "argocd.argoproj.io/compare-options": ("ServerSideDiff=true", "IncludeMutationWebhook=true"),
    "argocd.argoproj.io/sync-options": ("ServerSideApply=true", "RespectIgnoreDifferences=true"),
}


def report_server_side(
    application: Application, objects: Iterable[Mapping[str, Any]], settings: ArgoSettings, diagnostics: Diagnostics
) -> None:
    """Report options of an Application, its objects and the installation that have no effect on files."""
    for option in sorted({*_options(application.data, objects), *_of_installation(settings)}):
        diagnostics.add(
            Diagnostic(
                "CMD-ARGO-706",
                f"{option} has no effect here: only a cluster can compare in that way",
                "info",
                "the desired objects are compared, by the rules of the client",
            )
        )


def _of_installation(settings: ArgoSettings) -> Iterator[str]:
    if settings.parameter("controller.diff.server.side") == "true":
        yield "controller.diff.server.side"


def _options(application: Mapping[str, Any], objects: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    policy = application.get("spec", {}).get("syncPolicy") or {}
    written = policy.get("syncOptions") if isinstance(policy, Mapping) else None
    known = {option for options in _OPTIONS.values() for option in options}
    yield from (option for option in written if option in known) if isinstance(written, list) else ()
    for data in (application, *objects):
        metadata = data.get("metadata")
        annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
        for key, options in _OPTIONS.items():
            text = annotations.get(key) if isinstance(annotations, Mapping) else None
            words = [part.strip() for part in text.split(",")] if isinstance(text, str) else []
            yield from (option for option in options if option in words)
