"""Reading the user's files into the catalog."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from commodore.base.documents import plain
from commodore.base.errors import CommodoreError
from commodore.base.events import Warned
from tests.attacks.conftest import Secret
from tests.core.engine.world import World, jsonnet
from tests.world.loopback import LoopbackHandler, LoopbackServer

OUTSIDE, LINK, SPECIAL = "CMD-CONF-001", "CMD-CONF-002", "CMD-CONF-003"


def refused(world: World, secret: Secret, code: str, **changes: Any) -> CommodoreError:
    """The one error. The secret is neither in the workspace nor in what a user is shown."""
    error = world.fail_once(**changes)
    assert (error.code, error.exit_code) == (code, 4)
    assert secret.is_in(world.root) == []
    assert secret.text not in str([plain(error), world.events])
    return error


def spelt(secret: Secret, world: World, how: str) -> str:
    """The secret's path as an attacker would write it."""
    link = world.root / "dependencies" / "a" / "link.yml"
    if how == "link":
        link.symlink_to(secret.path)
        return "a/link.yml"
    if how == "folder":
        link.with_name("folder").symlink_to(secret.path.parent)
        return f"a/folder/{secret.path.name}"
    if how == "climbing":
        return os.path.relpath(secret.path, world.root / "dependencies")
    return str(secret.path)


def stealing(expression: str, path: str) -> str:
    """A Jsonnet file whose output holds what an expression gives for a path."""
    return "{ out: { stolen: PART } }".replace("PART", expression.replace("%s", path))


HOW = {"absolute": OUTSIDE, "climbing": OUTSIDE, "link": LINK, "folder": LINK}
READS = {
    "import": "import '%s'",
    "importstr": "importstr '%s'",
    "importbin": "importbin '%s'",
    "file_read": "std.native('file_read')('%s')",
    "file_exists": "std.native('file_exists')('%s')",
    "yaml_load": "std.native('yaml_load')('%s')",
    "yaml_load_stream": "std.native('yaml_load_stream')('%s')",
    "jinja2": "std.native('jinja2_render_file')('%s', '{}')",
}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("read", READS)
def test_templates(world: World, secret: Secret, read: str, how: str) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    world.write("dependencies/a/main.jsonnet", stealing(READS[read], spelt(secret, world, how)))
    error = refused(world, secret, HOW[how])
    if how == "link":
        assert str(world.root / "dependencies/a/link.yml") in error.message
        assert str(secret.path) in error.message


@pytest.mark.parametrize("function", ["dir_files_list", "dir_files_read"])
@pytest.mark.parametrize("how", HOW)
def test_folders(world: World, secret: Secret, function: str, how: str) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    path = os.path.dirname(spelt(secret, world, "folder" if how == "link" else how))
    world.write("dependencies/a/main.jsonnet", f"{{ out: {{ stolen: std.native('{function}')('{path}') }} }}")
    refused(world, secret, HOW[how])


@pytest.mark.parametrize("function", ["dir_files_list", "dir_files_read"])
def test_a_link_in_a_folder(world: World, secret: Secret, function: str) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    spelt(secret, world, "link")
    world.write("dependencies/a/main.jsonnet", f"{{ out: {{ stolen: std.native('{function}')('a') }} }}")
    refused(world, secret, LINK)


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/self/cmdline", "/dev/zero", "/dev/stdin"])
def test_the_machine(world: World, secret: Secret, path: str) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    world.write("dependencies/a/main.jsonnet", f"{{ out: {{ stolen: importstr '{path}' }} }}")
    refused(world, secret, OUTSIDE)


@pytest.mark.parametrize("target", ["/dev/zero", "/proc/self/environ"])
@pytest.mark.parametrize("read", ["importstr", "yaml_load"])
def test_links_to_the_machine(world: World, secret: Secret, target: str, read: str) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    (world.root / "dependencies/a/link.yml").symlink_to(target)
    world.write("dependencies/a/main.jsonnet", stealing(READS[read], "a/link.yml"))
    refused(world, secret, LINK)


@pytest.mark.parametrize("read", READS)
def test_a_pipe_without_a_writer(world: World, secret: Secret, read: str) -> None:
    if read == "file_exists":
        pytest.skip("it is not opened")
    world.add("a", jsonnet("a/main.jsonnet"))
    os.mkfifo(world.root / "dependencies/a/pipe.yml")
    world.write("dependencies/a/main.jsonnet", stealing(READS[read], "a/pipe.yml"))
    refused(world, secret, SPECIAL)


@pytest.mark.parametrize(
    "path", [".env", ".git/config", "catalog/.git/config", "dependencies/.repos/x/config", ".commodore/state"]
)
@pytest.mark.parametrize("read", READS)
def test_what_is_the_users_in_the_working_directory(world: World, secret: Secret, path: str, read: str) -> None:
    """The working directory is a search path."""
    world.add("a", jsonnet("a/main.jsonnet"))
    name = path + ".yml"
    world.write(name, "private")
    world.write("dependencies/a/main.jsonnet", stealing(READS[read], name))
    refused(world, secret, OUTSIDE)


FILTER_READS = {
    "import": "import '%s'",
    "importstr": "importstr '%s'",
    "yaml_load": "std.native('yaml_load')('%s')",
    "yaml_load_all": "std.native('yaml_load_all')('%s')",
}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("read", FILTER_READS)
def test_filters(world: World, secret: Secret, read: str, how: str) -> None:
    definition = {"type": "jsonnet", "filter": "f.jsonnet", "path": "."}
    world.add("a", commodore={"postprocess": {"filters": [definition]}})
    path = spelt(secret, world, how)
    if how == "climbing":
        path = os.path.relpath(secret.path, world.root / ("dependencies/a" if "import" in read else ""))
    elif how != "absolute":
        path = str(world.root / "dependencies" / path)
    world.write("dependencies/a/f.jsonnet", stealing(FILTER_READS[read], path))
    refused(world, secret, HOW[how])


@pytest.mark.parametrize("how", ["absolute", "folder"])
def test_folders_in_filters(world: World, secret: Secret, how: str) -> None:
    definition = {"type": "jsonnet", "filter": "f.jsonnet", "path": "."}
    world.add("a", commodore={"postprocess": {"filters": [definition]}})
    path = os.path.join(world.root / "dependencies", os.path.dirname(spelt(secret, world, how)))
    world.write("dependencies/a/f.jsonnet", f"{{ out: {{ stolen: std.native('list_dir')('{path}', true) }} }}")
    refused(world, secret, HOW[how])


@pytest.mark.parametrize("how", [*HOW, "in a folder"])
@pytest.mark.parametrize("kind", ["copy", "jinja2", "helm", "kustomize", "cuelang", "jsonnet", "kadet", "external"])
def test_inputs(world: World, secret: Secret, kind: str, how: str) -> None:
    entry = {"input_type": kind, "output_path": "out", "input_paths": ["x"], "ignore_missing": False}
    world.add("a", entry)
    path = spelt(secret, world, "link" if how == "in a folder" else how)
    if how == "in a folder":
        if kind in ("jsonnet", "external", "kadet"):
            pytest.skip("it is a file, or code")
        path = "a"
    elif kind in ("helm", "kustomize", "cuelang", "kadet"):
        path = os.path.dirname(path) if how != "link" else path
    entry["input_paths"] = [path]
    if (kind, how) == ("external", "absolute"):
        refused(world, secret, "CMD-CONF-008")  # it would be started
    else:
        refused(world, secret, LINK if how == "in a folder" else HOW[how])


def test_a_folder_of_git_that_is_none_yet(world: World, secret: Secret) -> None:
    """It becomes one in the catalog, by what another entry adds."""
    world.add("a", {"input_type": "copy", "output_path": "out", "input_paths": ["a/x"]})
    world.write("dependencies/a/x/.git/config", "[core]\n\tfsmonitor = touch evil\n")
    refused(world, secret, OUTSIDE)


@pytest.mark.parametrize("how", HOW)
def test_values_of_charts(world: World, secret: Secret, how: str) -> None:
    entry = {"input_type": "helm", "output_path": "out", "input_paths": ["a/chart"]}
    world.add("a", entry)
    world.write("dependencies/a/chart/Chart.yaml", "name: x\n")
    world.tool("helm", "cat $HOME/* >&2; exit 1")
    path = spelt(secret, world, how)
    entry["helm_values_files"] = [path if how == "absolute" else str(world.root / "dependencies" / path)]
    refused(world, secret, HOW[how])


@pytest.mark.harmless
@pytest.mark.parametrize("name", ["v.yaml,{secret}", 'v.yaml,"{secret}"', 'v.yaml"{secret}'])
def test_values_that_are_several_files(world: World, secret: Secret, name: str) -> None:
    """Helm takes the option for a list; a folder `v.yaml,` makes it one file to all others."""
    file = world.write(f"dependencies/a/{name.format(secret=secret.path)}", "b: 1\n")
    world.write("dependencies/a/v.yaml", "b: 2\n")
    world.write("dependencies/a/chart/Chart.yaml", "apiVersion: v2\nname: x\nversion: 1.0.0\n")
    world.write("dependencies/a/chart/templates/a.yaml", "kind: A\nvalues: {{ toJson .Values }}\n")
    world.add(
        "a", {"input_type": "helm", "output_path": ".", "input_paths": ["a/chart"], "helm_values_files": [str(file)]}
    )
    world.compile(environment={"PATH": os.environ["PATH"]})
    assert world.read("a/x/templates/a.yaml") == "kind: A\nvalues:\n  b: 1\n"


@pytest.mark.harmless
@pytest.mark.parametrize("place", ["chart", "chart in it", "packed chart in it"])
@pytest.mark.parametrize("target", ["server", "file"])
def test_a_schema_of_values_that_refers_elsewhere(world: World, secret: Secret, place: str, target: str) -> None:
    """With a helm that has no option to leave the schema out, as before 3.16."""
    helm, asked = shutil.which("helm"), list[str]()
    world.tool("helm", f'case "$*" in *--skip-schema*) echo "Error: unknown flag" >&2; exit 1;; esac\nexec {helm} "$@"')

    class Listener(LoopbackHandler):
        def answer(self) -> None:
            asked.append(self.path)
            self.send(200, body=b"{}")

    (secret.path.parent / "s.json").write_text(json.dumps({"const": secret.text}))
    with LoopbackServer(Listener) as server:
        reference = f"{server.site}/s.json" if target == "server" else f"file://{secret.path.parent}/s.json"
        for folder in ("chart", "chart/charts/y"):
            name = "x" if folder == "chart" else "y"
            world.write(f"dependencies/a/{folder}/Chart.yaml", f"apiVersion: v2\nname: {name}\nversion: 1.0.0\n")
        folder = "chart" if place == "chart" else "chart/charts/y"
        schema = json.dumps({"properties": {"b": {"$ref": reference}}})
        world.write(f"dependencies/a/{folder}/values.schema.json", schema)
        world.write(f"dependencies/a/{folder}/values.yaml", "b: 1\n")
        world.add("a", {"input_type": "helm", "output_path": ".", "input_paths": ["a/chart"]})
        packed = world.root / "dependencies" / "a" / "chart" / "charts" / "y"
        if place.startswith("packed"):
            world.write("dependencies/a/chart/charts/y/templates/y.yaml", "kind: Y\n")
            with tarfile.open(f"{packed}-1.0.0.tgz", "w:gz") as archive:
                archive.add(packed, "y")
            shutil.rmtree(packed)
        world.compile()
        assert any((world.root / "compiled").rglob("y.yaml")) == place.startswith("packed")
    assert asked == []
    assert [event.code for event in world.events if isinstance(event, Warned)] == ["CMD-CONF-014"]
    assert secret.text not in str(world.events)


@pytest.mark.harmless
def test_links_inside_of_a_repository_are_allowed(world: World) -> None:
    world.add("a", jsonnet("a/main.jsonnet"), {"input_type": "copy", "output_path": "c", "input_paths": ["a/folder"]})
    world.write("dependencies/a/real/x.yml", "a: 1\n")
    (world.root / "dependencies/a/folder").mkdir()
    (world.root / "dependencies/a/folder/link.yml").symlink_to("../real/x.yml")
    world.write("dependencies/a/main.jsonnet", "{ out: { x: std.native('file_read')('a/folder/link.yml') } }")
    world.compile()
    assert world.read("a/out.yaml") == "x: |\n  a: 1\n"
    assert world.read("a/c/link.yml") == "a: 1\n"


def test_remote_references_of_a_schema(world: World, secret: Secret) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    schema = '{"$ref": "http://127.0.0.1:9/schema.json"}'
    world.write("dependencies/a/main.jsonnet", f"std.native('jsonschema_validate')('{{}}', '{schema}')")
    refused(world, secret, "CMD-CONF-005")


@pytest.mark.parametrize("scheme", ["file://", ""])
def test_local_references_of_a_schema(world: World, secret: Secret, scheme: str) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    schema = json.dumps({"$ref": f"{scheme}{secret.path}"})
    world.write("dependencies/a/main.jsonnet", f"std.native('jsonschema_validate')('{{}}', '{schema}')")
    refused(world, secret, "CMD-CONF-005")


def test_a_pattern_of_a_template(world: World, secret: Secret) -> None:
    world.add("a", {"input_type": "jinja2", "output_path": ".", "input_paths": ["a/t.txt"]})
    world.write("dependencies/a/t.txt", f"{{{{ '{secret.path.parent}/*' | fileglob }}}}")
    refused(world, secret, OUTSIDE)


@pytest.mark.parametrize("how", ["absolute", "climbing", "link"])
def test_an_included_template(world: World, secret: Secret, how: str) -> None:
    world.add("a", {"input_type": "jinja2", "output_path": ".", "input_paths": ["a/t.txt"]})
    path = spelt(secret, world, how)
    world.write("dependencies/a/t.txt", f"{{% include '{path}' %}}")
    if how == "link":
        refused(world, secret, LINK)
        return
    error = world.fail_once()  # jinja itself takes no such names
    assert error.code == "CMD-ENG-021"
    assert secret.is_in(world.root) == []


def test_a_folder_that_is_swapped_for_a_link(world: World, secret: Secret, tmp_path: Path) -> None:
    """Between the look at a file and its use: what counts is the file that was opened."""
    world.add(
        "a",
        {"input_type": "external", "output_path": ".", "input_paths": ["a/swap"]},
        jsonnet("a/main.jsonnet"),
    )
    world.write("dependencies/a/data/credentials.yml", "mine: true\n")
    folder = world.root / "dependencies/a/data"
    world.write(
        "dependencies/a/swap",
        f"#!/bin/sh\nmv {folder} {folder}-old\nln -s {secret.path.parent} {folder}\n",
        executable=True,
    )
    world.write("dependencies/a/main.jsonnet", "{ out: { x: importstr 'data/credentials.yml' } }")
    refused(world, secret, LINK)
