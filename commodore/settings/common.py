"""Options of the whole program, and those that several groups of commands share."""

from __future__ import annotations

from commodore.settings.model import Setting

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
    "OIDC discovery URL of the identity provider. By default the API is asked for it, and for the client.",
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
        "When logging in, the address on which the browser's return is awaited: localhost, which is the default, or an "
        "IP address. A container whose port is published needs 0.0.0.0.",
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
        "When logging in, show a code that is entered in a browser on any device, and await no browser here.",
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
    "Ask nobody: no API, no git server, no download. What earlier runs have fetched is compiled; never push.",
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
    "Discard local changes in checkouts. What is discarded is kept under refs/commodore/discarded.",
    kind="switch",
    default=False,
)
ENGINE = (
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
        "Render and fetch everything anew, and keep nothing of it for other runs.",
        kind="switch",
        default=False,
        environment="COMMODORE_NO_CACHE",
    ),
    Setting(
        "shadow",
        ("--shadow",),
        "Render this share of what is in the cache all the same, in percent, and fail if the results differ.",
        kind="percent",
        default=0,
        environment="COMMODORE_SHADOW",
        metavar="RATE",
    ),
    Setting(
        "jsonnet_engine",
        ("--jsonnet-engine",),
        "What evaluates Jsonnet: go-jsonnet, or jrsonnet where it can; check evaluates with both and fails if the "
        "results differ.",
        kind="choice",
        choices=("go", "jrsonnet", "check"),
        default="go",
        environment="COMMODORE_JSONNET_ENGINE",
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
OUTPUT_FORMAT = Setting(
    "output_format",
    ("-o", "--output-format"),
    "Output format.",
    kind="choice",
    choices=("json", "text"),
    default="text",
)
VERSION = (Setting("out", ("-o", "--out"), "Output format.", kind="choice", choices=("text", "json"), default="text"),)
EXPLAIN = (
    Setting(
        "out",
        ("-o", "--output"),
        "Output format.",
        kind="choice",
        choices=("text", "json", "markdown"),
        default="text",
    ),
)
