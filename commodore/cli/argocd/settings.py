"""The options of `argocd`."""

from __future__ import annotations

from commodore.base.limits import DEFAULT_LIMITS
from commodore.cli.argocd.access_settings import CREDENTIALS, OFFLINE, REFRESH, REPO_MAP
from commodore.cli.argocd.compared_settings import ALLOW_UNKNOWN, CHANGED, REPORTS
from commodore.cli.shell.settings.common import REVIEWED
from commodore.cli.shell.settings.model import Setting

INSTALLATION = Setting(
    "installation",
    ("--installation",),
    "A YAML file that describes the installation: its namespaces, and files with its objects, values of its chart, "
    "argocd-cm and Secrets of repositories.",
    kind="file",
    metavar="FILE",
)
OBJECTS = Setting(
    "argocd_settings",
    ("--argocd-settings",),
    "A YAML file with objects of the installation, in addition to those of --installation: the ConfigMaps "
    "argocd-cm and argocd-cmd-params-cm, an ArgoCD of the operator, cluster Secrets, AppProjects; may be repeated.",
    kind="file",
    multiple=True,
    metavar="FILE",
)
STRICT = Setting(
    "strict",
    ("--strict",),
    "Treat diagnostics about unsupported features as errors.",
    kind="switch",
    default=False,
)
SHOWN = Setting(
    "diagnostics",
    ("--diagnostics",),
    "Diagnostics printed to stderr; errors are always printed.",
    kind="choice",
    choices=("actionable", "all", "none"),
    default="actionable",
)
COLOR = Setting(
    "color",
    ("--color",),
    "Colour the output; `auto`: on a terminal, unless NO_COLOR is set.",
    kind="choice",
    choices=("auto", "always", "never"),
    default="auto",
)
PATH = Setting(
    "path",
    ("--path",),
    "The folder that is searched for Applications and settings.",
    kind="path",
    default=".",
    metavar="FOLDER",
)
SELF_URL = Setting(
    "self_url",
    ("--self-url",),
    "A further URL of the repository of --path, in addition to those of its remotes; sources with it read the folder. "
    "May be repeated.",
    multiple=True,
    metavar="URL",
)
SELF_REVISIONS = Setting(
    "self_revisions",
    ("--self-revisions",),
    "The revisions of its repository that are read from the tree: `branches`, no revision, HEAD, the default "
    "branch and the branch of the tree; `all`; `declared`, revisions with its commit. "
    "Others are read from the local repository.",
    kind="choice",
    choices=("branches", "all", "declared"),
    default="branches",
    in_files=True,
)
SELECT = Setting(
    "select",
    ("--select",),
    "Only Applications that match all terms: project=GLOB, cluster=NAME|URL, namespace=GLOB (of the destination), "
    "labels as team=a or env in (dev,prod).",
    metavar="EXPR",
)
KIND = Setting("kind", ("--kind",), "Only objects of this kind; may be repeated.", multiple=True, metavar="KIND")
SKIP_KIND = Setting(
    "skip_kind",
    ("--skip-kind",),
    "No objects of this kind, after rendering; may be repeated.",
    multiple=True,
    metavar="KIND",
)

HOOKS = Setting(
    "hooks",
    ("--hooks",),
    "Include hooks or not; Argo CD excludes them from comparisons.",
    kind="choice",
    choices=("show", "hide"),
    default="show",
    in_files=True,
)
STRIP = Setting(
    "strip",
    ("--strip",),
    "Remove this field from objects after rendering, of all kinds or of one, such as /status; may be repeated.",
    multiple=True,
    metavar="[GROUP/KIND:]POINTER",
    in_files=True,
)
APP = Setting(
    "app",
    ("--app",),
    "A file with Applications, instead of a folder; may be repeated.",
    kind="file",
    multiple=True,
    metavar="FILE",
)
CLUSTER_SCOPED = Setting(
    "cluster_scoped",
    ("--cluster-scoped",),
    "A further kind without namespace, in addition to those of Kubernetes and of CRDs among the objects; may be "
    "repeated.",
    multiple=True,
    metavar="GROUP/KIND",
)
CAPABILITIES = (
    Setting(
        "kube_version",
        ("--kube-version",),
        "The version of Kubernetes that charts are rendered for, if their source names none.",
        metavar="VERSION",
    ),
    Setting(
        "api_version",
        ("--api-version",),
        "An API version that charts can check for, such as monitoring.coreos.com/v1; may be repeated.",
        multiple=True,
        metavar="GROUP/VERSION[/KIND]",
    ),
)
APIS_FROM_TREE = Setting(
    "api_versions_from_tree",
    ("--api-versions-from-tree/--no-api-versions-from-tree",),
    "Let charts also find the APIs of CustomResourceDefinitions in files for the same cluster.",
    kind="switch",
    default=True,
    in_files=True,
)
DISCOVERY = (
    Setting(
        "discovery",
        ("--discovery",),
        "The search for Applications: `full`, also in the output of other Applications; `static`, only in files "
        "and ApplicationSets.",
        kind="choice",
        choices=("full", "static"),
        default="full",
        in_files=True,
    ),
    Setting(
        "max_depth",
        ("--max-depth",),
        "Maximum number of rendering rounds in search of further Applications.",
        kind="integer",
        default=4,
        metavar="N",
        in_files=True,
    ),
    Setting(
        "entry",
        ("--entry",),
        "A folder below --path that is rendered first (kustomization, chart or manifests); its objects take "
        "precedence over files. May be repeated.",
        multiple=True,
        metavar="FOLDER",
    ),
)
IGNORE_PATH = Setting(
    "ignore_path",
    ("--ignore-path",),
    "Files or folders that are not searched for Applications, such as 'examples/**'; may be repeated.",
    multiple=True,
    metavar="GLOB",
    in_files=True,
)
DRY_SOURCES = Setting(
    "dry_sources",
    ("--dry-sources/--hydrated",),
    "Render the dry source of hydrated Applications, instead of their hydrated branch; comparisons do so by default.",
    kind="switch",
    in_files=True,
)
REF = (
    Setting(
        "ref",
        ("--ref", "--head"),
        "Read this revision of the repository of --path, instead of the working tree.",
        metavar="REV",
    ),
    Setting(
        "repo",
        ("--repo",),
        "The repository of --ref, such as a bare one, instead of that of --path.",
        kind="path",
        metavar="FOLDER",
    ),
)
FACTS = Setting(
    "facts",
    ("--facts",),
    "A file with the results of generators that query forges, clusters and plugins; may be repeated.",
    kind="file",
    multiple=True,
    metavar="FILE",
)
FIXED_TIME = Setting(
    "fixed_time",
    ("--fixed-time",),
    "What `now` returns in templates of ApplicationSets; without it, they may not call `now`.",
    metavar="TIME",
    in_files=True,
)
VERSION = Setting(
    "argocd_version",
    ("--argocd-version",),
    "The version of Argo CD that is followed, such as 3.4; by default the one that the repository installs, or "
    "the newest known. For diff also BASE..TARGET, to compare versions.",
    metavar="VERSION",
)
PLUGINS = (
    Setting(
        "plugin_policy",
        ("--plugin-policy",),
        "A file that defines how the sources of config management plugins are handled.",
        kind="file",
        metavar="FILE",
    ),
    Setting(
        "enable_plugins",
        ("--enable-plugins",),
        "Run the programs that --plugin-policy names, each without network and only with a copy of its source.",
        kind="switch",
        default=False,
    ),
    Setting(
        "avp",
        ("--avp",),
        "Render the sources of the usual plugins for secrets of Vault, with their placeholders as they are.",
        kind="switch",
        default=False,
        in_files=True,
    ),
)
GIVEN = (INSTALLATION, OBJECTS)
"""Options that describe the installation."""
COMMON = (*GIVEN, STRICT, SHOWN, COLOR)


def output(*choices: str) -> Setting:
    """Return the option for the form of a result. The first choice is the default."""
    return Setting(
        "out", ("-o", "--output-format"), "The form of the result.", kind="choice", choices=choices, default=choices[0]
    )


RENDERING = (
    Setting(
        "jobs",
        ("--jobs",),
        "Number of Applications that are rendered at the same time; 0 means one per usable CPU.",
        kind="integer",
        default=0,
        metavar="N",
    ),
    Setting(
        "no_cache",
        ("--no-cache",),
        "Render everything, and do not store outputs of helm and kustomize for later runs.",
        kind="switch",
        default=False,
        environment="COMMODORE_NO_CACHE",
    ),
    Setting(
        "timeout",
        ("--timeout",),
        "Time limit for rendering a source.",
        kind="seconds",
        default=DEFAULT_LIMITS.argocd_source_seconds,
        metavar="SECONDS",
    ),
)
ANALYSED = (
    *REF,
    SELF_URL,
    SELF_REVISIONS,
    *DISCOVERY,
    IGNORE_PATH,
    DRY_SOURCES,
    FACTS,
    FIXED_TIME,
    REPO_MAP,
    *PLUGINS,
    VERSION,
    Setting(
        "exact_tools",
        ("--exact-tools",),
        "Fail if helm or kustomize is not exactly the version that Argo CD runs.",
        kind="switch",
        default=False,
        in_files=True,
    ),
    *CAPABILITIES,
    APIS_FROM_TREE,
    OFFLINE,
    REFRESH,
    *CREDENTIALS,
    *RENDERING,
)
"""Options for the analysis, in addition to the folder."""

SEARCH = (PATH, SELECT, *ANALYSED)
"""Options that select Applications."""

ARGOCD_SETTINGS = (
    PATH,
    *ANALYSED,
    *COMMON,
    output("text", "json", "yaml"),
)
ARGOCD_APPSETS = (
    Setting(
        "appset",
        ("--appset",),
        "A file with ApplicationSets, instead of a folder; may be repeated.",
        kind="file",
        multiple=True,
        metavar="FILE",
    ),
    Setting(
        "write_facts",
        ("--write-facts",),
        "Write what the generators request from clusters, forges and plugins to this file, to be filled in, and exit.",
        kind="path",
        metavar="FILE",
    ),
    PATH,
    *ANALYSED,
    *COMMON,
    output("table", "name", "json", "yaml"),
)
ARGOCD_APPS = (*SEARCH, *COMMON, output("table", "name", "json", "yaml"))
ARGOCD_RENDER = (
    APP,
    *SEARCH,
    Setting(
        "stage",
        ("--stage",),
        "The objects to show: `desired`, as Argo CD compares them with the cluster; `manifests`, as rendered, with "
        "tracking.",
        kind="choice",
        choices=("desired", "manifests"),
        default="desired",
    ),
    KIND,
    SKIP_KIND,
    HOOKS,
    STRIP,
    CLUSTER_SCOPED,
    Setting(
        "order",
        ("--order",),
        "Order of the objects of an Application; by default by name, with --stage manifests in the order of the "
        "sources.",
        kind="choice",
        choices=("name", "source"),
    ),
    Setting(
        "folder",
        ("--out",),
        "Write the objects into this folder, which is replaced as a whole, instead of to standard output.",
        kind="path",
        metavar="FOLDER",
    ),
    Setting(
        "layout",
        ("--layout",),
        "The files of --out: `app`, one for each Application; `object`, one for each object.",
        kind="choice",
        choices=("app", "object"),
        default="app",
    ),
    *COMMON,
    output("yaml", "json", "name"),
)
ARGOCD_TEST = (
    APP,
    *SEARCH,
    ALLOW_UNKNOWN,
    CLUSTER_SCOPED,
    Setting(
        "lua_health",
        ("--lua-health/--skip-lua-health",),
        "Run the health scripts of the settings.",
        kind="switch",
        default=True,
    ),
    Setting(
        "schema",
        ("--schema",),
        "Compare objects with the schemas of their kinds, of the version of --kube-version or the newest one.",
        kind="switch",
        default=False,
    ),
    Setting(
        "twice",
        ("--twice",),
        "Render everything twice, without the cache, and fail if something differs.",
        kind="switch",
        default=False,
    ),
    *COMMON,
    output("text", "json", "junit"),
)
ARGOCD_NORMALIZE = (
    APP,
    Setting("objects", ("--objects",), "A YAML file with the objects.", kind="file", metavar="FILE"),
    *COMMON,
    output("yaml", "json"),
)

SIDES = (
    Setting(
        "base",
        ("--base",),
        "The revision to compare with, or BASE..TARGET; by default the merge base with the default branch of origin.",
        metavar="REV",
    ),
    Setting(
        "base_path",
        ("--base-path",),
        "A folder to compare with, instead of a revision.",
        kind="path",
        metavar="FOLDER",
    ),
    Setting(
        "base_repo",
        ("--base-repo",),
        "The repository of --base, if it is another one.",
        kind="path",
        metavar="FOLDER",
    ),
)
IMAGE_POINTER = Setting(
    "image_pointer",
    ("--image-pointer",),
    "A field with images in objects of a kind, in addition to containers and fields of that name; `*` matches every "
    "key. May be repeated.",
    multiple=True,
    metavar="GROUP/KIND:POINTER",
    in_files=True,
)
_COUNTED = (
    Setting(
        "ignore_rules",
        ("--ignore-rules",),
        "The ignore rules to apply: those of both sides, only of the target, or none.",
        kind="choice",
        choices=("both", "target", "none"),
        default="both",
        in_files=True,
    ),
    Setting(
        "show_ignored_fields",
        ("--show-ignored-fields",),
        "Show noise and ignored fields, too.",
        kind="switch",
        default=False,
    ),
    Setting(
        "immutable",
        ("--immutable",),
        "An immutable field of a kind, /spec/selector if no pointer is given; may be repeated.",
        multiple=True,
        metavar="GROUP/KIND[:POINTER]",
        in_files=True,
    ),
    Setting(
        "mask_kind",
        ("--mask-kind",),
        "A field with secrets in objects of a kind, masked like those of Secrets; may be repeated.",
        multiple=True,
        metavar="GROUP/KIND:POINTER",
        in_files=True,
    ),
    IMAGE_POINTER,
    Setting(
        "follow_renames",
        ("--follow-renames",),
        "Treat a removed and an added Application with the same sources and destination as one.",
        kind="switch",
        default=False,
        in_files=True,
    ),
    Setting(
        "group",
        ("--group/--no-group",),
        "Show equal changes once, with the names of their objects.",
        kind="switch",
        default=True,
    ),
    Setting(
        "context_lines",
        ("--context",),
        "Number of lines that are shown around differences in a text.",
        kind="integer",
        default=3,
        metavar="LINES",
    ),
    HOOKS,
)
ARGOCD_DIFF = (
    *SIDES,
    KIND,
    SKIP_KIND,
    *SEARCH,
    CLUSTER_SCOPED,
    *CHANGED,
    ALLOW_UNKNOWN,
    *_COUNTED,
    *REVIEWED,
    *REPORTS,
    *COMMON,
    output("text", "stat", "json", "yaml", "markdown", "html", "sarif"),
)
ARGOCD_IMAGES = (
    *SIDES,
    KIND,
    SKIP_KIND,
    HOOKS,
    *SEARCH,
    ALLOW_UNKNOWN,
    IMAGE_POINTER,
    *COMMON,
    output("table", "name", "json", "yaml", "markdown"),
)
ARGOCD_VERSION_COMMAND = (VERSION, STRICT, SHOWN, COLOR, output("text", "json", "yaml"))
ARGOCD_EXPLAIN = (
    *SEARCH,
    Setting(
        "value",
        ("--value",),
        "Show which layers set this value of the Application's charts, such as image.tag, as helm's --set writes it.",
        metavar="PATH",
    ),
    *COMMON,
    output("text", "json", "yaml"),
)
ARGOCD_DIAGNOSTICS = (
    *SEARCH,
    Setting(
        "show",
        ("--show",),
        "Further diagnostics: `rendered`, about all Applications, which are rendered, and their ignore rules; "
        "`plugins`, how each source of a config management plugin is handled: refused, rendered without the plugin, "
        "or run; `events`, where each repository, chart, file and rendered source came from; may be repeated.",
        kind="choice",
        choices=("rendered", "plugins", "events"),
        multiple=True,
    ),
    *GIVEN,
    STRICT,
    COLOR,
    output("text", "json", "yaml", "sarif"),
)
