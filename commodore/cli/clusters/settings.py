"""Options of compiling the catalogs of many clusters."""

from __future__ import annotations

from commodore.cli.catalog.settings import CATALOG_COMPILE
from commodore.cli.fleet.settings import STATUS_AGE
from commodore.cli.shell.settings.common import OUTPUT_FORMAT, reports
from commodore.cli.shell.settings.model import Kind, Setting

_NOT_FOR_FLEETS = (
    "cluster_file",
    "local",
    "fetch_dependencies",
    "diff",
    "argocd_diff",
    "output_format",
    "watch",
    "interactive",
)
_CATALOG = tuple(setting for setting in CATALOG_COMPILE if setting.name not in _NOT_FOR_FLEETS)
_REPORT = reports("json", "markdown")


def _several(name: str, option: str, metavar: str, about: str, kind: Kind = "text", *, narrows: bool = True) -> Setting:
    about = f"{about}; may be repeated."
    return Setting(name, (option,), about, kind=kind, metavar=metavar, multiple=True, narrows=narrows)


_SELECTION = (
    _several(
        "cluster_files",
        "--cluster-file",
        "FILE|FOLDER",
        "Take clusters from this file, or from the YAML and JSON files of this folder, not the Lieutenant API",
        "path",
    ),
    _several("tenant", "--tenant", "TENANT", "Only clusters of this tenant"),
    Setting(
        "fact",
        ("--fact",),
        "Only clusters with this fact, whose value may be a pattern such as 'eu-*'; if repeated, all must hold.",
        metavar="NAME=PATTERN",
        narrows=True,
        multiple=True,
    ),
    _several("exclude", "--exclude", "CLUSTER", "Not this cluster"),
    Setting(
        "shard",
        ("--shard",),
        "Only this part of the clusters, such as 2/3; each cluster is always in the same part of so many.",
        metavar="I/N",
        narrows=True,
    ),
)
_WAVES = (
    Setting(
        "waves",
        ("--waves",),
        "File with the waves in which clusters are pushed; or config/config.yaml of a fleet, whose sequence they are.",
        kind="file",
        metavar="FILE",
        narrows=True,
    ),
    Setting(
        "wave_level",
        ("--wave-level",),
        "With the sequence of a fleet: the dimension whose nodes are waves, by default the first.",
        metavar="DIMENSION",
        narrows=True,
        in_files=True,
    ),
    Setting(
        "canary",
        ("--canary",),
        "Two waves: first so many clusters (3 or 10%), or these; then all others.",
        metavar="N|N%|CLUSTER,CLUSTER",
        narrows=True,
    ),
    Setting(
        "max_failures",
        ("--max-failures",),
        "How many clusters of a wave may fail, as a number or percentage; with more, nothing of it is pushed. "
        "By default none.",
        metavar="N|N%",
        narrows=True,
    ),
    _several("approve", "--approve", "WAVE", "Let this wave with a manual gate be pushed", narrows=False),
    Setting(
        "ahead",
        ("--ahead",),
        "Compile the clusters of later waves while earlier ones are checked, pushed and watched.",
        kind="switch",
        default=False,
    ),
    Setting(
        "status",
        ("--status",),
        "What is known about the applications of clusters: a file of 'cells' by cluster, or a list that kubectl has "
        "printed as JSON, which needs the cluster as CLUSTER=FILE; may be repeated. All must be healthy when a wave "
        "has soaked.",
        metavar="[CLUSTER=]FILE",
        narrows=True,
        multiple=True,
    ),
    STATUS_AGE,
    Setting(
        "interactive",
        ("-i", "--interactive"),
        "With --push: show what changes and ask before each wave is pushed.",
        kind="switch",
        default=False,
    ),
)
_RUN = (
    Setting(
        "engine",
        ("--engine",),
        "Where clusters are compiled: in this process, or by workers of Dask.",
        kind="choice",
        choices=("local", "dask"),
        default="local",
    ),
    Setting(
        "scheduler",
        ("--scheduler",),
        "Use the workers of this scheduler of Dask; without it, --engine dask starts workers on this machine.",
        environment="COMMODORE_SCHEDULER",
        metavar="ADDRESS",
    ),
    Setting(
        "insecure_scheduler",
        ("--insecure-scheduler",),
        "Use a scheduler on another machine without TLS, though every process in the network can run code on it.",
        kind="switch",
        default=False,
    ),
    Setting(
        "workers",
        ("--workers",),
        "How many clusters are compiled at once; 0 means one per usable CPU.",
        kind="integer",
        default=0,
    ),
    Setting(
        "retries",
        ("--retries",),
        "How often a cluster is tried again when its surroundings fail.",
        kind="integer",
        default=2,
    ),
    Setting(
        "timeout",
        ("--timeout",),
        "How long one attempt at a cluster may take: 90s, 30m, 2h.",
        default="30m",
        metavar="DURATION",
    ),
    Setting(
        "keep",
        ("--keep",),
        "What stays of the clusters' workspaces: all, the catalog and notes for the next run (state), or nothing.",
        kind="choice",
        choices=("all", "state", "nothing"),
        default="all",
    ),
    Setting(
        "resume",
        ("--resume",),
        "Go on with a run that was interrupted, given by its name; without one, or with 'newest', the newest that is "
        "unfinished. The clusters and options must be the same.",
        metavar="[RUN]",
        bare="newest",
    ),
    Setting(
        "pins",
        ("--pins",),
        "Use the commits of branches and tags that this report of another run names.",
        kind="file",
        metavar="FILE",
        narrows=True,
    ),
    Setting(
        "from_report",
        ("--from-report",),
        "With --push: publish what this run without --push has compiled, if it comes out the same; repeated, the "
        "reports of all shards.",
        kind="file",
        metavar="FILE",
        narrows=True,
        multiple=True,
    ),
    _REPORT,
    OUTPUT_FORMAT,
)
FLEET_COMPILE = (*_SELECTION, *_CATALOG, *_WAVES, *_RUN)
FLEET_REPORT = (
    _several("cluster", "--cluster", "CLUSTER", "Only this cluster"),
    Setting(
        "group", ("--group",), "Only the change with this id, as JSON output names it.", metavar="ID", narrows=True
    ),
    Setting(
        "state",
        ("--state",),
        "Only clusters that change, or that have failed; may be repeated.",
        kind="choice",
        choices=("changed", "failed"),
        multiple=True,
    ),
    _REPORT,
    Setting("full", ("--full",), "Name all clusters of each change.", kind="switch", default=False),
    OUTPUT_FORMAT,
)
