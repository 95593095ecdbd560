"""Fleets: configurations that name, or link to, what lies elsewhere, and grow without end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commodore.base.documents import plain
from tests.attacks.conftest import Secret
from tests.fleet.conftest import APP, CONFIG, WEB, World, charts, manifests, patch

FORM, YAML, FILE = "CMD-FLT-003", "CMD-FLT-002", "CMD-FLT-006"
NAMES = [
    "..",
    "../..",
    "../../x",
    "/etc",
    "a/b",
    "a\\b",
    "-x",
    ".git",
    "a\0b",
    "a\nb",
    "x" * 300,
    "\x1b[31m",
    "a\u202eb",
]


@pytest.fixture
def fleet(tmp_path: Path) -> World:
    root = tmp_path / "fleet"
    root.mkdir()
    return World(root)


def quoted(name: str) -> str:
    escapes = {"\0": "\\0", "\n": "\\n", "\\": "\\\\", "\x1b": "\\e"}
    return '"' + "".join(escapes.get(item, item) for item in name) + '"'


@pytest.mark.parametrize("place", ["cell", "type", "application", "item"])
@pytest.mark.parametrize("name", NAMES, ids=[ascii(name[:20]) for name in NAMES])
def test_names_that_lead_elsewhere(fleet: World, tmp_path: Path, place: str, name: str) -> None:
    """They would be folders and files of `rendered/`."""
    word = quoted(name)
    files = charts() if place != "item" else manifests()
    config = {
        "cell": CONFIG.replace("{name: r1}", f"{{name: {word}}}"),
        "type": CONFIG.replace("- main", f"- {word}"),
        "application": CONFIG.replace("- main", f"- {{name: main, applications: [web, {word}]}}"),
    }.get(place, CONFIG)
    files |= {"config/config.yaml": config}
    if place == "item":
        files |= {f"{APP}/values.yaml": WEB.replace("  web:", f"  {word}:")}
    before = sorted(tmp_path.rglob("*"))
    errors = fleet.lay(files).refused()
    told = {error.code for error in errors}
    assert told & {FORM, YAML, "CMD-NAME-001", "CMD-NAME-006", "CMD-FLT-012", "CMD-FLT-011"}
    assert not set("\x1b\u202e\0") & set(" ".join(error.message for error in errors))
    assert not (fleet.root / "rendered").exists()
    assert {path for path in tmp_path.rglob("*") if not path.is_relative_to(fleet.root)} <= set(before)


@pytest.mark.parametrize(
    "file", ["config/config.yaml", f"{APP}/values.yaml", f"{APP}/prod/values.yaml", f"{APP}/patches/p.yaml",
             "config/main/application-defaults.yaml", f"{APP}/metadata.yaml"]
)  # fmt: skip
@pytest.mark.parametrize("kind", ["link", "climbing link", "loop", "pipe", "device", "large"])
def test_files_that_are_others(fleet: World, secret: Secret, file: str, kind: str) -> None:
    fleet.lay(charts())
    path = fleet.root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "large":
        with path.open("wb") as made:
            made.truncate(fleet.context.limits.fleet_file_bytes + 1)
    else:
        targets = {"link": secret.path, "loop": path, "device": Path("/dev/zero")}
        path.symlink_to(targets.get(kind, Path(os.path.relpath(secret.path, path.parent))))
    errors = fleet.refused()
    assert {FILE, "CMD-FLT-001"} & {error.code for error in errors}
    assert secret.text not in str([plain(error) for error in errors])
    assert not (fleet.root / "rendered").exists()


@pytest.mark.parametrize("folder", ["config", "config/main", APP, f"{APP}/prod", f"{APP}/patches"])
def test_folders_that_are_links(fleet: World, tmp_path: Path, folder: str) -> None:
    """Everything that they lead to would be read as configuration."""
    fleet.lay(charts(**{f"{APP}/prod/values.yaml": patch("project: p"), f"{APP}/patches/p.yaml": patch("project: q")}))
    elsewhere = tmp_path / "elsewhere"
    (fleet.root / folder).rename(elsewhere)
    (fleet.root / folder).symlink_to(elsewhere)
    assert FILE in {error.code for error in fleet.refused()}


@pytest.mark.parametrize("chart", ["..", "/etc", "../other", "a/../../x"])
def test_a_chart_that_lies_elsewhere(fleet: World, tmp_path: Path, chart: str) -> None:
    (tmp_path / "other").mkdir()
    config = CONFIG + f"generator: {{chart: {chart}}}\n"
    assert FORM in {error.code for error in fleet.lay(charts(**{"config/config.yaml": config})).refused()}


BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]\n" for number in range(1, 12)
)
TEXTS = {
    "aliases": (BOMB, {FILE, "CMD-YAML-004"}),
    "itself": ("a: &a [*a]\n", {YAML}),
    "depth": ("[" * 100_000, {YAML, "CMD-YAML-003"}),
    "tag": ("a: !!python/object/apply:os.system [x]\n", {YAML, "CMD-YAML-002"}),
    "twice": ("a: 1\na: 2\n", {YAML}),
    "bytes": ("a: \x00\n", {YAML}),
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "file", ["config/config.yaml", f"{APP}/values.yaml", f"{APP}/prod/override.yaml", f"{APP}/patches/p.yaml"]
)
def test_yaml_that_does_not_end(fleet: World, file: str, text: str) -> None:
    content, expected = TEXTS[text]
    errors = fleet.lay(charts(**{file: content})).refused()
    assert {error.code for error in errors} & expected


@pytest.mark.parametrize(
    "place", ["rendered", "rendered/main", "rendered/main/int/int-1/r1", "rendered/main/int/int-1/r1/values.yaml"]
)
@pytest.mark.harmless
def test_output_that_is_a_link(fleet: World, tmp_path: Path, place: str) -> None:
    """It is replaced; what it leads to stays."""
    fleet.lay(charts()).generate()
    other = tmp_path / "other"
    path = fleet.root / place
    path.rename(other)
    before = {item: item.read_bytes() for item in [other, *other.rglob("*")] if item.is_file()}
    path.symlink_to(other)
    fleet.lay({f"{APP}/values.yaml": WEB.replace("cpu: 1", "cpu: 2")}).generate(force=True)
    assert {item: item.read_bytes() for item in [other, *other.rglob("*")] if item.is_file()} == before
    assert not any(item.is_symlink() for item in [fleet.root / "rendered", *(fleet.root / "rendered").rglob("*")])
