"""Options of the whole program, and options shared by several groups of commands."""

from __future__ import annotations

from dataclasses import replace

from commodore.cli.shell.settings.model import Setting

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
    "verbose", ("-v", "--verbose"), "Show more; repeat it up to three times for still more.", kind="count", default=0
)
QUIET = Setting("quiet", ("-q", "--quiet"), "Show only warnings and errors.", kind="switch", default=False)
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
    "OIDC discovery URL of the identity provider; by default taken from the API, like the client.",
    environment="COMMODORE_OIDC_DISCOVERY_URL",
    metavar="URL",
)
OIDC_CLIENT = Setting(
    "oidc_client",
    ("--oidc-client",),
    "OIDC client name, as it is registered at the identity provider.",
    environment="COMMODORE_OIDC_CLIENT",
    metavar="TEXT",
)
LOGIN_WAYS = (
    Setting(
        "callback_address",
        ("--callback-address",),
        "When logging in, the address on which to listen for the browser's callback: localhost, which is the default, "
        "or an IP address. A container whose port is published needs 0.0.0.0.",
        environment="COMMODORE_CALLBACK_ADDRESS",
        metavar="ADDRESS",
    ),
    Setting(
        "callback_port",
        ("--callback-port",),
        "The port for that, by default 18000; 0 takes a free one. The identity provider must know "
        "http://localhost:PORT.",
        kind="integer",
        environment="COMMODORE_CALLBACK_PORT",
        metavar="PORT",
    ),
    Setting(
        "device",
        ("--device",),
        "Log in by the device flow: show a code to enter in a browser on any device.",
        kind="switch",
        default=False,
    ),
    Setting(
        "keyring",
        ("--keyring",),
        "When logging in, keep the tokens in the keyring of the desktop instead of a file.",
        kind="switch",
        default=False,
        environment="COMMODORE_KEYRING",
    ),
)
API = (API_URL, API_TOKEN, OIDC_DISCOVERY_URL, OIDC_CLIENT, *LOGIN_WAYS)

CLUSTER_FILE = Setting(
    "cluster_file",
    ("--cluster-file",),
    "Take the cluster's facts from this file instead of the Lieutenant API. Nothing is reported then.",
    kind="file",
    metavar="FILE",
)
OFFLINE = Setting(
    "offline",
    ("--offline",),
    "Work without network access: compile from what earlier runs fetched. Implies no push.",
    kind="switch",
    default=False,
    environment="COMMODORE_OFFLINE",
)
FETCH_DEPENDENCIES = Setting(
    "fetch_dependencies",
    ("--fetch-dependencies/--no-fetch-dependencies", " /-F"),
    "Fetch Jsonnet and Kapitan dependencies. Only local mode can do without.",
    kind="switch",
    default=True,
)
LOCAL_FETCH_WARNING = "--no-fetch-dependencies has no effect without --local; dependencies are fetched"
FORCE = Setting(
    "force",
    ("--force/--no-force",),
    "Discard local changes in checkouts, after saving them under refs/commodore/discarded.",
    kind="switch",
    default=False,
)
TRUST_POLICY = Setting(
    "trust_policy",
    ("--trust-policy",),
    "File that defines what components may execute and fetch, instead of trust.toml in the global defaults.",
    kind="file",
    environment="COMMODORE_TRUST_POLICY",
    metavar="FILE",
)
CACHE_URL = Setting(
    "cache_url",
    ("--cache-url",),
    "Take results from this store, too, which many machines share: s3://, gs://, az://, https://, file://; may be "
    "repeated.",
    environment="COMMODORE_CACHE_URL",
    metavar="URL",
    multiple=True,
)
CACHE_TRUST = Setting(
    "cache_trust",
    ("--cache-trust",),
    "The file with the public keys whose results are taken from the store; 'any' takes all.",
    environment="COMMODORE_CACHE_TRUST",
    metavar="FILE|any",
)
REMOTE_CACHE = (
    CACHE_URL,
    Setting(
        "cache_mode",
        ("--cache-mode",),
        "What is done with the store: read from it, also write what was rendered to the first one, or nothing.",
        kind="choice",
        choices=("read", "write", "off"),
        default="read",
        environment="COMMODORE_CACHE_MODE",
    ),
    Setting(
        "cache_key",
        ("--cache-key",),
        "The file with the private key (Ed25519, PEM) that signs what is written to the store.",
        kind="file",
        environment="COMMODORE_CACHE_KEY",
        metavar="FILE",
    ),
    CACHE_TRUST,
    Setting(
        "cache_exclude",
        ("--cache-exclude",),
        "Write no results of this component to the store; may be repeated.",
        metavar="COMPONENT",
        multiple=True,
    ),
)
"""A store of results that many machines share."""
ALLOW = Setting(
    "allow",
    ("--allow",),
    "Lower this error to a warning, such as CMD-ENG-041, where syn-commodore goes on; may be repeated.",
    environment="COMMODORE_ALLOW",
    metavar="CODE",
    multiple=True,
)
ENGINE = (
    TRUST_POLICY,
    ALLOW,
    *REMOTE_CACHE,
    Setting(
        "processes",
        ("--processes",),
        "Worker processes that compile; 0 means one per usable CPU.",
        kind="integer",
        default=0,
    ),
    Setting(
        "no_cache",
        ("--no-cache",),
        "Bypass the caches: render and fetch everything, and write no cache entries.",
        kind="switch",
        default=False,
        environment="COMMODORE_NO_CACHE",
    ),
    Setting(
        "shadow",
        ("--shadow",),
        "Re-render this percentage of cache hits and fail if a result differs (cache self-check).",
        kind="percent",
        default=0,
        environment="COMMODORE_SHADOW",
        metavar="RATE",
    ),
)
PROFILE = Setting(
    "profile",
    ("--profile",),
    "Write a trace of the run to this file, for Perfetto or Chrome, and show the slowest instances.",
    kind="path",
    metavar="FILE",
)
WATCH = Setting(
    "watch",
    ("--watch",),
    "After the first run, wait for changes of the files that were compiled: compile again and show what is different "
    "then, until Ctrl-C.",
    kind="switch",
    default=False,
)
VALUES = Setting(
    "values",
    ("-f", "--values"),
    "Class file with parameters; may be repeated, later ones win.",
    kind="file",
    multiple=True,
    metavar="FILE",
)
FAKE_FACTS = (
    Setting(
        "facts_file",
        ("--facts",),
        "YAML file with the maps `facts` and `dynamic_facts` of the fake cluster.",
        kind="file",
        metavar="FILE",
    ),
    Setting("fact", ("--fact",), "A fact of the fake cluster.", metavar="KEY=VALUE", multiple=True),
    Setting(
        "dynamic_fact",
        ("--dynamic-fact",),
        "A dynamic fact of the fake cluster; KEY may be a path with dots, a VALUE beginning with 'json:' is JSON.",
        metavar="KEY=VALUE",
        multiple=True,
    ),
)
OUTPUT_FORMAT = Setting(
    "output_format",
    ("-o", "--output-format"),
    "Output format.",
    kind="choice",
    choices=("json", "text"),
    default="text",
)
OUT = replace(OUTPUT_FORMAT, name="out", choices=("text", "json"), aliases=("--out",))
VERSION = (OUT,)
EXPLAIN = (
    Setting(
        "out",
        ("-o", "--output-format"),
        "Output format.",
        kind="choice",
        choices=("text", "json", "markdown"),
        default="text",
        aliases=("--output",),
    ),
)


DOCTOR = (
    Setting(
        "switch",
        ("--switch",),
        "Compile this cluster as syn-commodore would, without publishing it, and show what needs repair.",
        metavar="CLUSTER",
    ),
    *API,
    CLUSTER_FILE,
    OUTPUT_FORMAT,
)
TRUST_EXPLAIN = (TRUST_POLICY, OUTPUT_FORMAT)


PROVIDER = (API_URL, OIDC_DISCOVERY_URL, OIDC_CLIENT)
LOGIN = (*PROVIDER, *LOGIN_WAYS)
FETCH_TOKEN = LOGIN
LOGOUT = (
    *PROVIDER,
    Setting("all", ("--all",), "End all logins, whatever API they are for.", kind="switch", default=False),
)

REVIEWED = (
    Setting(
        "noise",
        ("--noise/--no-noise", "--no-default-hidden"),
        "Show labels and annotations that charts rewrite with each version, too; what --hide names stays hidden.",
        kind="switch",
        default=False,
    ),
    Setting(
        "hide",
        ("--hide",),
        "Count changes of these labels, annotations or places as noise, too, such as labels:example.com/* or "
        "/spec/replicas; may be repeated.",
        metavar="labels:GLOB|annotations:GLOB|POINTER",
        multiple=True,
    ),
    Setting(
        "full",
        ("--full",),
        "Show long changes in full on a terminal, too.",
        kind="switch",
        default=False,
    ),
    Setting(
        "max_bytes",
        ("--max-bytes",),
        "The size of a Markdown report, at least 4096; what is left out is counted in it.",
        kind="integer",
        default=65536,
        metavar="BYTES",
    ),
    Setting(
        "report_url",
        ("--report-url", "--full-report-url"),
        "Where the whole report will be found, such as the HTML file of a pipeline; a Markdown report without room for "
        "everything names it.",
        metavar="URL",
    ),
)
"""How differences of objects are shown."""


def reports(*forms: str) -> Setting:
    """Files for a report in one of these forms; the value is pairs of form and file."""
    return Setting(
        "report",
        ("--report",),
        f"Write the report to this file, too: {', '.join(forms[:-1])} or {forms[-1]}, by the file's ending or by FORM; "
        "may be repeated.",
        kind="report",
        choices=forms,
        multiple=True,
        metavar="[FORM=]FILE",
    )


INIT = (
    Setting("cluster", ("--cluster",), "ID of the first cluster.", default="c-example", metavar="ID"),
    Setting("tenant", ("--tenant",), "ID of its tenant.", default="t-example", metavar="ID"),
)
"""Options of `init`."""
