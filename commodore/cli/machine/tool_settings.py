"""Options of the commands that manage external tools."""

from __future__ import annotations

from commodore.cli.shell.settings.common import OUT
from commodore.cli.shell.settings.model import Setting

TOOL = (
    Setting(
        "github_token",
        ("--github-token",),
        "Token for GitHub's API, which returns the latest versions; better given in the variable, which others "
        "cannot see. Without one GitHub answers fewer requests.",
        environment="COMMODORE_GITHUB_TOKEN",
        metavar="TOKEN",
        secret=True,
    ),
)
GITHUB_URL = Setting(
    "github_url",
    ("--github-url",),
    "URL of GitHub's API, which returns the latest versions.",
    default="https://api.github.com",
    environment="COMMODORE_GITHUB_URL",
    metavar="URL",
)
MIRROR = Setting(
    "mirror",
    ("--mirror",),
    "Download from here instead of the projects' servers: from URL/<tool>/v<version>/<file>, or from a URL with the "
    "placeholders {tool}, {version}, {os}, {arch} and {file}.",
    environment="COMMODORE_TOOL_MIRROR",
    metavar="URL",
)
LATEST = Setting(
    "latest",
    ("--latest",),
    "Take the latest release instead of the version that commodore knows.",
    kind="switch",
    default=False,
)


def _version(what: str) -> Setting:
    return Setting("version", ("--version",), what, metavar="VERSION")


TOOL_LIST = (
    *TOOL,
    GITHUB_URL,
    Setting(
        "version_check",
        ("--version-check/--skip-version-check", " /-V"),
        "Look up the latest versions on GitHub.",
        kind="switch",
        default=True,
    ),
    OUT,
)
TOOL_INSTALL = (
    *TOOL,
    GITHUB_URL,
    _version("The version to install, with or without `v`; by default the one that commodore knows."),
    LATEST,
    Setting(
        "argocd",
        ("--argocd",),
        "Install the version that this version of Argo CD runs, such as 3.4, only for `argocd`, in addition to others.",
        metavar="VERSION",
    ),
    Setting(
        "missing",
        ("--missing",),
        "Install all missing tools instead of one.",
        kind="switch",
        default=False,
    ),
    MIRROR,
)
TOOL_UPGRADE = (
    *TOOL,
    GITHUB_URL,
    _version("The version to change to, which may be an older one; by default the one that commodore knows."),
    LATEST,
    Setting("all", ("--all",), "Upgrade all managed tools, instead of one.", kind="switch", default=False),
    MIRROR,
)
TOOL_UNINSTALL = (
    *TOOL,
    Setting("all", ("--all",), "Remove all managed tools, instead of one.", kind="switch", default=False),
)
