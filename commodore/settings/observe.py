"""Options of the observe commands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from commodore.settings.argocd import CAPABILITIES, FACTS, INSTALLATION, SELF_URL
from commodore.settings.argocd_access import OFFLINE
from commodore.settings.model import Kind, Setting


def _option(name: str, flags: tuple[str, ...], help: str, kind: Kind = "text", **more: Any) -> Setting:
    """An option with its variable."""
    return Setting(name, flags, help, kind=kind, environment=f"COMMODORE_OBSERVE_{name.upper()}", **more)


SCOPE = (
    _option(
        "namespace",
        ("-n", "--namespace"),
        "Look only at Stages in this namespace; several with commas or several options.",
        metavar="NAMESPACE",
        multiple=True,
    ),
    _option(
        "application_namespace",
        ("--application-namespace",),
        "Look only at Applications in this namespace; several with commas or several options.",
        metavar="NAMESPACE",
        multiple=True,
    ),
    _option("selector", ("-l", "--selector"), "Look only at Applications with these labels.", metavar="LABELS"),
    _option(
        "observe_mode",
        ("--observe-mode",),
        "Which Applications count: all that are not annotated to be ignored, or only those annotated to be observed.",
        kind="choice",
        choices=("opt-out", "opt-in"),
        default="opt-out",
    ),
    _option(
        "kargo_version",
        ("--kargo-version",),
        "The version of Kargo. By default found by what its objects have, else one before 1.11.",
        metavar="VERSION",
    ),
)

GUARDS = (
    _option(
        "allow_conflicts",
        ("--allow-conflicts",),
        "Promote a Freight even if it has another version of an image that runs.",
        kind="switch",
        default=False,
    ),
    _option(
        "other_artifacts",
        ("--other-artifacts",),
        "What to do about a Freight with commits, charts or artifacts that differ from the recorded ones.",
        kind="choice",
        choices=("refuse", "warn", "ignore"),
        default="refuse",
    ),
    _option(
        "unsynced",
        ("--unsynced",),
        "Look at Applications that are not synced, too.",
        kind="switch",
        default=False,
    ),
    _option(
        "auto_promotion",
        ("--auto-promotion",),
        "What to do about a Freight that automatic promotion would replace at once.",
        kind="choice",
        choices=("refuse", "ignore"),
        default="refuse",
    ),
    _option(
        "settle",
        ("--settle",),
        "How long the images must have been the same: seconds, or a duration like 1m30s.",
        default="30s",
        metavar="DURATION",
    ),
    _option(
        "health",
        ("--health",),
        "States of health in which the images of an Application count, with commas.",
        default="Healthy,Degraded,Suspended",
        metavar="STATES",
    ),
    _option(
        "clock_margin",
        ("--clock-margin",),
        "How much later than a Promotion a sync must have ended, for clocks that differ.",
        default="5s",
        metavar="DURATION",
    ),
    _option(
        "label_prefix",
        ("--label-prefix",),
        "Prefix of the labels on Promotions.",
        default="kargo-observer.mkutlak.github.io",
        metavar="PREFIX",
    ),
)

WRITING = (
    _option(
        "dry_run",
        ("--dry-run/--no-dry-run",),
        "Decide as if nothing might be written.",
        kind="switch",
        default=False,
    ),
    _option(
        "pause_file",
        ("--pause-file",),
        "While this file exists, nothing is written.",
        kind="path",
        metavar="FILE",
    ),
)

CONNECTION = (
    _option("kubeconfig", ("--kubeconfig",), "Kubeconfig of Kargo's cluster.", kind="path", metavar="FILE"),
    _option("context", ("--context",), "Context of the kubeconfig.", metavar="NAME"),
    _option(
        "argocd_kubeconfig",
        ("--argocd-kubeconfig",),
        "Kubeconfig of the cluster with the Applications, if that is another one.",
        kind="path",
        metavar="FILE",
    ),
    _option(
        "argocd_context",
        ("--argocd-context",),
        "Context for the cluster with the Applications, if that is another one.",
        metavar="NAME",
    ),
    _option(
        "request_timeout",
        ("--request-timeout",),
        "How long one request to a cluster may take.",
        default="30s",
        metavar="DURATION",
    ),
)

LEASE = (
    _option(
        "leader_elect",
        ("--leader-elect/--no-leader-elect",),
        "Write only while holding the lease.",
        kind="switch",
        default=True,
    ),
    _option("lease_name", ("--lease-name",), "Name of the lease.", default="commodore-observe", metavar="NAME"),
    _option(
        "lease_namespace",
        ("--lease-namespace",),
        "Namespace of the lease; by default that of the Pod, or of the context.",
        metavar="NAMESPACE",
    ),
    _option(
        "max_promotions",
        ("--max-promotions",),
        "At most so many Promotions a minute.",
        kind="integer",
        default=10,
    ),
)

OUTPUT = Setting(
    "output_format",
    ("-o", "--output-format"),
    "Output format.",
    kind="choice",
    choices=("table", "json", "yaml"),
    default="table",
)

RENDERED = (
    Setting(
        "images_from",
        ("--images-from",),
        "What is deployed: `status`, the images that Argo CD shows of Pods; `rendered`, those that git renders.",
        kind="choice",
        choices=("status", "rendered"),
        default="status",
    ),
    Setting(
        "repository",
        ("--repository",),
        "The folder with the Applications that are rendered, in a git repository.",
        kind="path",
        metavar="FOLDER",
    ),
    Setting(
        "ref",
        ("--ref",),
        "The revision of the repository that is rendered; by default what is checked out, without changes that are not "
        "committed.",
        default="HEAD",
        metavar="REV",
    ),
    replace(
        SELF_URL,
        help="A URL of that repository, beside those of its remotes; may be repeated.",
    ),
    FACTS,
    *CAPABILITIES,
    OFFLINE,
    INSTALLATION,
)
"""Which Applications are rendered, and how."""

OBSERVE_MANIFESTS = (
    _option("image", ("--image",), "The image of the controller, with a tag or a digest.", metavar="IMAGE"),
)

OBSERVE_ONCE = (*CONNECTION, *SCOPE, *GUARDS, *WRITING, *LEASE, OUTPUT)

OBSERVE_RUN = (
    *CONNECTION,
    *SCOPE,
    *GUARDS,
    *WRITING,
    *LEASE,
    _option(
        "sync_period",
        ("--sync-period",),
        "How often all Stages are looked at, whether something has changed or not.",
        default="10m",
        metavar="DURATION",
    ),
    _option("workers", ("--workers",), "How many Stages are looked at at once.", kind="integer", default=4),
    _option(
        "metrics_addr",
        ("--metrics-bind-address", "--metrics-addr"),
        "Address of the metrics; empty for none.",
        default=":8080",
        metavar="ADDRESS",
    ),
    _option(
        "health_addr",
        ("--health-probe-bind-address", "--health-addr"),
        "Address of the probes; empty for none.",
        default=":8081",
        metavar="ADDRESS",
    ),
    _option(
        "log_format",
        ("--log-format",),
        "Form of the log.",
        kind="choice",
        choices=("text", "json"),
        default="text",
    ),
    _option(
        "log_level",
        ("--log-level",),
        "What is logged.",
        kind="choice",
        choices=("debug", "info", "warning", "error"),
        default="info",
    ),
)

OBSERVE_PLAN = (
    *CONNECTION,
    *SCOPE,
    *GUARDS,
    *WRITING,
    *RENDERED,
    OUTPUT,
    Setting(
        "explain",
        ("--explain",),
        "Show every step to the decision about this Stage, with the values that decided.",
        metavar="[NAMESPACE/]STAGE",
    ),
    Setting(
        "emit",
        ("--emit",),
        "Write the Promotions that would be made into this folder, a file each.",
        kind="path",
        metavar="DIR",
    ),
    Setting(
        "server_dry_run",
        ("--server-dry-run",),
        "Ask the cluster whether it would accept the Promotions; nothing is created.",
        kind="switch",
        default=False,
    ),
    Setting("at", ("--at",), "Decide as if it were this time (RFC 3339).", metavar="TIME"),
    Setting(
        "check",
        ("--check",),
        "End with exit code 1 if a Promotion would be made or a Stage is blocked.",
        kind="switch",
        default=False,
    ),
)
