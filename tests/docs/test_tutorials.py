"""The tutorials can be followed: every command is run, every output that is shown is what comes out."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.docs import example_apps
from tests.docs.tutorials import Command, Done, WriteFile, follow, reader_environment, steps
from tests.world.cluster import ROOT
from tests.world.folders import write_script

TUTORIALS = ROOT / "docs" / "tutorial"


# Pages, and the command that each of them is about.
SHOWN = {
    "first-component": ["commodore", "component", "test"],
    "first-fleet": ["commodore", "-q", "fleet"],
    "first-hydration": ["commodore", "-q", "hydrate"],
    "first-observation": ["commodore", "observe", "plan"],
    "first-package": ["commodore", "package", "test"],
}


@pytest.mark.parametrize("page", SHOWN)
def test_a_reader_sees_what_the_page_shows(page: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    environment = reader_environment(tmp_path_factory.mktemp("bin"))
    done = follow((TUTORIALS / f"{page}.md").read_text(encoding="utf-8"), tmp_path, environment)
    assert [complaint for item in done if (complaint := item.complaint())] == []
    programs_run = [item.step.shell.split()[:3] for item in done if isinstance(item.step, Command)]
    assert SHOWN[page] in programs_run


def test_a_reader_of_a_public_repository_sees_what_the_page_shows(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With a stand-in for the repository, which has what the page shows of it."""
    environment = {
        **reader_environment(tmp_path_factory.mktemp("bin")),
        **example_apps.make_remote(tmp_path_factory.mktemp("remote")),
    }
    done = follow((TUTORIALS / "first-argocd-diff.md").read_text(encoding="utf-8"), tmp_path, environment)
    assert [complaint for item in done if (complaint := item.complaint())] == []
    assert len(done) > 10


# What the page of the first catalog tells the reader to edit, and after which sentence.
EDITS = {
    "Then see what that would do:\n": ("examples/tenant-config/c-example.yml", "replicas: 2", "replicas: 3"),
    "without network access:\n": (".cache/demo/dependencies/alerts/lib/alerts.libsonnet", "'5m'", "'15m'"),
}


def test_a_reader_of_the_first_catalog_sees_what_the_page_shows(tmp_path: Path) -> None:
    """In a repository with the examples and `make demo`, in which everything is installed."""
    page, folder = (TUTORIALS / "first-catalog.md").read_text(encoding="utf-8"), tmp_path / "reader"
    for sentence, (file, old, new) in EDITS.items():
        assert page.count(sentence) == 1
        page = page.replace(sentence, f'{sentence}\n```console\n$ sed -i "s/{old}/{new}/" {file}\n```\n')
    shutil.copytree(ROOT / "examples", folder / "examples")
    for name in ("Makefile", "scripts/demo"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    write_script(folder / "scripts" / "setup", "")
    (tmp_path / "bin").mkdir()
    environment = {**reader_environment(tmp_path / "bin"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = follow(page, folder, environment)
    assert [complaint for item in done if (complaint := item.complaint())] == []
    assert len(done) > 12


def test_the_hierarchy_is_merged_as_its_page_shows(tmp_path: Path) -> None:
    for folder in ("bin", "reader/global/cloud"):
        (tmp_path / folder).mkdir(parents=True)
    page = (ROOT / "docs" / "reference" / "hierarchy.md").read_text(encoding="utf-8")
    done = follow(page, tmp_path / "reader", reader_environment(tmp_path / "bin"))
    assert [complaint for item in done if (complaint := item.complaint())] == []
    assert len(done) == 4


def test_every_tutorial_is_followed() -> None:
    assert sorted(path.stem for path in TUTORIALS.glob("*.md")) == [
        "first-argocd-diff",
        "first-catalog",
        "first-component",
        "first-fleet",
        "first-hydration",
        "first-observation",
        "first-package",
    ]


def test_what_counts_as_a_step() -> None:
    page = """
Text with `$ no command`.

```console
$ one
output of one
$ two
```

```{code-block} yaml
:caption: folder/file.yml
a: 1
```

```yaml
not: a file
```
"""
    assert list(steps(page)) == [
        Command("one", "output of one\n"),
        Command("two", ""),
        WriteFile("folder/file.yml", "a: 1\n"),
    ]


@pytest.mark.parametrize(
    ("shown", "printed", "good"),
    [
        ("one\n", "one\n", True),
        ("one\n", "one\ntwo\n", False),
        ("…\ntwo\n", "zero\none\ntwo\n", True),
        ("…\ntwo\n", "two\n", True),
        ("…\ntwo\n", "zero\none\n", False),
        ("in (0.1 s): [x]\n", "in (12.3 s): [x]\n", True),
        ("in (0.1 s)\n", "in (0.1 m)\n", False),
        ("at …/file\n", "at /a/b/file\n", True),
        ("at …/file\n", "at /a\n/file\n", False),
    ],
)
def test_how_output_is_compared(shown: str, printed: str, good: bool) -> None:
    assert (Done(Command("x", shown), printed, 1).complaint() == "") == good


def test_a_command_without_output_must_succeed() -> None:
    assert Done(Command("x", ""), "", 0).complaint() == ""
    assert "exit code 1: why" in Done(Command("x", ""), "why", 1).complaint()


def test_a_shell_is_kept_for_the_whole_page(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    page = (
        "```console\n$ cd sub\n$ export NAME=value\n```\n"
        "```{code-block} text\n:caption: file\n'quoted' $NAME\n```\n"
        "```console\n$ cat file; echo $NAME\n'quoted' $NAME\nvalue\n$ false\n```\n"
    )
    complaints = [item.complaint() for item in follow(page, tmp_path, os.environ)]
    assert complaints == ["", "", "", "", "exit code 1: "]
