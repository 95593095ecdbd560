"""Writing where a rendering may not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commodore.base.documents import plain
from commodore.base.errors import CommodoreError
from tests.attacks.conftest import Secret, Witness
from tests.core.engine.world import World, jsonnet
from tests.world.repos import git

OUTPUT, PLACE = "CMD-ENG-007", "CMD-ENG-059"


def refused(world: World, code: str, **changes: Any) -> CommodoreError:
    error = world.fail_once(**changes)
    assert (error.code, error.exit_code) == (code, 4)
    assert not (world.root / "x").exists()
    assert not Path("/tmp/attack.yaml").exists()
    return error


@pytest.mark.parametrize("key", ["../../../x", "/tmp/attack", "a/../../../x"])
@pytest.mark.parametrize("kind", ["jsonnet", "kadet"])
def test_output_keys_that_climb(world: World, key: str, kind: str) -> None:
    world.add("a", {"input_type": kind, "input_paths": ["a/main"], "output_path": "."})
    world.write("dependencies/a/main" if kind == "jsonnet" else "dependencies/a/main/__init__.py", "")
    path, text = {
        "jsonnet": ("dependencies/a/main", "{ 'KEY': { a: 1 } }"),
        "kadet": ("dependencies/a/main/__init__.py", "def main():\n    return {'KEY': {'a': 1}}\n"),
    }[kind]
    world.write(path, text.replace("KEY", key))
    refused(world, OUTPUT)


@pytest.mark.parametrize("path", ["../../../x", "/tmp/attack"])
@pytest.mark.parametrize("kind", ["jsonnet", "copy", "external", "jinja2", "helm"])
def test_output_paths_that_climb(world: World, path: str, kind: str) -> None:
    world.add("a", {"input_type": kind, "input_paths": ["a/main"], "output_path": path})
    world.write("dependencies/a/main", "{ x: { a: 1 } }")
    refused(world, OUTPUT)


@pytest.mark.parametrize("path", [".git", ".git/hooks/pre-commit", ".env"])
def test_the_checkout_that_is_written_to(world: World, path: str) -> None:
    """Components may generate files for kustomize in their checkout, but nothing that others believe."""
    world.add("a", jsonnet("a/main.jsonnet", str(world.root / "dependencies/a" / path), output_type="plain"))
    world.write("dependencies/a/main.jsonnet", "{ x: 'gitdir: /tmp' }")
    refused(world, OUTPUT)


@pytest.mark.parametrize("kind", ["external", "kadet"])
@pytest.mark.parametrize("what", ["file", "folder"])
def test_links_in_the_output(world: World, secret: Secret, kind: str, what: str) -> None:
    target = secret.path if what == "file" else secret.path.parent
    entry = {"input_type": kind, "input_paths": ["a/main"], "output_path": "."}
    world.add("a", {**entry, **({"args": ["${compiled_target_dir}"]} if kind == "external" else {})})
    if kind == "external":
        world.write("dependencies/a/main", f'#!/bin/sh\nln -s {target} "$1/link"\n', executable=True)
    else:
        code = f"import os\ndef main(params):\n    os.symlink({str(target)!r}, params['compile_path'] + '/link')\n"
        world.write("dependencies/a/main/__init__.py", code + "    return {}\n")
    refused(world, OUTPUT)
    assert secret.is_in(world.root) == []


def test_a_pipe_in_the_output(world: World) -> None:
    entry = {"input_type": "external", "input_paths": ["a/main"], "output_path": "."}
    world.add("a", {**entry, "args": ["${compiled_target_dir}"]})
    world.write("dependencies/a/main", '#!/bin/sh\nmkfifo "$1/pipe"\n', executable=True)
    refused(world, "CMD-CONF-003")


@pytest.fixture
def fetched(world: World) -> str:
    """A repository that holds what would be believed in a working directory."""
    folder = world.root.parent / "fetched"
    (folder / "hooks").mkdir(parents=True)
    (folder / "hooks" / "post-checkout").write_text("#!/bin/sh\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "x")
    return str(folder)


@pytest.mark.parametrize(
    "path",
    [
        "catalog/.git",
        "catalog/.git/hooks",
        "catalog",
        "catalog/manifests/other",
        "dependencies/.repos",
        "dependencies/.repos/x.git/hooks",
        "dependencies/a/.git",
        "dependencies/a/.GIT/hooks",
        "dependencies",
        ".commodore",
        ".commodore/rendered",
        ".ssh",
        "inventory/classes/global",
        "inventory",
        "compiled",
        ".",
        "x/../catalog/.git",
        "link",
    ],
)
def test_fetched_files(world: World, fetched: str, path: str) -> None:
    dependency = {"type": "git", "source": fetched, "output_path": path, "ref": "HEAD"}
    world.add("a", jsonnet("a/main.jsonnet"), kapitan={"dependencies": [dependency]})
    world.write("dependencies/a/main.jsonnet", "{ out: { a: 1 } }")
    (world.root / "catalog" / ".git").mkdir(parents=True)
    (world.root / "link").symlink_to("catalog/.git")
    refused(world, PLACE)
    assert list(world.root.rglob("post-checkout")) == []


@pytest.mark.parametrize(
    "path",
    [
        "dependencies/two/component",
        "dependencies/two",
        "dependencies/second/class",
        "dependencies/two.git-of-many/other",
        "dependencies/pkg.p/class",
        "dependencies/lib/two.libsonnet",
        "vendor/two/component",
        "vendor/lib/two.libsonnet",
        "vendor/github.com",
        "two/component",
        "lib/two.libsonnet",
        "dependencies/a/to-two/component",
        "compiled/two",
        "dependencies/a/../two/component",
    ],
)
def test_fetched_files_in_the_place_of_others(world: World, fetched: str, path: str) -> None:
    """A dependency of one component must not change what another component renders."""
    dependency = {"type": "git", "source": fetched, "output_path": path, "ref": "HEAD"}
    world.add("a", jsonnet("a/main.jsonnet"), kapitan={"dependencies": [dependency]})
    world.write("dependencies/a/main.jsonnet", "{ out: { a: 1 } }")
    world.write("dependencies/two/component/main.jsonnet", "{}")
    world.add("second", jsonnet("two/component/main.jsonnet"), component="two")
    world.jobs[-1] = replace(world.jobs[-1], directory=world.write("dependencies/two.git-of-many/a", "").parent)
    (world.root / "vendor").mkdir()
    (world.root / "vendor" / "two").symlink_to("../dependencies/two")
    (world.root / "dependencies" / "a" / "to-two").symlink_to("../two")
    refused(world, PLACE)
    assert list(world.root.rglob("post-checkout")) == []


def test_fetched_files_through_a_link_that_was_fetched(world: World, fetched: str) -> None:
    """A link in the folder leads to another component: nothing is written through it."""
    dependency = {"type": "git", "source": fetched, "output_path": "dependencies/a/f", "ref": "HEAD"}
    world.add("a", jsonnet("a/main.jsonnet"), kapitan={"dependencies": [dependency]})
    world.write("dependencies/a/main.jsonnet", "{ out: { a: 1 } }")
    world.add("two")
    (world.root / "dependencies" / "a" / "f").mkdir()
    (world.root / "dependencies" / "a" / "f" / "hooks").symlink_to("../../two")
    refused(world, PLACE)
    assert list(world.root.rglob("post-checkout")) == []


@pytest.mark.harmless
@pytest.mark.parametrize(
    "path", ["dependencies/a/f", "dependencies/b/f", "dependencies/f", "manifests/f", "b_chart", "{base}/f", "{base}"]
)
def test_fetched_files_in_places_of_ones_own(world: World, fetched: str, path: str) -> None:
    """Places to which public components fetch. Another instance of the same component is the same component."""
    output = path.format(base=world.root / "dependencies" / "b")
    dependency = {"type": "git", "source": fetched, "output_path": output, "ref": "HEAD"}
    world.add("b", jsonnet("a/main.jsonnet"), component="a", kapitan={"dependencies": [dependency]})
    world.add("two")
    world.write("dependencies/a/main.jsonnet", "{ out: { a: 1 } }")
    world.compile()
    assert (world.root / output / "hooks" / "post-checkout").is_file()


def test_a_helm_that_fetches(world: World, witness: Witness) -> None:
    program = witness.program(world.root / "dependencies/a/helm")
    dependency = {"type": "helm", "source": "https://example.com", "chart_name": "x", "version": "1"}
    dependency |= {"output_path": "charts/x", "helm_path": str(program)}
    world.add("a", jsonnet("a/main.jsonnet"), kapitan={"dependencies": [dependency]})
    assert world.fail_once().code == "CMD-CONF-008"
    assert not witness.was_written


@pytest.mark.parametrize("path", ["../../../made", "/tmp/attack-made", "../.git/made", "link/made"])
def test_references_that_are_made(world: World, path: str) -> None:
    """Kapitan makes a reference that has a function and no file yet."""
    world.add("a", jsonnet("a/main.jsonnet"))
    (world.root / "catalog" / ".git").mkdir(parents=True)
    (world.root / "catalog" / "refs").mkdir()
    (world.root / "catalog" / "refs" / "link").symlink_to(world.root.parent)
    reference = "?{plain:PATH||random:str}".replace("PATH", path)
    world.write("dependencies/a/main.jsonnet", f"{{ out: {{ x: '{reference}' }} }}")
    error = world.fail_once()
    assert error.code in ("CMD-CONF-001", "CMD-CONF-002", OUTPUT, "CMD-ENG-023")
    assert list(world.root.parent.rglob("made")) == []
    assert not Path("/tmp/attack-made").exists()


@pytest.mark.parametrize("path", ["/etc/hostname", "../../private/credentials.yml", "link/credentials.yml"])
@pytest.mark.parametrize("kind", ["plain", "base64", "vaultkv"])
def test_references_that_lead_out(world: World, secret: Secret, path: str, kind: str) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    (world.root / "catalog" / "refs").mkdir(parents=True)
    (world.root / "catalog" / "refs" / "link").symlink_to(secret.path.parent)
    world.write("dependencies/a/main.jsonnet", f"{{ out: {{ x: '?{{{kind}:{path}}}' }} }}")
    error = world.fail_once()
    assert error.code in ("CMD-CONF-001", "CMD-CONF-002", "CMD-ENG-023")
    assert secret.text not in str(plain(error))
    assert secret.is_in(world.root / "compiled") == []
