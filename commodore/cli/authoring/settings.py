"""The options of the commands of authors, declared like the others.

Options that are not given to `update` keep what is stored, so their default is None.
"""

from __future__ import annotations

from dataclasses import replace

from commodore.cli.shell.settings.model import Setting

_AUTOMERGE_LISTS = (
    ("patch_block", "automerge-patch-block", "whose patches are not merged automatically"),
    ("patch_v0_allow", "automerge-patch-v0-allow", "whose patches of v0 versions are merged automatically"),
    ("minor_allow", "automerge-minor-allow", "whose minor updates are merged automatically"),
)


def _switch(name: str, flag: str, help: str, default: bool | None) -> Setting:
    return Setting(name, (f"--{flag}/--no-{flag}",), help, kind="switch", default=default)


def _automerge(action: str) -> tuple[Setting, ...]:
    """Options that add to the lists of dependencies, or remove from them."""
    settings = []
    verb = action.capitalize()
    for name, flag, what in _AUTOMERGE_LISTS:
        settings.append(
            Setting(
                f"{action}_{name}_depname",
                (f"--{action}-{flag}-depname",),
                f"{verb} the name of a dependency {what}; may be repeated.",
                metavar="NAME",
                multiple=True,
            )
        )
        settings.append(
            Setting(
                f"{action}_{name}_pattern",
                (f"--{action}-{flag}-pattern",),
                f"{verb} a regular expression for dependencies {what}; may be repeated.",
                metavar="PATTERN",
                multiple=True,
            )
        )
    return tuple(settings)


NAME = Setting("name", ("--name",), "Title in the documentation; by default the slug.", metavar="TEXT")
OWNER = Setting(
    "owner",
    ("--owner",),
    "Account or organisation on GitHub that the repository is for.",
    default="projectsyn",
    metavar="TEXT",
)
OUTPUT_DIR = Setting(
    "output_dir",
    ("--output-dir",),
    "Existing folder that gets the new one; by default the working directory's dependencies.",
    metavar="DIR",
)
TEMPLATE_URL = Setting(
    "template_url",
    ("--template-url",),
    "Git repository with a cookiecutter template; by default the template that is part of commodore.",
    metavar="URL",
)
TEMPLATE_VERSION = Setting(
    "template_version",
    ("--template-version",),
    "Branch, tag or commit of the template.",
    default="main",
    metavar="REV",
)
TRUST_TEMPLATE = Setting(
    "trust_template",
    ("--trust-template",),
    "Render a template that commodore does not know. This runs the template author's code.",
    kind="switch",
    default=False,
)
COPYRIGHT = Setting("copyright", ("--copyright",), "Holder of the copyright.", metavar="TEXT")
ADDITIONAL_TEST_CASE = Setting(
    "additional_test_case",
    ("-t", "--additional-test-case"),
    "Add a test case; may be repeated.",
    metavar="CASE",
    multiple=True,
)
REMOVE_TEST_CASE = Setting(
    "remove_test_case", ("--remove-test-case",), "Remove a test case; may be repeated.", metavar="CASE", multiple=True
)
UPDATE_COPYRIGHT_YEAR = _switch("update_copyright_year", "update-copyright-year", "Set the year to this one.", False)
COMMIT = _switch("commit", "commit", "Commit the update.", True)

GOLDEN_TESTS = _switch("golden_tests", "golden-tests", "Compare what test cases compile to with golden files.", True)
COMPONENT_SWITCHES = (
    GOLDEN_TESTS,
    _switch("matrix_tests", "matrix-tests", "Test each test case in a job of its own.", True),
    _switch("lib", "lib", "Have a library for other components.", False),
    _switch("pp", "pp", "Have postprocessing filters.", False),
    _switch("automerge_patch", "automerge-patch", "Merge patch updates of dependencies automatically.", True),
    _switch("automerge_patch_v0", "automerge-patch-v0", "The same for v0 versions.", False),
    _switch("autorelease", "autorelease", "Release when a pull request is merged.", True),
)


def _kept(settings: tuple[Setting, ...]) -> tuple[Setting, ...]:
    """The same options for `update`, where one that is not given keeps what is stored."""
    return tuple(replace(setting, default=None) for setting in settings)


_NEW_FIRST = (NAME, OWNER, replace(COPYRIGHT, default="VSHN AG <info@vshn.ch>"), ADDITIONAL_TEST_CASE)
_NEW_LAST = (TEMPLATE_URL, TEMPLATE_VERSION, TRUST_TEMPLATE, OUTPUT_DIR)
_UPDATE_FIRST = (COPYRIGHT, UPDATE_COPYRIGHT_YEAR, ADDITIONAL_TEST_CASE, REMOVE_TEST_CASE)
_UPDATE_LAST = (*_kept((TEMPLATE_VERSION,)), TRUST_TEMPLATE, COMMIT)

COMPONENT_NEW = (*_NEW_FIRST, *COMPONENT_SWITCHES, *_automerge("add"), *_NEW_LAST)
COMPONENT_UPDATE = (
    *_UPDATE_FIRST,
    *_kept(COMPONENT_SWITCHES),
    *_automerge("add"),
    *_automerge("remove"),
    *_UPDATE_LAST,
)
COMPONENT_DELETE = (
    Setting(
        "force",
        ("--force/--no-force",),
        "Do not ask for confirmation; delete uncommitted and unpushed work, too.",
        kind="switch",
        default=False,
    ),
)
PACKAGE_NEW = (*_NEW_FIRST, GOLDEN_TESTS, *_NEW_LAST)
PACKAGE_UPDATE = (*_UPDATE_FIRST, *_kept((GOLDEN_TESTS,)), *_UPDATE_LAST)

SYNC = (
    Setting(
        "dry_run",
        ("--dry-run",),
        "Dry run: only show which pull requests would be created or updated.",
        kind="switch",
        default=False,
    ),
    Setting(
        "github_token",
        ("--github-token",),
        "Token for GitHub, for its API and for git; better given in the variable, which others cannot see.",
        environment="COMMODORE_GITHUB_TOKEN",
        metavar="TOKEN",
        secret=True,
    ),
    Setting(
        "github_url",
        ("--github-url",),
        "URL of GitHub's API; that of a GitHub Enterprise server ends in /api/v3.",
        default="https://api.github.com",
        environment="COMMODORE_GITHUB_URL",
        metavar="URL",
    ),
    Setting(
        "pr_branch",
        ("-b", "--pr-branch"),
        "Branch of the pull requests; it is overwritten.",
        default="template-sync",
        metavar="BRANCH",
    ),
    Setting(
        "pr_label",
        ("-l", "--pr-label"),
        "Label for the pull requests; may be repeated.",
        metavar="LABEL",
        multiple=True,
    ),
    Setting(
        "pr_batch_size",
        ("--pr-batch-size",),
        "Pause after each batch of so many created or updated pull requests; 0: never.",
        kind="integer",
        default=10,
        metavar="COUNT",
    ),
    Setting(
        "github_pause",
        ("--github-pause",),
        "Length of the pause, so that CI jobs of the pull requests do not start all at once; 0: none.",
        kind="integer",
        default=120,
        metavar="SECONDS",
    ),
    Setting(
        "filter",
        ("--filter",),
        "Only repositories in whose OWNER/NAME this regular expression is found.",
        metavar="REGEX",
    ),
    replace(
        TEMPLATE_VERSION,
        default=None,
        help="Try this branch, tag or commit of the templates instead of the stored one; always a dry run.",
    ),
    TRUST_TEMPLATE,
    Setting(
        "restart",
        ("--restart",),
        "Start over, even if an earlier run of the same command was interrupted.",
        kind="switch",
        default=False,
    ),
)
