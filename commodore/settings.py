"""Every option of the program, declared once: flags, environment variable, default and help (spec a 1.3, 1.4, 3).

The command line, its help and the reference page are derived from these declarations. Besides the variable named here,
every option has an automatic one: `COMMODORE_`, the command's path and the option's name. Precedence: command line,
explicit variable, automatic variable, default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["text", "switch", "count", "integer", "seconds", "path", "folder", "file", "choice"]
Source = Literal["command line", "environment", "default"]

ENVIRONMENT_PREFIX = "COMMODORE"


@dataclass(frozen=True, slots=True)
class Setting:
    """One option.

    `flags` as typed (`--push`, or `--force/--no-force` for a pair); `kind` says what its value is (a `folder` or
    `file` must exist); `multiple` options repeat; a `secret` value is never shown.
    """

    name: str
    flags: tuple[str, ...]
    help: str
    kind: Kind = "text"
    default: Any = None
    environment: str | None = None
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    multiple: bool = False
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """What an option was given, and from where, so that a message can say which knob to turn."""

    setting: Setting
    value: Any
    source: Source

    def describe(self) -> str:
        """The option and its source in words, for messages; never the value of a secret."""
        shown = "…" if self.setting.secret else repr(self.value)
        return f"{self.setting.flags[-1].split('/')[0]} = {shown} ({self.source})"


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of one invocation, by name."""

    values: Mapping[str, Value]

    def __getitem__(self, name: str) -> Any:
        return self.values[name].value

    def source(self, name: str) -> Source:
        return self.values[name].source


WORKING_DIR = Setting(
    "working_dir",
    ("-d", "--working-dir"),
    "The folder that everything is read from and written to. It is created when it is needed.",
    kind="path",
    default=".",
    environment="COMMODORE_WORKING_DIR",
    metavar="DIR",
)
REQUEST_TIMEOUT = Setting(
    "request_timeout",
    ("--request-timeout",),
    "Seconds that one request to the Lieutenant API may take.",
    kind="seconds",
    default=5,
    environment="COMMODORE_REQUEST_TIMEOUT",
)
VERBOSE = Setting(
    "verbose", ("-v", "--verbose"), "Say more; repeat it up to three times to say still more.", kind="count", default=0
)
QUIET = Setting("quiet", ("-q", "--quiet"), "Say only warnings and errors.", kind="switch", default=False)
LOG_FORMAT = Setting(
    "log_format",
    ("--log-format",),
    "How progress, warnings and errors are written to standard error: for people, or one JSON object a line.",
    kind="choice",
    choices=("text", "json"),
    default="text",
)

API_URL = Setting(
    "api_url", ("--api-url",), "URL of the Lieutenant API.", environment="COMMODORE_API_URL", metavar="URL"
)
API_TOKEN = Setting(
    "api_token",
    ("--api-token",),
    "Token for the Lieutenant API, or the path of a file that holds it.",
    environment="COMMODORE_API_TOKEN",
    metavar="TOKEN",
    secret=True,
)
OIDC_DISCOVERY_URL = Setting(
    "oidc_discovery_url",
    ("--oidc-discovery-url",),
    "OIDC discovery URL of the identity provider. Accepted, but not used as long as there is no login.",
    environment="COMMODORE_OIDC_DISCOVERY_URL",
    metavar="URL",
)
OIDC_CLIENT = Setting(
    "oidc_client",
    ("--oidc-client",),
    "OIDC client name. Accepted, but not used as long as there is no login.",
    environment="COMMODORE_OIDC_CLIENT",
    metavar="TEXT",
)
API = (API_URL, API_TOKEN, OIDC_DISCOVERY_URL, OIDC_CLIENT)

CLUSTER_FILE = Setting(
    "cluster_file",
    ("--cluster-file",),
    "Take the cluster's facts from this file instead of the Lieutenant API. Nothing is reported then.",
    kind="file",
    metavar="FILE",
)

FETCH_DEPENDENCIES = Setting(
    "fetch_dependencies",
    ("--fetch-dependencies/--no-fetch-dependencies", " /-F"),
    "Fetch Jsonnet and Kapitan dependencies. Only local mode can do without.",
    kind="switch",
    default=True,
)
FORCE = Setting(
    "force",
    ("--force/--no-force",),
    "Discard local changes in checkouts. What is discarded is kept under refs/commodore/discarded.",
    kind="switch",
    default=False,
)
PROCESSES = Setting(
    "processes",
    ("--processes",),
    "Worker processes that compile; 0 means one per usable CPU.",
    kind="integer",
    default=0,
)
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
    PROCESSES,
)
LOCAL_FETCH_WARNING = "--no-fetch-dependencies has no effect without --local; dependencies are fetched"

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
VALUES = Setting(
    "values",
    ("-f", "--values"),
    "Class file with parameters; may be repeated, later ones win.",
    kind="file",
    multiple=True,
    metavar="FILE",
)
MADE_UP_FACTS = (
    Setting(
        "facts_file",
        ("--facts",),
        "YAML file with the maps `facts` and `dynamic_facts` of the made-up cluster.",
        kind="file",
        metavar="FILE",
    ),
    Setting("fact", ("--fact",), "A fact of the made-up cluster.", metavar="KEY=VALUE", multiple=True),
    Setting(
        "dynamic_fact",
        ("--dynamic-fact",),
        "A dynamic fact of the made-up cluster; KEY may be a path with dots, a VALUE beginning with 'json:' is JSON.",
        metavar="KEY=VALUE",
        multiple=True,
    ),
)
COMPONENT_COMPILE = (
    VALUES,
    *MADE_UP_FACTS,
    Setting("alias", ("-a", "--alias"), "Instance name to compile the component as.", metavar="ALIAS"),
    Setting(
        "search_paths",
        ("-J", "--search-paths"),
        "Further folder to search for Jsonnet files; may be repeated.",
        kind="folder",
        multiple=True,
        metavar="DIR",
    ),
    Setting(
        "output", ("-o", "--output"), "Folder that gets compiled/<instance>.", kind="path", default="./", metavar="DIR"
    ),
    Setting(
        "repo_directory",
        ("-r", "--repo-directory"),
        "Without effect; accepted for old scripts.",
        kind="path",
        metavar="DIR",
    ),
    Setting(
        "name",
        ("-n", "--name"),
        "Name of the component; by default its folder's name without 'component-'.",
        metavar="NAME",
    ),
    PROCESSES,
)
PACKAGE_COMPILE = (
    VALUES,
    *MADE_UP_FACTS,
    Setting(
        "local",
        ("--local",),
        "Compile with the dependencies that are in the folder given with --tmp-dir.",
        kind="switch",
        default=False,
    ),
    FETCH_DEPENDENCIES,
    FORCE,
    Setting(
        "keep_dir",
        ("-k", "--keep-dir/--no-keep-dir"),
        "Keep the temporary working directory.",
        kind="switch",
        default=False,
    ),
    Setting(
        "tmp_dir",
        ("--tmp-dir",),
        "Work in this folder, and keep it; relative to the working directory.",
        kind="path",
        metavar="PATH",
    ),
    PROCESSES,
)
TEST_CASES = (
    Setting(
        "case",
        ("--case",),
        "Run only this test case; may be repeated.",
        metavar="NAME",
        multiple=True,
    ),
    Setting(
        "update",
        ("--update",),
        "Make what the cases render now their golden trees.",
        kind="switch",
        default=False,
    ),
    Setting(
        "strict",
        ("--strict",),
        "Let a case fail for what the checks of its objects and references find.",
        kind="switch",
        default=False,
    ),
    Setting("junit", ("--junit",), "Write the results to this file as JUnit XML.", kind="path", metavar="FILE"),
)
COMPONENT_TEST = (
    *TEST_CASES,
    *MADE_UP_FACTS,
    Setting(
        "alias",
        ("-a", "--alias"),
        "Instance name to compile all cases as, instead of the one that their golden trees are of.",
        metavar="ALIAS",
    ),
    Setting(
        "search_paths",
        ("-J", "--search-paths"),
        "Further folder to search for Jsonnet files; may be repeated.",
        kind="folder",
        multiple=True,
        metavar="DIR",
    ),
    Setting(
        "name",
        ("-n", "--name"),
        "Name of the component; by default its folder's name without 'component-'.",
        metavar="NAME",
    ),
    PROCESSES,
)
PACKAGE_TEST = (*TEST_CASES, *MADE_UP_FACTS, PROCESSES)
VERSION = (Setting("out", ("-o", "--out"), "Output format.", kind="choice", choices=("text", "json"), default="text"),)
