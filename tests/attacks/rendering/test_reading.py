"""Reading the user's files into the catalog."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tarfile
from collections.abc import Mapping
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


def all_refused(world: World, secret: Secret, codes: Mapping[str, str], **changes: Any) -> dict[str, CommodoreError]:
    """The error of each instance of a run of many attacks, which is the one expected for it."""
    errors = world.fail(**changes)
    named = {name: [error for error in errors if f"'{name}'" in error.message] for name in codes}
    refusals = {name: [(error.code, error.exit_code) for error in of] for name, of in named.items()}
    assert refusals == {name: [(code, 4)] for name, code in codes.items()}
    assert len(errors) == len(codes)
    assert secret.is_in(world.root) == []
    assert secret.text not in str([[plain(error) for error in errors], world.events])
    return {name: of for name, [of] in named.items()}


def spelt(secret: Secret, world: World, how: str, name: str = "a") -> str:
    """The secret's path as an attacker would write it in a component."""
    link = world.root / "dependencies" / name / "link.yml"
    if how == "link":
        link.symlink_to(secret.path)
        return f"{name}/link.yml"
    if how == "folder":
        link.with_name("folder").symlink_to(secret.path.parent)
        return f"{name}/folder/{secret.path.name}"
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
LISTS = {name: f"std.native('{name}')('%s')" for name in ("dir_files_list", "dir_files_read")}


class Templates:
    """Instances of one run, each with a template that reads one path."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.codes: dict[str, str] = {}

    def new(self, what: str, code: str) -> str:
        """The name of an instance that has a folder, and is to be refused with a code."""
        name = f"{what}-{len(self.codes)}".replace("_", "-")
        self.codes[name] = code
        self.world.add(name, jsonnet(f"{name}/main.jsonnet"))
        return name

    def read(self, name: str, expression: str, path: str) -> None:
        self.world.write(f"dependencies/{name}/main.jsonnet", stealing(expression, path))


@pytest.mark.parametrize("reads", [READS, LISTS], ids=["files", "folders"])
def test_templates(world: World, secret: Secret, reads: Mapping[str, str]) -> None:
    """Each way to read with each way to write the path of a file, and of its folder, of the user."""
    templates, links = Templates(world), list[str]()
    for (read, expression), (how, code) in itertools.product(reads.items(), HOW.items()):
        name = templates.new(read, code)
        if reads is LISTS:
            path = os.path.dirname(spelt(secret, world, "folder" if how == "link" else how, name))
        else:
            path = spelt(secret, world, how, name)
        if how == "link" and reads is READS:
            links.append(name)
        templates.read(name, expression, path)
    if reads is LISTS:
        for read, expression in reads.items():
            name = templates.new(read, LINK)
            spelt(secret, world, "link", name)
            templates.read(name, expression, name)
    errors = all_refused(world, secret, templates.codes)
    for name in links:
        assert str(world.root / f"dependencies/{name}/link.yml") in errors[name].message
        assert str(secret.path) in errors[name].message


def test_the_machine(world: World, secret: Secret) -> None:
    """Files of the kernel, links to them, pipes that nobody writes to."""
    templates = Templates(world)
    for path in ("/proc/self/environ", "/proc/self/cmdline", "/dev/zero", "/dev/stdin"):
        templates.read(templates.new("named", OUTSIDE), READS["importstr"], path)
    for target, read in itertools.product(("/dev/zero", "/proc/self/environ"), ("importstr", "yaml_load")):
        name = templates.new("link", LINK)
        (world.root / f"dependencies/{name}/link.yml").symlink_to(target)
        templates.read(name, READS[read], f"{name}/link.yml")
    for read in READS.keys() - {"file_exists"}:  # which opens nothing
        name = templates.new("pipe", SPECIAL)
        os.mkfifo(world.root / f"dependencies/{name}/pipe.yml")
        templates.read(name, READS[read], f"{name}/pipe.yml")
    all_refused(world, secret, templates.codes)


def test_what_is_the_users_in_the_working_directory(world: World, secret: Secret) -> None:
    """The working directory is a search path."""
    templates = Templates(world)
    private = (".env", ".git/config", "catalog/.git/config", "dependencies/.repos/x/config", ".commodore/state")
    for path, expression in itertools.product(private, READS.values()):
        world.write(f"{path}.yml", "private")
        templates.read(templates.new("private", OUTSIDE), expression, f"{path}.yml")
    all_refused(world, secret, templates.codes)


FILTER_READS = {
    "import": "import '%s'",
    "importstr": "importstr '%s'",
    "yaml_load": "std.native('yaml_load')('%s')",
    "yaml_load_all": "std.native('yaml_load_all')('%s')",
}


def test_filters(world: World, secret: Secret) -> None:
    codes = {}
    definition = {"type": "jsonnet", "filter": "f.jsonnet", "path": "."}

    def add(code: str) -> str:
        name = f"f{len(codes)}"
        codes[name] = code
        world.add(name, commodore={"postprocess": {"filters": [definition]}})
        return name

    for read, how in itertools.product(FILTER_READS, HOW):
        name = add(HOW[how])
        path = spelt(secret, world, how, name)
        if how == "climbing":
            path = os.path.relpath(secret.path, world.root / (f"dependencies/{name}" if "import" in read else ""))
        elif how != "absolute":
            path = str(world.root / "dependencies" / path)
        world.write(f"dependencies/{name}/f.jsonnet", stealing(FILTER_READS[read], path))
    for how in ("absolute", "folder"):
        name = add(HOW[how])
        path = os.path.join(world.root / "dependencies", os.path.dirname(spelt(secret, world, how, name)))
        world.write(f"dependencies/{name}/f.jsonnet", stealing("std.native('list_dir')('%s', true)", path))
    all_refused(world, secret, codes)


def test_inputs(world: World, secret: Secret) -> None:
    codes = {}
    kinds = ("copy", "jinja2", "helm", "kustomize", "cuelang", "jsonnet", "kadet", "external")
    for kind, how in itertools.product(kinds, (*HOW, "in a folder")):
        if how == "in a folder" and kind in ("jsonnet", "external", "kadet"):
            continue  # it is a file, or code
        name = f"{kind}-{how.replace(' ', '-')}"
        entry = {"input_type": kind, "output_path": "out", "input_paths": ["x"], "ignore_missing": False}
        world.add(name, entry)
        path = spelt(secret, world, "link" if how == "in a folder" else how, name)
        if how == "in a folder":
            path = name
        elif kind in ("helm", "kustomize", "cuelang", "kadet"):
            path = os.path.dirname(path) if how != "link" else path
        entry["input_paths"] = [path]
        codes[name] = LINK if how == "in a folder" else HOW[how]
    codes["external-absolute"] = "CMD-CONF-008"  # it would be started
    all_refused(world, secret, codes)


def test_a_folder_of_git_that_is_none_yet(world: World, secret: Secret) -> None:
    """It becomes one in the catalog, by what another entry adds."""
    world.add("a", {"input_type": "copy", "output_path": "out", "input_paths": ["a/x"]})
    world.write("dependencies/a/x/.git/config", "[core]\n\tfsmonitor = touch evil\n")
    refused(world, secret, OUTSIDE)


def test_values_of_charts(world: World, secret: Secret) -> None:
    world.tool("helm", "cat $HOME/* >&2; exit 1")
    for how in HOW:
        entry = {"input_type": "helm", "output_path": "out", "input_paths": [f"{how}/chart"]}
        world.add(how, entry)
        world.write(f"dependencies/{how}/chart/Chart.yaml", "name: x\n")
        path = spelt(secret, world, how, how)
        entry["helm_values_files"] = [path if how == "absolute" else str(world.root / "dependencies" / path)]
    all_refused(world, secret, HOW)


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
