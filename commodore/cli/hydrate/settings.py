"""The options of `hydrate`."""

from __future__ import annotations

from commodore.cli.argocd.access_settings import REPO_MAP
from commodore.cli.argocd.settings import APP, OBJECTS, output
from commodore.cli.shell.settings.common import API, CLUSTER_FILE, reports
from commodore.cli.shell.settings.model import Setting

TEMPLATES = (
    Setting(
        "readme_template",
        ("--readme-template",),
        "A file with the Go template of README.md; by default that of the installation, else the one built in.",
        kind="file",
        metavar="FILE",
        in_files=True,
    ),
    Setting(
        "message_template",
        ("--message-template",),
        "A file with the Go template of commit messages; by default that of the installation, else the one built in.",
        kind="file",
        metavar="FILE",
        in_files=True,
    ),
)
WRITTEN = (
    Setting(
        "order",
        ("--order",),
        "The order of objects: `seed` is by namespace, name, group and kind, `source` as they were rendered.",
        kind="choice",
        choices=("seed", "source"),
        default="seed",
    ),
    Setting(
        "set_namespace",
        ("--set-namespace",),
        "Give objects without a namespace that of the destination, as Argo CD does when it applies them.",
        kind="switch",
        default=False,
        in_files=True,
    ),
    Setting(
        "secrets",
        ("--secrets",),
        "What happens to Secrets with values.",
        kind="choice",
        choices=("refuse", "warn", "allow"),
        default="refuse",
    ),
    Setting(
        "allow_secret",
        ("--allow-secret",),
        "A Secret that may hold values, with * for any text; may be repeated.",
        multiple=True,
        metavar="NAMESPACE/NAME",
    ),
)
READING = (
    Setting(
        "lenient",
        ("--lenient",),
        "Ignore a source in addition to sourceHydrator, as Argo CD does.",
        kind="switch",
        default=False,
        in_files=True,
    ),
    Setting(
        "options_in_git",
        ("--options-in-git",),
        "Refuse options of helm, kustomize and directories that are not in files of the dry commit.",
        kind="switch",
        default=False,
        in_files=True,
    ),
)
GROUPS = (
    Setting(
        "only",
        ("--only",),
        "Only the groups that this Application is in; may be repeated.",
        multiple=True,
        metavar="NAME",
    ),
    Setting(
        "branch",
        ("--branch",),
        "Only the branches that fit this pattern; may be repeated.",
        multiple=True,
        metavar="PATTERN",
    ),
    Setting(
        "repo",
        ("--repo",),
        "Only the groups of this repository, as dry source or as what is written to; may be repeated.",
        multiple=True,
        metavar="URL",
    ),
    Setting(
        "protect",
        ("--protect",),
        "Write to branches that fit this pattern alone, such as environments/*; may be repeated.",
        multiple=True,
        metavar="PATTERN",
    ),
    Setting("notes", ("--notes/--no-notes",), "Write git notes about hydrated commits.", kind="switch", default=True),
)
STANDING = (
    Setting(
        "removed",
        ("--removed",),
        "What happens to paths that no Application writes any more: `report` them, `delete` them, or `keep` silent.",
        kind="choice",
        choices=("report", "delete", "keep"),
        default="report",
    ),
    Setting(
        "edited",
        ("--edited",),
        "What happens to hydrated files that others have edited on the branch: `refuse` to hydrate to it, `overwrite`"
        " the edits, or `keep` them with a warning.",
        kind="choice",
        choices=("refuse", "overwrite", "keep"),
        default="refuse",
    ),
)
COMMITTING = (
    Setting("dry_run", ("--dry-run",), "Do everything but push.", kind="switch", default=False),
    *STANDING,
    Setting(
        "allow_mass_removal",
        ("--allow-mass-removal",),
        "Let most paths of a branch go at once.",
        kind="switch",
        default=False,
    ),
    Setting(
        "allow_older",
        ("--allow-older",),
        "Push although the branch of the sources has moved during the run, or a newer dry commit is hydrated.",
        kind="switch",
        default=False,
    ),
    Setting("allow_empty", ("--allow-empty",), "Let a path become empty.", kind="switch", default=False),
    Setting(
        "rewrite",
        ("--rewrite",),
        "Write all paths again, also those whose objects have not changed.",
        kind="switch",
        default=False,
    ),
    Setting(
        "adopt",
        ("--adopt",),
        "Take over a path that another program has hydrated; may be repeated.",
        multiple=True,
        metavar="PATH",
    ),
    Setting(
        "sign",
        ("--sign",),
        "Sign commits with this key; `default` is the one of git's configuration.",
        metavar="KEY",
    ),
    Setting(
        "push_credentials",
        ("--push-credentials",),
        "A file, or a folder of files, with Secrets for pushes; by default git's own credentials.",
        kind="path",
        metavar="PATH",
    ),
)
REQUESTING = (
    Setting(
        "dry_sha",
        ("--dry-sha",),
        "Hydrate this dry commit instead of resolving revisions; one older than the hydrated commit is superseded.",
        metavar="COMMIT",
    ),
    Setting(
        "each_commit",
        ("--each-commit",),
        "Hydrate each dry commit since the last one that is hydrated, oldest first, by a commit of its own.",
        kind="switch",
        default=False,
    ),
    Setting(
        "verify_dry",
        ("--verify-dry",),
        "Hydrate only dry commits whose signature git finds good.",
        kind="switch",
        default=False,
        in_files=True,
    ),
    Setting(
        "git_author_name",
        ("--git-author-name",),
        "Name of the commits' author; goes with the e-mail address.",
        environment="GIT_AUTHOR_NAME",
        metavar="NAME",
    ),
    Setting(
        "git_author_email",
        ("--git-author-email",),
        "E-mail address of the commits' author; goes with the name.",
        environment="GIT_AUTHOR_EMAIL",
        metavar="EMAIL",
    ),
)
TWICE = Setting(
    "twice",
    ("--twice",),
    "Render twice, and fail if the results differ: by random functions, times, or charts that are not pinned.",
    kind="switch",
    default=False,
)
COMMIT_DATE = Setting(
    "commit_date",
    ("--commit-date",),
    "The committer's date: `now`, or `dry` for that of the dry commit, which gives equal commits equal ids.",
    kind="choice",
    choices=("now", "dry"),
    default="now",
    in_files=True,
)
JOBS = Setting(
    "jobs",
    ("--jobs",),
    "How many Applications are rendered at the same time; by default one on each CPU.",
    kind="integer",
    metavar="NUMBER",
)
LOOPING = (
    Setting(
        "watch",
        ("--watch",),
        "Hydrate changes repeatedly until interrupted; a failed group is retried after a while.",
        kind="switch",
        default=False,
    ),
    Setting(
        "interval",
        ("--interval",),
        "Seconds between two looks of --watch.",
        kind="seconds",
        default=60.0,
        metavar="SECONDS",
    ),
    Setting(
        "watch_files",
        ("--watch-files",),
        "With --dry-run: show again what would be pushed whenever a file of the sources or of --repo-map has changed.",
        kind="switch",
        default=False,
    ),
    Setting(
        "repo_map",
        ("--repo-map",),
        "With --dry-run: a folder whose files replace those of a dry repository; may be repeated.",
        multiple=True,
        metavar="URL=FOLDER",
    ),
    Setting(
        "listen",
        ("--listen",),
        "With --watch: answer /healthz, /readyz, /metrics and POST /hydrate at this address, by default on loopback.",
        metavar="[HOST]:PORT",
    ),
    Setting(
        "listen_token",
        ("--listen-token",),
        "A file with the token that POST /hydrate must have; without it such requests are refused.",
        kind="file",
        metavar="FILE",
    ),
)
OFFLINE = Setting(
    "offline",
    ("--offline",),
    "Do not fetch: plan with the commits fetched by earlier runs.",
    kind="switch",
    default=False,
)

REPORT = reports("json", "markdown")

_COMMON = (*GROUPS, *TEMPLATES, *WRITTEN, *READING, JOBS, OBJECTS, *API, CLUSTER_FILE)

HYDRATE_PLAN = (
    *_COMMON,
    *STANDING,
    Setting("check", ("--check",), "Exit with 1 if something would be done.", kind="switch", default=False),
    OFFLINE,
    output("text", "json"),
)
HYDRATE_RUN = (
    *_COMMON,
    *COMMITTING,
    *REQUESTING,
    COMMIT_DATE,
    TWICE,
    *LOOPING,
    Setting(
        "offline",
        ("--offline",),
        "Do not fetch or push: render the commits fetched by earlier runs.",
        kind="switch",
        default=False,
    ),
    Setting(
        "allow_none",
        ("--allow-none",),
        "Only warn if the sources have no Application to hydrate.",
        kind="switch",
        default=False,
    ),
    REPORT,
    output("text", "json"),
)
HYDRATE_STATUS = (*_COMMON, OFFLINE, output("text", "json"))
HYDRATE_CHECK = (
    *_COMMON,
    Setting(
        "commit",
        ("--commit",),
        "A commit of a hydrated branch, instead of the newest one of each.",
        metavar="COMMIT",
    ),
    Setting(
        "allow_unknown",
        ("--allow-unknown",),
        "Exit with 0 although paths cannot be checked.",
        kind="switch",
        default=False,
    ),
    output("text", "json"),
)
HYDRATE_RENDER = (
    APP,
    Setting("folder", ("--tree",), "Where the branches are written, as folders.", kind="path", metavar="FOLDER"),
    REPO_MAP,
    Setting(
        "bundle",
        ("--bundle",),
        "A new folder for the requested commits, which hydrate commit pushes.",
        kind="path",
        metavar="FOLDER",
    ),
    *_COMMON,
    *STANDING,
    *REQUESTING,
    TWICE,
)
HYDRATE_COMMIT = (
    Setting(
        "allow",
        ("--allow",),
        "A repository, and a pattern of its branches, that the bundle may write to; may be repeated.",
        multiple=True,
        metavar="URL=PATTERN",
    ),
    *COMMITTING,
    COMMIT_DATE,
    Setting("notes", ("--notes/--no-notes",), "Write git notes about hydrated commits.", kind="switch", default=True),
    REPORT,
    output("text", "json"),
)
