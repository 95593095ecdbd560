"""The options of `argocd` for access to servers."""

from __future__ import annotations

from commodore.cli.shell.settings.model import Setting

REPO_MAP = Setting(
    "repo_map",
    ("--repo-map",),
    "A folder that replaces a repository, whatever revision is requested; with #REVISION that revision "
    "of it; with @ the tree itself; may be repeated.",
    multiple=True,
    metavar="URL=FOLDER",
)
OFFLINE = Setting(
    "offline",
    ("--offline",),
    "Fetch nothing: use mapped folders and the cache.",
    kind="switch",
    default=False,
)
REFRESH = Setting(
    "refresh",
    ("--refresh",),
    "Fetch again what the cache has: charts of web servers (`charts`) or of registries (`oci`). Branches, "
    "tags, indexes (`git`) and files (`remotes`) are fetched in each run anyway. May be repeated.",
    kind="choice",
    choices=("git", "charts", "remotes", "oci", "all"),
    multiple=True,
    metavar="WHAT",
)
CREDENTIALS = (
    Setting(
        "credentials",
        ("--credentials",),
        "A file with credentials for servers, each with a prefix of URLs. No other credentials of yours are sent to "
        "servers that a repository names.",
        kind="file",
        metavar="FILE",
    ),
    Setting(
        "ambient_credentials",
        ("--ambient-credentials",),
        "Access servers also with what your git would use: its configuration, helpers, agents and keys, .netrc, "
        "logins of container tools.",
        kind="switch",
        default=False,
    ),
)
