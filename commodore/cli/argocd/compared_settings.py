"""The options of `argocd diff` alone: which changed files count, and which reports are written."""

from __future__ import annotations

from commodore.cli.shell.settings.common import reports
from commodore.cli.shell.settings.model import Setting

ALLOW_UNKNOWN = Setting(
    "allow_unknown",
    ("--allow-unknown",),
    "Make no error of what is unknown: definitions of Applications that cannot be read or expanded, and Applications "
    "that do not render. They are named all the same.",
    kind="switch",
    default=False,
)
CHANGED = (
    Setting(
        "changed_only",
        ("--changed-only/--all",),
        "Render only Applications that read a file that has changed; on for more than one.",
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
        "Only changed files that fit count, such as 'apps/**'; may be repeated.",
        multiple=True,
        metavar="GLOB",
        in_files=True,
    ),
    Setting(
        "changed_ignore",
        ("--changed-ignore",),
        "Changed files that fit do not count; may be repeated.",
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
        "End with 2 if this danger is found, such as deletes-crd, or any; may be repeated.",
        metavar="FLAG",
        multiple=True,
    ),
    Setting("no_exit_code", ("--no-exit-code",), "End with 0 if something differs.", kind="switch", default=False),
)
