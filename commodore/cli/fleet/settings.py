"""Options of fleets."""

from __future__ import annotations

from dataclasses import replace

from commodore.cli.shell.settings.common import OUT
from commodore.cli.shell.settings.model import Setting


def _names(name: str, metavar: str, what: str) -> Setting:
    return Setting(name, (f"--{name.replace('_', '-')}",), what, metavar=metavar, multiple=True)


OUTPUT = replace(OUT, aliases=("--output",))
STRICT = Setting("strict", ("--strict",), "Warnings about the fleet count as errors.", kind="switch", default=False)
SELECTION = (
    _names("cluster_type", "TYPE", "Only this cluster type; may be repeated."),
    _names("environment", "NAME", "Only the cells of this environment; may be repeated."),
    _names("sector", "NAME", "Only the cells of this sector; may be repeated."),
    _names("region", "NAME", "Only the cells of this region; may be repeated."),
    _names("at", "DIMENSION=NAME", "Only the cells at this node of any dimension; may be repeated."),
)
STATUS_AGE = Setting(
    "status_age",
    ("--status-age",),
    "Refuse status files that are older: 90s, 15m, 2h, 1d.",
    default="15m",
    metavar="DURATION",
)
STATUS = (
    Setting(
        "status",
        ("--status",),
        "What is known about the state of applications: a file of 'cells', or a list that kubectl has printed as JSON, "
        "which needs the cell as TYPE/CELL=FILE; may be repeated.",
        metavar="[CELL=]FILE",
        multiple=True,
    ),
    STATUS_AGE,
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
ALLOW_REMOVAL = _names(
    "allow_removal",
    "APP",
    "Let this Application or ApplicationSet go from the cells that it would disappear from, as TYPE/APP of one cluster "
    "type only; may be repeated.",
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
    Setting(
        "apply_patch",
        ("--apply-patch",),
        "Start this patch, given by name or id, before generating; as TYPE/APP/PATCH if several applications have it.",
        metavar="PATCH",
    ),
    *STATUS,
    ALLOW_REMOVAL,
    Setting("force", ("--force",), "Replace what is not the generator's in rendered/.", kind="switch", default=False),
    PROCESSES,
    NO_CACHE,
    STRICT,
    OUTPUT,
)
FLEET_VALIDATE = (*SELECTION, *STATUS, PROCESSES, NO_CACHE, STRICT, OUTPUT)
FLEET_APPLICATIONSET = (
    Setting("repo_url", ("--repo-url",), "URL of the fleet's repository.", default="REPO_URL", metavar="URL"),
    Setting("revision", ("--revision",), "Revision that Argo CD follows.", default="HEAD", metavar="REVISION"),
    Setting(
        "project",
        ("--project",),
        "Argo CD project of the applications.",
        default="default",
        metavar="NAME",
        in_files=True,
    ),
    Setting("label_prefix", ("--label-prefix",), "What labels of clusters begin with.", default="", metavar="TEXT"),
    Setting(
        "cluster_value",
        ("--cluster-value",),
        "A further value of clusters for the charts, and the label that has it; may be repeated.",
        metavar="KEY=LABEL",
        multiple=True,
        in_files=True,
    ),
    Setting(
        "template_engine",
        ("--template-engine",),
        "The templates of the ApplicationSet: fast ones, or Go templates.",
        kind="choice",
        choices=("fast", "go"),
        default="fast",
        in_files=True,
    ),
    OUTPUT,
)
FLEET_PREVIEW = (
    Setting("cluster_type", ("--cluster-type",), "The cluster type; may be left out if there is one.", metavar="TYPE"),
    Setting(
        "values",
        ("--values",),
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
BASE = Setting(
    "base",
    ("--base",),
    "Check what differs from this revision, by its OWNERS files.",
    default="HEAD",
    metavar="REVISION",
)
FLEET_OWNERS_CHECK = (
    BASE,
    Setting("author", ("--author",), "Login of the author.", metavar="LOGIN"),
    Setting(
        "approved_by",
        ("--approved-by",),
        "Login of a user who has approved; may be repeated.",
        metavar="LOGIN",
        multiple=True,
    ),
)
FLEET_OWNERS_LIST = (BASE, OUTPUT)
PATCH_STEP = (
    Setting(
        "level",
        ("--level",),
        "The dimension whose nodes are the places that a patch goes to; by default that of the fleet.",
        metavar="DIMENSION",
    ),
    Setting(
        "coalesce",
        ("--coalesce/--no-coalesce",),
        "Let one placement replace those below it, where they are all the cells of a node.",
        kind="switch",
        default=True,
        in_files=True,
    ),
    Setting(
        "fold",
        ("--fold/--no-fold",),
        "Put a patch that is everywhere into the base values.",
        kind="switch",
        default=True,
        in_files=True,
    ),
)
GENERATE_AFTERWARDS = (
    Setting("generate", ("--generate/--no-generate",), "Generate the fleet afterwards.", kind="switch", default=True),
    ALLOW_REMOVAL,
)
DRY_RUN = Setting("dry_run", ("--dry-run",), "Write nothing; show what would be done.", kind="switch", default=False)
FLEET_PROMOTE = (
    *PATCH_STEP,
    Setting(
        "approve",
        ("--approve",),
        "Approve promotions to nodes that require approval.",
        kind="switch",
        default=False,
    ),
    Setting(
        "auto",
        ("--auto",),
        "For CI: ask no questions, do nothing at a gate that a person must open, and demand that all cells with the "
        "patch are healthy, for as long as nodes want.",
        kind="switch",
        default=False,
    ),
    Setting("all", ("--all",), "With --auto: every patch of the fleet, one step each.", kind="switch", default=False),
    *STATUS,
    DRY_RUN,
    *GENERATE_AFTERWARDS,
    OUTPUT,
)
FLEET_FOLD = (
    Setting(
        "overrides",
        ("--overrides",),
        "What happens to overrides that would win over the patch: refuse to fold, update them with its values, or "
        "keep them, so that they win again.",
        kind="choice",
        choices=("refuse", "update", "keep"),
        default="refuse",
    ),
    DRY_RUN,
    *GENERATE_AFTERWARDS,
    OUTPUT,
)
FLEET_PLAN = (
    *PATCH_STEP,
    replace(OUTPUT, choices=("text", "json", "markdown")),
)
FLEET_STATUS = (
    _names("cluster_type", "TYPE", "Only this cluster type; may be repeated."),
    _names("app", "APP", "Only this application, or the applications of this folder; may be repeated."),
    _names("patch", "PATCH", "Only this patch, by name, id or TYPE/APP/PATCH; may be repeated."),
    _names("cell", "CELL", "Only this cell, or the cells below a node such as prod; may be repeated."),
    Setting(
        "lagging",
        ("--lagging",),
        "Only cells with other versions than most, and patches that wait, have skipped cells, are not healthy or have "
        "to be folded.",
        kind="switch",
        default=False,
    ),
    *STATUS,
    replace(OUTPUT, choices=("text", "json", "matrix")),
)
FLEET_GRAPH = (
    Setting(
        "format",
        ("-o", "--output-format"),
        "Mermaid, DOT, or an image.",
        kind="choice",
        choices=("mermaid", "dot", "svg"),
        default="mermaid",
        aliases=("--format",),
    ),
)
FLEET_DRIFT = (*STATUS, OUTPUT)
FLEET_DIFF = (OUTPUT,)
FLEET_IMPORT = (
    Setting(
        "app",
        ("--app",),
        "The folder that takes all of them; by default each Application has one of its own name.",
        default="",
        metavar="APP",
    ),
    DRY_RUN,
    OUTPUT,
)
