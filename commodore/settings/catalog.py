"""Options of the catalog commands."""

from __future__ import annotations

from commodore.settings.common import (
    API,
    CLUSTER_FILE,
    ENGINE,
    FETCH_DEPENDENCIES,
    FORCE,
    OFFLINE,
    OUTPUT_FORMAT,
    PROFILE,
    WATCH,
)
from commodore.settings.model import Setting

DYNAMIC_FACTS = Setting(
    "dynamic_fact",
    ("-d", "--dynamic-fact"),
    "A dynamic fact, used when the API has none for the cluster. KEY may be a path with dots; "
    "a VALUE beginning with 'json:' is read as JSON.",
    metavar="KEY=VALUE",
    multiple=True,
)
CATALOG_COMPILE = (
    *API,
    CLUSTER_FILE,
    Setting(
        "local",
        ("--local",),
        "Compile what is in the working directory, with the facts of the last run; never push.",
        kind="switch",
        default=False,
    ),
    OFFLINE,
    Setting("push", ("--push",), "Commit the catalog and push it.", kind="switch", default=False),
    Setting(
        "interactive",
        ("-i", "--interactive"),
        "With --push: show the difference and ask before committing.",
        kind="switch",
        default=False,
    ),
    Setting(
        "git_author_name",
        ("--git-author-name",),
        "Name of the catalog commit's author; needs --git-author-email too.",
        environment="GIT_AUTHOR_NAME",
        metavar="NAME",
    ),
    Setting(
        "git_author_email",
        ("--git-author-email",),
        "E-mail address of the catalog commit's author; needs --git-author-name too.",
        environment="GIT_AUTHOR_EMAIL",
        metavar="EMAIL",
    ),
    Setting(
        "global_repo_revision_override",
        ("-g", "--global-repo-revision-override"),
        "Revision of the global defaults repository to use instead of the API's. Not together with --push.",
        environment="GLOBAL_REPO_REVISION_OVERRIDE",
        metavar="REV",
    ),
    Setting(
        "tenant_repo_revision_override",
        ("-t", "--tenant-repo-revision-override"),
        "Revision of the tenant's repository to use instead of the API's. Not together with --push.",
        environment="TENANT_REPO_REVISION_OVERRIDE",
        metavar="REV",
    ),
    FETCH_DEPENDENCIES,
    Setting(
        "migration",
        ("-m", "--migration"),
        "Leave differences that this migration causes out of the displayed diff.",
        kind="choice",
        choices=("kapitan-0.29-to-0.30", "ignore-yaml-formatting"),
    ),
    DYNAMIC_FACTS,
    FORCE,
    *ENGINE,
    PROFILE,
    WATCH,
)

CATALOG_LIST = (
    *API,
    CLUSTER_FILE,
    Setting(
        "out",
        ("-o", "--out"),
        "Output format; without it a table is shown.",
        kind="choice",
        choices=("table", "json", "yaml", "yml", "id"),
        default="table",
    ),
    Setting("tenant", ("-t", "--tenant"), "Only the clusters of this tenant.", metavar="TENANT"),
    Setting(
        "sort_by",
        ("--sort-by",),
        "Field to sort by.",
        kind="choice",
        choices=("id", "tenant", "displayName"),
    ),
)
CATALOG_EXPLAIN = (OUTPUT_FORMAT,)
