"""Options of compiling and testing single components and packages."""

from __future__ import annotations

from commodore.cli.shell.settings.common import ENGINE, FAKE_FACTS, FETCH_DEPENDENCIES, FORCE, PROFILE, VALUES, WATCH
from commodore.cli.shell.settings.model import Setting

_SEARCH_PATHS = Setting(
    "search_paths",
    ("-J", "--search-paths"),
    "Further folder to search for Jsonnet files; may be repeated.",
    kind="folder",
    multiple=True,
    metavar="DIR",
)
_NAME = Setting(
    "name",
    ("-n", "--name"),
    "Name of the component; by default its folder's name without 'component-'.",
    metavar="NAME",
)

COMPONENT_COMPILE = (
    VALUES,
    *FAKE_FACTS,
    Setting("alias", ("-a", "--alias"), "Instance name to compile the component as.", metavar="ALIAS"),
    _SEARCH_PATHS,
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
    _NAME,
    *ENGINE,
    PROFILE,
    WATCH,
)
PACKAGE_COMPILE = (
    VALUES,
    *FAKE_FACTS,
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
    *ENGINE,
    PROFILE,
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
        "Replace the golden trees with the current output.",
        kind="switch",
        default=False,
    ),
    Setting(
        "strict",
        ("--strict",),
        "Fail a case if the checks of its objects and references find something.",
        kind="switch",
        default=False,
    ),
    Setting("junit", ("--junit",), "Write the results to this file as JUnit XML.", kind="path", metavar="FILE"),
)
COMPONENT_TEST = (
    *TEST_CASES,
    *FAKE_FACTS,
    Setting(
        "alias",
        ("-a", "--alias"),
        "Instance name to compile all cases as, instead of the one that their golden trees are of.",
        metavar="ALIAS",
    ),
    _SEARCH_PATHS,
    _NAME,
    *ENGINE,
    PROFILE,
)
PACKAGE_TEST = (*TEST_CASES, *FAKE_FACTS, *ENGINE, PROFILE)
