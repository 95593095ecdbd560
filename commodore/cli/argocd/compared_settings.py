"""The options of `argocd diff` only: changed files, reports and exit codes."""

from __future__ import annotations

from commodore.cli.shell.settings.common import reports
from commodore.cli.shell.settings.model import Setting

ALLOW_UNKNOWN = Setting(
    "allow_unknown",
    ("--allow-unknown",),
    "Do not fail if something is unknown: definitions of Applications that cannot be read or expanded, and "
    "Applications that fail to render. They are reported nevertheless.",
    kind="switch",
    default=False,
)
CHANGED = (
    Setting(
        "changed_only",
        ("--changed-only/--all",),
        "Render only Applications that read a changed file; on for more than one Application.",
        kind="switch",
        default=True,
    ),
    Setting(
        "strict_changed_only",
        ("--strict-changed-only",),
        "Fail if it cannot be determined what an Application reads.",
        kind="switch",
        default=False,
        in_files=True,
    ),
    Setting(
        "changed_include",
        ("--changed-include",),
        "Compare only changed files that match, such as 'apps/**'; may be repeated.",
        multiple=True,
        metavar="GLOB",
        in_files=True,
    ),
    Setting(
        "changed_ignore",
        ("--changed-ignore",),
        "Ignore changed files that match; may be repeated.",
        multiple=True,
        metavar="GLOB",
        in_files=True,
    ),
    Setting(
        "changed_file",
        ("--changed-file",),
        "A file that lists the changed files, a line each, instead of a comparison of the trees.",
        kind="file",
        metavar="FILE",
    ),
)
REPORTS = (
    reports("markdown", "html", "json", "sarif"),
    Setting(
        "fail_on",
        ("--fail-on",),
        "Exit with 2 if the change has this danger, such as deletes-crd, or any; may be repeated.",
        metavar="FLAG",
        multiple=True,
    ),
    Setting("no_exit_code", ("--no-exit-code",), "Exit with 0 if something differs.", kind="switch", default=False),
)
