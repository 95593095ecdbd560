"""Options of the catalog commands."""

from __future__ import annotations

from commodore.cli.shell.settings.common import (
    API,
    CLUSTER_FILE,
    ENGINE,
    FETCH_DEPENDENCIES,
    FORCE,
    OFFLINE,
    OUTPUT_FORMAT,
    PROFILE,
    REVIEWED,
    WATCH,
)
from commodore.cli.shell.settings.model import Setting

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
        "Compile the content of the working directory with the facts of the last run; never push.",
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
        "provenance",
        ("--provenance",),
        "With --push: write the commits of the configuration to hydrator.metadata and to a git note, as hydrate does.",
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
    Setting(
        "diff",
        ("--diff",),
        "How changes are shown: text for a diff of each file, objects for what differs in Kubernetes objects, with "
        "dangers named and secrets masked, stat for a summary.",
        kind="choice",
        choices=("text", "objects", "stat", "none"),
        default="text",
    ),
    Setting(
        "argocd_diff",
        ("--argocd-diff",),
        "Show what the changes mean for what Argo CD deploys, in this form, in place of what --diff shows.",
        kind="choice",
        choices=("text", "markdown", "html"),
    ),
    Setting(
        "output_format",
        ("-o", "--output-format"),
        "The form of the summary; json is one object on standard output, in place of the changes.",
        kind="choice",
        choices=("text", "json"),
        default="text",
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
        ("-o", "--output-format"),
        "Output format; without it a table is shown.",
        kind="choice",
        choices=("table", "json", "yaml", "yml", "id"),
        default="table",
        aliases=("--out",),
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
_SELECTION = (
    Setting(
        "instance", ("--instance",), "Only objects of this instance; may be repeated.", metavar="NAME", multiple=True
    ),
    Setting("kind", ("--kind",), "Only objects of this kind; may be repeated.", metavar="KIND", multiple=True),
    Setting(
        "namespace", ("--namespace",), "Only objects in this namespace; may be repeated.", metavar="NAME", multiple=True
    ),
    Setting("object_name", ("--name",), "Only objects with this name; repeatable.", metavar="NAME", multiple=True),
    Setting(
        "file",
        ("--path",),
        "Only objects in files that fit this pattern, such as 'manifests/argocd/*'; may be repeated.",
        metavar="GLOB",
        multiple=True,
    ),
)
"""Options that select objects."""
_REVISION = Setting(
    "revision",
    ("--revision",),
    "The revision of the catalog repository to look at; by default its working copy.",
    metavar="REV",
)
CATALOG_OBJECTS = (_REVISION, OUTPUT_FORMAT, *_SELECTION)
CATALOG_IMAGES = (
    _REVISION,
    Setting(
        "diff",
        ("--diff",),
        "Show only images that a revision or folder has and the catalog has not, and the other way round.",
        metavar="REV|FOLDER",
    ),
    OUTPUT_FORMAT,
    *_SELECTION,
)
CATALOG_VALIDATE = (
    _REVISION,
    Setting(
        "kube_version",
        ("--kube-version",),
        "The version of Kubernetes that takes the catalog; by default the newest whose schemas are installed.",
        metavar="VERSION",
    ),
    Setting("strict", ("--strict",), "End with exit code 1 on warnings, too.", kind="switch", default=False),
    OUTPUT_FORMAT,
    *_SELECTION,
)
CATALOG_DIFF = (
    Setting(
        "base",
        ("--base",),
        "What to compare with: a revision of the catalog repository, or a folder with manifests.",
        default="HEAD",
        metavar="REV|FOLDER",
    ),
    Setting(
        "target",
        ("--target",),
        "What is compared: a revision, or a folder; by default the catalog's working copy.",
        metavar="REV|FOLDER",
    ),
    Setting(
        "out",
        ("-o", "--output-format"),
        "The form of the report.",
        kind="choice",
        choices=("text", "stat", "json", "markdown", "html"),
        default="text",
    ),
    Setting(
        "fail_on",
        ("--fail-on",),
        "Exit with 1 only if this danger is found, such as deletes-crd, or any; may be repeated.",
        metavar="FLAG",
        multiple=True,
    ),
    *_SELECTION,
    *REVIEWED,
)
