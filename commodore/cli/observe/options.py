"""Parsing of the options of the observe commands."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from commodore.base.errors import EnvironmentFault, UsageError
from commodore.observe import PlanOptions, WatchScope, read_duration, read_selector

if TYPE_CHECKING:
    from commodore.observe import Clusters, ControllerOptions, LeaseOptions

_PREFIX = re.compile(r"[a-z0-9]([a-z0-9.-]{0,200}[a-z0-9])?")
_VERSION = re.compile(r"v?(\d+)\.(\d+)([.+-].*)?")
_HOLDS = (1, 11)  # the first Kargo that keeps automatic promotion back after a Promotion by hand


def plan_options(values: dict[str, Any]) -> PlanOptions:
    """Return the options for decisions.

    Raises:
        UsageError: CMD-OBS-030, an option's value cannot be read.
    """
    if not _PREFIX.fullmatch(values["label_prefix"]):
        raise _wrong("--label-prefix", values["label_prefix"], "a DNS name like observer.example.com")
    pause = values["pause_file"]
    return PlanOptions(
        observe_mode=values["observe_mode"],
        allow_conflicts=values["allow_conflicts"],
        other_artifacts=values["other_artifacts"],
        unsynced=values["unsynced"],
        auto_promotion=values["auto_promotion"],
        settle=duration("--settle", values["settle"]),
        health=frozenset(parts([values["health"]])),
        clock_margin=duration("--clock-margin", values["clock_margin"]),
        label_prefix=values["label_prefix"],
        paused=pause is not None and pause.exists(),
        dry_run=values["dry_run"],
    )


def scope(values: dict[str, Any]) -> WatchScope:
    """Return the selection of objects.

    Raises:
        UsageError: CMD-OBS-030, the selector cannot be read.
    """
    selector = read_selector(values["selector"] or "")
    if selector is None:
        raise _wrong("--selector", values["selector"], "labels like team=web,tier!=test")
    return WatchScope(
        namespaces=frozenset(parts(values["namespace"])),
        application_namespaces=frozenset(parts(values["application_namespace"])),
        selector=selector,
    )


def holds(values: dict[str, Any]) -> bool | None:
    """Return True if this version of Kargo supports holds of automatic promotion; None if unknown.

    Raises:
        UsageError: CMD-OBS-030, the version cannot be read.
    """
    text = values["kargo_version"]
    if not text:
        return None
    if (match := _VERSION.fullmatch(text)) is None:
        raise _wrong("--kargo-version", text, "a version like 1.11")
    return (int(match[1]), int(match[2])) >= _HOLDS


def duration(flag: str, text: str) -> timedelta:
    """A duration that an option gives.

    Raises:
        UsageError: CMD-OBS-030, it is not a duration.
    """
    result = read_duration(text)
    if result is None:
        raise _wrong(flag, text, "a number of seconds, or a duration like 1m30s")
    return result


def clusters(values: dict[str, Any]) -> Clusters:
    """Return the clusters to connect to.

    Raises:
        EnvironmentFault: CMD-OBS-015, the extra is not installed.
        UsageError: CMD-OBS-030, the timeout cannot be read.
    """
    if any(importlib.util.find_spec(name) is None for name in ("lightkube", "prometheus_client")):
        raise EnvironmentFault(
            "CMD-OBS-015",
            "the Kubernetes client is not installed",
            hint="install commodore-catalog[observe], or give files to 'observe plan'",
        )
    from commodore.observe import ClusterAccess, Clusters

    timeout = duration("--request-timeout", values["request_timeout"]).total_seconds()
    kargo = ClusterAccess(values["kubeconfig"], values["context"], timeout)
    if values["argocd_kubeconfig"] is None and values["argocd_context"] is None:
        return Clusters(kargo)
    kubeconfig = values["argocd_kubeconfig"] or values["kubeconfig"]
    return Clusters(kargo, ClusterAccess(kubeconfig, values["argocd_context"], timeout))


def controller_options(values: dict[str, Any]) -> ControllerOptions:
    """Return the options of the controller; options that only `run` has keep their defaults elsewhere.

    Raises:
        UsageError: CMD-OBS-030, an option's value cannot be read.
    """
    from commodore.observe import ControllerOptions

    return ControllerOptions(
        plan=plan_options(values),
        scope=scope(values),
        pause_file=values["pause_file"],
        sync_period=duration("--interval", values.get("interval", "10m")).total_seconds(),
        workers=max(values.get("workers", 1), 1),
        max_promotions=max(values["max_promotions"], 1),
        request_timeout=duration("--request-timeout", values["request_timeout"]).total_seconds(),
    )


def lease_options(values: dict[str, Any]) -> LeaseOptions | None:
    """The lease to hold; None: none."""
    from commodore.observe import LeaseOptions

    if not values["leader_elect"]:
        return None
    namespace, _, name = values["lease"].rpartition("/")
    return LeaseOptions(name, namespace or None)


def parts(texts: Iterable[str]) -> list[str]:
    """The parts of lists with commas."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def _wrong(flag: str, text: str, requested: str) -> UsageError:
    return UsageError("CMD-OBS-030", f"the value '{text}' of {flag} cannot be read", hint=f"give {requested}")
