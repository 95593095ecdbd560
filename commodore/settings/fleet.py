"""Options of fleets."""

from __future__ import annotations

from commodore.settings.model import Setting


def _names(name: str, metavar: str, what: str) -> Setting:
    return Setting(name, (f"--{name.replace('_', '-')}",), what, metavar=metavar, multiple=True)


OUTPUT = Setting("out", ("-o", "--output"), "Output format.", kind="choice", choices=("text", "json"), default="text")
STRICT = Setting("strict", ("--strict",), "Warnings about the fleet count as errors.", kind="switch", default=False)
SELECTION = (
    _names("cluster_type", "TYPE", "Only this cluster type; may be repeated."),
    _names("environment", "NAME", "Only the cells of this environment; may be repeated."),
    _names("sector", "NAME", "Only the cells of this sector; may be repeated."),
    _names("region", "NAME", "Only the cells of this region; may be repeated."),
    _names("at", "DIMENSION=NAME", "Only the cells at this node of any dimension; may be repeated."),
)
PROCESSES = Setting(
    "processes",
    ("--processes",),
    "How many processes of helm run at once; 0 means one per usable CPU.",
    kind="integer",
    default=0,
)
NO_CACHE = Setting(
    "no_cache",
    ("--no-cache",),
    "Render everything with helm, and keep no results.",
    kind="switch",
    default=False,
    environment="COMMODORE_NO_CACHE",
)
FLEET_GENERATE = (
    *SELECTION,
    Setting("dry_run", ("--dry-run",), "Write nothing; show what would change.", kind="switch", default=False),
    Setting(
        "validate",
        ("--validate",),
        "Demand helm, and with --dry-run fail if anything would change.",
        kind="switch",
        default=False,
    ),
    Setting("force", ("--force",), "Replace what is not the generator's in rendered/.", kind="switch", default=False),
    PROCESSES,
    NO_CACHE,
    STRICT,
    OUTPUT,
)
FLEET_VALIDATE = (*SELECTION, PROCESSES, NO_CACHE, STRICT, OUTPUT)
FLEET_APPLICATIONSET = (
    Setting("repo_url", ("--repo-url",), "URL of the fleet's repository.", default="REPO_URL", metavar="URL"),
    Setting("revision", ("--revision",), "Revision that Argo CD follows.", default="HEAD", metavar="REVISION"),
    Setting("project", ("--project",), "Argo CD project of the applications.", default="default", metavar="NAME"),
    Setting("label_prefix", ("--label-prefix",), "What labels of clusters begin with.", default="", metavar="TEXT"),
    Setting(
        "cluster_value",
        ("--cluster-value",),
        "A further value of clusters for the charts, and the label that has it; may be repeated.",
        metavar="KEY=LABEL",
        multiple=True,
    ),
    Setting(
        "template_engine",
        ("--template-engine",),
        "The templates of the ApplicationSet: fast ones, or Go templates.",
        kind="choice",
        choices=("fast", "go"),
        default="fast",
    ),
    OUTPUT,
)
FLEET_PREVIEW = (
    Setting("cluster_type", ("--cluster-type",), "The cluster type; may be left out if there is one.", metavar="TYPE"),
    Setting(
        "cluster_values",
        ("--cluster-values",),
        "YAML file with the values of the cluster that the ApplicationSet would inject.",
        kind="file",
        metavar="FILE",
    ),
    OUTPUT,
)
FLEET_INIT = (
    Setting(
        "style",
        ("--style",),
        "What cells hold: charts that Argo CD renders, or finished manifests.",
        kind="choice",
        choices=("charts", "manifests"),
        default="charts",
    ),
)
FLEET_OUTPUT = (OUTPUT,)
