"""Options of the observe commands."""

from __future__ import annotations

from dataclasses import replace

from commodore.cli.argocd.access_settings import OFFLINE
from commodore.cli.argocd.settings import CAPABILITIES, FACTS, OBJECTS, SELF_URL
from commodore.cli.shell.settings.model import Setting

SCOPE = (
    Setting(
        "namespace",
        ("-n", "--namespace"),
        "Look only at Stages in this namespace; several with commas or several options.",
        metavar="NAMESPACE",
        multiple=True,
    ),
    Setting(
        "application_namespace",
        ("--application-namespace",),
        "Look only at Applications in this namespace; several with commas or several options.",
        metavar="NAMESPACE",
        multiple=True,
    ),
    Setting("selector", ("-l", "--selector"), "Look only at Applications with these labels.", metavar="LABELS"),
    Setting(
        "observe_mode",
        ("--observe-mode",),
        "Which Applications count: all that are not annotated to be ignored, or only those annotated to be observed.",
        kind="choice",
        choices=("opt-out", "opt-in"),
        default="opt-out",
    ),
    Setting(
        "kargo_version",
        ("--kargo-version",),
        "The version of Kargo. By default found by what its objects have, else one before 1.11.",
        metavar="VERSION",
    ),
)

GUARDS = (
    Setting(
        "allow_conflicts",
        ("--allow-conflicts",),
        "Promote a Freight even if it has another version of an image that runs.",
        kind="switch",
        default=False,
    ),
    Setting(
        "other_artifacts",
        ("--other-artifacts",),
        "What to do about a Freight with commits, charts or artifacts that differ from the recorded ones.",
        kind="choice",
        choices=("refuse", "warn", "ignore"),
        default="refuse",
    ),
    Setting(
        "unsynced",
        ("--unsynced",),
        "Look at Applications that are not synced, too.",
        kind="switch",
        default=False,
    ),
    Setting(
        "auto_promotion",
        ("--auto-promotion",),
        "What to do about a Freight that automatic promotion would replace at once.",
        kind="choice",
        choices=("refuse", "ignore"),
        default="refuse",
    ),
    Setting(
        "settle",
        ("--settle",),
        "How long the images must have been the same: seconds, or a duration like 1m30s.",
        default="30s",
        metavar="DURATION",
    ),
    Setting(
        "health",
        ("--health",),
        "States of health in which the images of an Application count, with commas.",
        default="Healthy,Degraded,Suspended",
        metavar="STATES",
    ),
    Setting(
        "clock_margin",
        ("--clock-margin",),
        "How much later than a Promotion a sync must have ended, for clocks that differ.",
        default="5s",
        metavar="DURATION",
    ),
    Setting(
        "label_prefix",
        ("--label-prefix",),
        "Prefix of the labels on Promotions.",
        default="kargo-observer.mkutlak.github.io",
        metavar="PREFIX",
    ),
)

WRITING = (
    Setting(
        "dry_run",
        ("--dry-run/--no-dry-run",),
        "Decide as if nothing might be written.",
        kind="switch",
        default=False,
    ),
    Setting(
        "pause_file",
        ("--pause-file",),
        "While this file exists, nothing is written.",
        kind="path",
        metavar="FILE",
    ),
)

CONNECTION = (
    Setting("kubeconfig", ("--kubeconfig",), "Kubeconfig of Kargo's cluster.", kind="path", metavar="FILE"),
    Setting("context", ("--context",), "Context of the kubeconfig.", metavar="NAME"),
    Setting(
        "argocd_kubeconfig",
        ("--argocd-kubeconfig",),
        "Kubeconfig of the cluster with the Applications, if that is another one.",
        kind="path",
        metavar="FILE",
    ),
    Setting(
        "argocd_context",
        ("--argocd-context",),
        "Context for the cluster with the Applications, if that is another one.",
        metavar="NAME",
    ),
    Setting(
        "request_timeout",
        ("--request-timeout",),
        "How long one request to a cluster may take.",
        default="30s",
        metavar="DURATION",
    ),
)

LEASE = (
    Setting(
        "leader_elect",
        ("--leader-elect/--no-leader-elect",),
        "Write only while holding the lease.",
        kind="switch",
        default=True,
    ),
    Setting(
        "lease",
        ("--lease",),
        "Name of the lease; its namespace is by default that of the Pod, or of the context.",
        default="commodore-observe",
        metavar="[NAMESPACE/]NAME",
    ),
    Setting(
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
        "The deployed images: `status`, the images of Pods in Argo CD; `rendered`, the images rendered from git.",
        kind="choice",
        choices=("status", "rendered"),
        default="status",
    ),
    Setting(
        "path",
        ("--path",),
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
        help="A URL of that repository, in addition to its remotes; may be repeated.",
    ),
    FACTS,
    *CAPABILITIES,
    OFFLINE,
    OBJECTS,
)
"""Which Applications are rendered, and how."""

OBSERVE_MANIFESTS = (
    Setting("image", ("--image",), "The image of the controller, with a tag or a digest.", metavar="IMAGE"),
)

OBSERVE_ONCE = (*CONNECTION, *SCOPE, *GUARDS, *WRITING, *LEASE, OUTPUT)

OBSERVE_RUN = (
    *CONNECTION,
    *SCOPE,
    *GUARDS,
    *WRITING,
    *LEASE,
    Setting(
        "interval",
        ("--interval",),
        "The interval for checks of all Stages, even without changes.",
        default="10m",
        metavar="DURATION",
    ),
    Setting("workers", ("--workers",), "The number of Stages checked at once.", kind="integer", default=4),
    Setting(
        "metrics_addr",
        ("--metrics-bind-address", "--metrics-addr"),
        "Address of the metrics, without a host on loopback; none for no metrics.",
        default=":8080",
        metavar="ADDRESS",
    ),
    Setting(
        "health_addr",
        ("--health-probe-bind-address", "--health-addr"),
        "Address of the probes, without a host on loopback; none for no probes.",
        default=":8081",
        metavar="ADDRESS",
    ),
    Setting(
        "log_format",
        ("--log-format",),
        "Form of the log.",
        kind="choice",
        choices=("text", "json"),
        default="text",
    ),
    Setting(
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
        "folder",
        ("--out",),
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
