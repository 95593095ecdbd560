"""Options of looking at inventories."""

from __future__ import annotations

from commodore.cli.shell.settings.common import OUTPUT_FORMAT, VALUES
from commodore.cli.shell.settings.model import Setting

ALLOW_MISSING_CLASSES = Setting(
    "allow_missing_classes",
    ("--allow-missing-classes/--no-allow-missing-classes", " /-A"),
    "Ignore classes that do not exist, and list them.",
    kind="switch",
    default=True,
)
INVENTORY_LIST = (
    Setting(
        "output_format",
        ("-o", "--output-format"),
        "Output format.",
        kind="choice",
        choices=("json", "yaml"),
        default="yaml",
    ),
    VALUES,
    ALLOW_MISSING_CLASSES,
)
INSTANCE = Setting(
    "instance",
    ("--instance",),
    "Instance of the compiled cluster to look at; by default the cluster itself.",
    metavar="NAME",
)
COMPONENTS = Setting(
    "component",
    ("--component",),
    "Include the defaults of the component in this folder, as a compile does; may be repeated.",
    kind="folder",
    multiple=True,
    metavar="DIR",
)
INVENTORY_SHOW = (
    Setting(
        "output_format",
        ("-o", "--output-format"),
        "Output format: yaml if not given, and text for differences. As text, a single value is printed bare.",
        kind="choice",
        choices=("json", "text", "yaml"),
    ),
    VALUES,
    ALLOW_MISSING_CLASSES,
    Setting(
        "path",
        ("--path",),
        """Show only this parameter, like argocd.images[0].tag; a key with dots in quotes: labels."a.b".""",
        metavar="PARAMETER",
    ),
    COMPONENTS,
    INSTANCE,
    Setting(
        "diff_values",
        ("--diff-values",),
        "Show how the cluster of this values file differs; may be repeated, later ones win.",
        kind="file",
        multiple=True,
        metavar="FILE",
    ),
    Setting(
        "diff_dir",
        ("--diff-dir",),
        "Show how the cluster compiled in this working directory differs.",
        kind="folder",
        metavar="DIR",
    ),
)
LINTERS = (
    "components",
    "deprecated-parameters",
    "packages",
    "applications",
    "duplicate-keys",
    "filters",
    "missing-url",
    "references",
    "removals",
    "secret-references",
    "top-level-keys",
    "schema",
)
INVENTORY_LINT = (
    Setting(
        "linter",
        ("-l", "--linter"),
        f"Linter to run, or 'all'; may be repeated. By default {', '.join(LINTERS[:3])}; there are also "
        f"{', '.join(LINTERS[3:])}.",
        kind="choice",
        choices=(*LINTERS, "all", "component-versions"),
        multiple=True,
        metavar="LINTER",
    ),
    Setting(
        "ignore_patterns",
        ("--ignore-patterns",),
        "Leave out files and folders that match this glob pattern, in every target; may be repeated.",
        multiple=True,
        metavar="GLOB",
    ),
    Setting(
        "format",
        ("-o", "--output-format"),
        "Format of the report.",
        kind="choice",
        choices=("text", "json", "sarif", "github"),
        default="text",
        aliases=("--format",),
    ),
    Setting(
        "output",
        ("--output",),
        "Write the report to this file, and the findings as text to standard output.",
        kind="path",
        metavar="FILE",
    ),
    Setting("strict", ("--strict",), "Count warnings as errors.", kind="switch", default=False),
)
INVENTORY_EXPLAIN = (
    OUTPUT_FORMAT,
    VALUES,
    ALLOW_MISSING_CLASSES,
    COMPONENTS,
    Setting(
        "instance",
        ("--instance",),
        "Instance of the compiled cluster to look at; by default the one whose parameters PATH begins with, else "
        "the cluster itself.",
        metavar="NAME",
    ),
)
