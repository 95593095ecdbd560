"""Everything that the kustomize wrapper builds from counts: folders, bases, remote ones, programs, arguments."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import InputError
from commodore.core.confinement import TrustPolicy
from commodore.core.engine.cache.static_key import WRAPPER
from tests.core.engine.echo import Echo
from tests.core.engine.world import Kept, World, is_reused, jsonnet
from tests.world.repos import git

# As much of kustomize as matters: it writes down all files of a kustomization and of what it names, wherever that lies.
KUSTOMIZE = """
if [ "$1" = version ]; then echo v5.0.0; exit; fi
[ "$1" = build ] || exit 64
shift
input=$1
while [ $# -gt 0 ]; do case $1 in -o) out=$2; shift;; esac; shift; done

fetch() {
  url=${1%%//sub*}; url=${url%%\\?*}; ref=HEAD; inner=.
  case $1 in *\\?ref=*) ref=${1##*\\?ref=};; esac
  case $1 in *//sub*) inner=sub;; esac
  clone=$(mktemp -d)
  (cd "$clone" && git init -q && git remote add origin "$url" && git fetch -q --depth=1 origin "$ref" &&
    git checkout -q FETCH_HEAD) || exit 1
  build "$clone/$inner"
}

get() { PYTHON -c 'import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read())' "$1"; }

build() (
  cd "$1" || exit 1
  cat ./* 2>/dev/null
  sed -n 's/^ *- //p' kustomization.yaml | while read -r name; do
    case $name in
      file://*) fetch "$name";;
      *=http://*|http://*) get "${name#*=}";;
      *) if [ -d "$name" ]; then build "$name"; else cat "$name"; fi;;
    esac
  done
)
mkdir -p "$out"
{ echo "all: |"; build "$input" | sed 's/^/  /'; } > "$out/all.yaml" || exit 1
""".replace("PYTHON", sys.executable)


TRUSTED = TrustPolicy(kustomize_options=("app",), shell=("app",))


def entry(source: str, *arguments: str, **variables: str) -> dict[str, Any]:
    return {
        "input_type": "external",
        "input_paths": [str(WRAPPER)],
        "output_path": ".",
        "args": ["${compiled_target_dir}/out", *arguments],
        "env_vars": {"INPUT_DIR": source, **variables},
    }


def fill(world: World, *lines: str, key: str = "resources", arguments: tuple[str, ...] = (), **variables: str) -> World:
    """An instance with one kustomization, whose list has these entries."""
    world.tool("kustomize", KUSTOMIZE)
    world.environment["HOME"] = str(world.root / "home")
    world.add("app", entry(str(world.root / "dependencies/app/over"), *arguments, **variables))
    world.write(
        "dependencies/app/over/kustomization.yaml", "\n".join([f"{key}:", *(f"- {line}" for line in lines), ""])
    )
    world.write("dependencies/app/over/patch.yaml", "patch: 1\n")
    world.write("dependencies/app/base/kustomization.yaml", "resources:\n- ../deep\n")
    world.write("dependencies/app/base/one.yaml", "one: 1\n")
    world.write("dependencies/app/deep/kustomization.yaml", "resources:\n- two.yaml\n")
    world.write("dependencies/app/deep/two.yaml", "two: 1\n")
    return world


MISSES: dict[str, Callable[[World], object]] = {
    "the kustomization": lambda w: w.write("dependencies/app/over/kustomization.yaml", "resources:\n- ../deep\n"),
    "a file nearby it": lambda w: w.write("dependencies/app/over/patch.yaml", "patch: 2\n"),
    "a new file": lambda w: w.write("dependencies/app/over/other.yaml", "x: 2\n"),
    "a base": lambda w: w.write("dependencies/app/base/one.yaml", "one: 2\n"),
    "the base of a base": lambda w: w.write("dependencies/app/deep/two.yaml", "two: 2\n"),
    "the program": lambda w: w.tool("kustomize", KUSTOMIZE.replace("all:", "everything:")),
    "the preferences of kubectl": lambda w: w.write("home/.kube/kuberc", "x"),
    "a variable of kustomize's": lambda w: w.environment.update(KUSTOMIZE_PLUGIN_HOME="/x"),
}


LISTS = ("resources", "components", "generators", "transformers", "validators")


@pytest.mark.parametrize("key", LISTS)
def test_what_is_built_from_counts(kept: Kept, tmp_path: Path, key: str) -> None:
    """All changes for one of the lists that name files, and for the others a change of what they name."""
    assert not is_reused(fill(kept.world(tmp_path / "one"), "../base", key=key))
    reused = []
    for number, (change, do) in enumerate(MISSES.items()):
        if key == LISTS[0] or change.startswith(("a base", "the base")):
            world = fill(kept.world(tmp_path / str(number)), "../base", key=key)
            do(world)
            if is_reused(world):
                reused.append(change)
    assert reused == []
    assert is_reused(fill(kept.world(tmp_path / "far" / "away"), "../base", key=key))


@pytest.mark.parametrize(("line", "kept_again"), [("HOME", False), (" A=1\nB", False), ("# HOME\n\nA=1=2\n", True)])
@pytest.mark.parametrize("field", ["env: file.env", "envs: [file.env]"])
def test_variables_that_kustomize_takes_from_the_environment(
    kept: Kept, tmp_path: Path, field: str, line: str, kept_again: bool
) -> None:
    world = fill(kept.world(tmp_path / "one"), "../base")
    world.write("dependencies/app/base/kustomization.yaml", f"secretGenerator:\n- name: a\n  {field}\n")
    world.write("dependencies/app/base/file.env", line)
    assert not is_reused(world)
    assert is_reused(world) is kept_again


def test_what_is_not_built_from_does_not_count(kept: Kept, tmp_path: Path) -> None:
    world = fill(kept.world(tmp_path / "one"), "../base")
    assert not is_reused(world)
    world.write("dependencies/app/other/one.yaml", "unread")
    world.nodes["app"]["parameters"]["more"] = 1
    assert is_reused(world)


@pytest.mark.parametrize(
    "output",
    [
        "${compiled_target_dir}/out --enable-helm",
        "${compiled_target_dir}/out '--enable-helm'",
    ],
)
def test_the_output_folder_hides_no_arguments(kept: Kept, tmp_path: Path, output: str) -> None:
    """The entry's words go through a shell: one of them may be several."""
    world = fill(kept.world(tmp_path / "one"), "../base")
    world.nodes["app"]["parameters"]["kapitan"]["compile"][0]["args"] = [output]
    for _ in range(2):
        assert not is_reused(world, policy=TRUSTED)
    assert world.fail_once().code == "CMD-CONF-004"


@pytest.mark.parametrize("argument", ["--enable-helm", "--load-restrictor=LoadRestrictionsNone", "--reorder=none;x"])
def test_arguments_that_lead_elsewhere(kept: Kept, tmp_path: Path, argument: str) -> None:
    world = fill(kept.world(tmp_path / "one"), "../base", arguments=(argument.partition(";")[0],))
    assert not is_reused(world, policy=TRUSTED)
    assert is_reused(world, policy=TRUSTED) is (argument.startswith("--reorder"))


def test_variables_that_choose_another_program_or_remote(kept: Kept, tmp_path: Path) -> None:
    world = fill(kept.world(tmp_path / "one"), "../base", PATH=f"{tmp_path}/one/mine:/usr/bin:/bin")
    world.write("mine/kustomize", f"#!/bin/sh\n{KUSTOMIZE}", executable=True)
    assert not is_reused(world, policy=TRUSTED)
    world.write("mine/kustomize", f"#!/bin/sh\n{KUSTOMIZE.replace('all:', 'others:')}", executable=True)
    assert not is_reused(world, policy=TRUSTED)
    assert world.read("app/out/all.yaml").startswith("others")


def test_a_base_that_is_nothing_known(kept: Kept, tmp_path: Path) -> None:
    world = fill(kept.world(tmp_path / "one"), "someone@host.example.com:repo")
    world.tool("kustomize", KUSTOMIZE.replace('else cat "$name"', "else true"))
    assert not is_reused(world)
    assert not is_reused(world)


@pytest.mark.parametrize("text", ["path: https://example.com/x", "path: patch.yaml"])
def test_plugins_that_may_read_from_afar(kept: Kept, tmp_path: Path, text: str) -> None:
    world = fill(kept.world(tmp_path / "one"), "plugin.yaml", key="transformers")
    world.write("dependencies/app/over/plugin.yaml", text)
    assert not is_reused(world)
    assert is_reused(world) is ("://" not in text)


def test_a_folder_that_changes_while_it_is_built_is_not_kept(kept: Kept, tmp_path: Path) -> None:
    world = fill(kept.world(tmp_path / "one"), "../base")
    file = world.root / "dependencies/app/base/one.yaml"
    world.tool("kustomize", f"{KUSTOMIZE}\necho 'one: 2' > {file}")
    assert not is_reused(world)
    assert not is_reused(world)


def test_a_generated_kustomization(kept: Kept, tmp_path: Path) -> None:
    """One that an earlier entry makes from parameters, as components do; its bases are outside."""
    world = fill(kept.world(tmp_path / "one"), "../base")
    world.write(
        "dependencies/app/main.jsonnet",
        """
        local inv = (import 'lib/kapitan.libjsonnet').inventory();
        { kustomization: { resources: ['../base'], labels: inv.parameters.app.labels } }
        """,
    )
    parameters = world.nodes["app"]["parameters"]
    parameters["app"] = {"labels": {"a": "b"}, "unread": 1}
    generated = f"{world.root}/dependencies/app/generated"
    parameters["kapitan"]["compile"] = [jsonnet("app/main.jsonnet", generated, output_type="yaml"), entry(generated)]
    assert not is_reused(world)
    assert is_reused(world)
    parameters["app"]["unread"] = 2
    Path(generated, "kustomization.yaml").write_text("what another run has left\n")
    assert is_reused(world)
    parameters["app"]["labels"]["a"] = "c"
    assert not is_reused(world)
    assert "a: c" in world.read("app/out/all.yaml")
    world.write("dependencies/app/base/one.yaml", "one: 2\n")
    assert not is_reused(world)
    Path(generated, "other.yaml").write_text("what somebody has put there\n")
    assert not is_reused(world)


# Remote bases


def commit(folder: Path, text: str, **files: str) -> str:
    (folder / "sub").mkdir(parents=True, exist_ok=True)
    (folder / "kustomization.yaml").write_text("resources:\n- sub\n")
    (folder / "sub" / "kustomization.yaml").write_text("resources:\n- file.yaml\n")
    (folder / "sub" / "file.yaml").write_text(text)
    for name, content in files.items():
        (folder / "sub" / f"{name}.yaml").write_text(content)
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
        git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "change")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    folder = tmp_path / "remote"
    commit(folder, "text: 1\n")
    git(folder, "tag", "v1")
    return folder


@pytest.mark.parametrize("ref", ["", "?ref=main", "?ref=v1", "//sub?ref=v1"])
def test_a_ref_that_moves(kept: Kept, tmp_path: Path, remote: Path, ref: str) -> None:
    world = fill(kept.world(tmp_path / "one"), f"file://{remote}{ref}")
    assert not is_reused(world)
    assert is_reused(fill(kept.world(tmp_path / "two"), f"file://{remote}{ref}"))
    commit(remote, "text: 2\n")
    git(remote, "tag", "-f", "v1")
    assert not is_reused(world)
    assert "text: 2" in world.read("app/out/all.yaml")
    assert is_reused(world)


def test_an_error_names_the_git_of_the_user(kept: Kept, tmp_path: Path) -> None:
    """Not the one that keeps what is fetched: with the cache and without it, the words are the same."""
    world = fill(kept.world(tmp_path / "one"), "../base")
    failing = 'echo "error: failed to run $(command -v git) fetch" >&2; exit 1'
    world.tool("kustomize", KUSTOMIZE.replace("shift\ninput", f"{failing}\ninput"))
    with pytest.raises(InputError, match=f"failed to run {shutil.which('git')} fetch"):
        world.compile()


def test_a_commit_is_what_it_is(kept: Kept, tmp_path: Path, remote: Path) -> None:
    first = git(remote, "rev-parse", "HEAD")
    world = fill(kept.world(tmp_path / "one"), f"file://{remote}?ref={first}")
    assert not is_reused(world)
    commit(remote, "text: 2\n")
    assert is_reused(world)
    assert "text: 1" in world.read("app/out/all.yaml")


def test_a_remote_base_of_a_remote_base(kept: Kept, tmp_path: Path, remote: Path) -> None:
    outer = tmp_path / "outer"
    commit(outer, "outer\n", kustomization=f"resources:\n- file://{remote}?ref=v1\n")
    fixed = git(outer, "rev-parse", "HEAD")
    world = fill(kept.world(tmp_path / "one"), f"file://{outer}?ref={fixed}")
    assert not is_reused(world)
    assert is_reused(world)
    commit(remote, "text: 2\n")
    git(remote, "tag", "-f", "v1")
    assert not is_reused(world)
    assert "text: 2" in world.read("app/out/all.yaml")


@pytest.mark.parametrize("name", ["URL", "../base", "named=URL"])
def test_a_manifest_of_a_web_server(kept: Kept, tmp_path: Path, echo: Echo, name: str) -> None:
    key = "files" if "=" in name else "resources"
    world = fill(kept.world(tmp_path / "one"), name.replace("URL", f"{echo.url}/one.yaml"), key=key)
    if name == "../base":
        text = f"resources:\n- {echo.url}/one.yaml\n"
        world.write("dependencies/app/base/kustomization.yaml", text)
    assert not is_reused(world)
    assert is_reused(world)
    echo.content = b"other"
    assert not is_reused(world)
    assert "other" in world.read("app/out/all.yaml")


def test_a_remote_file_without_a_known_name(kept: Kept, tmp_path: Path, echo: Echo) -> None:
    world = fill(kept.world(tmp_path / "one"), f"{echo.url}/one")
    assert not is_reused(world)
    assert not is_reused(world)


@pytest.mark.parametrize("name", ["URL/a b.yaml", "SHOUTED/one.yaml"])
def test_patches_of_a_web_server(kept: Kept, tmp_path: Path, echo: Echo, name: str) -> None:
    """Kustomize takes blanks in a URL, and any spelling of its scheme."""
    url = name.replace("URL", echo.url).replace("SHOUTED", echo.url.replace("http", "HTTP"))
    world = fill(kept.world(tmp_path / "one"), "../base")
    world.write("dependencies/app/over/kustomization.yaml", f"patches:\n- path: {url}\n")
    world.tool("kustomize", KUSTOMIZE.replace("cat ./* ", f"get '{url.replace(' ', '%20')}'; cat ./* "))
    assert not is_reused(world)
    echo.content = b"other"
    assert not is_reused(world)
    assert "other" in world.read("app/out/all.yaml")


def test_a_query_is_not_kept(kept: Kept, tmp_path: Path, echo: Echo) -> None:
    """It may be what lets somebody in."""
    world = fill(kept.world(tmp_path / "one"), f"{echo.url}/one.yaml?token=secret")
    assert not is_reused(world)
    assert not is_reused(world)
    for file in (*kept.results.rglob("*.*"), *(world.root / ".commodore/records").glob("*")):
        assert b"secret" not in file.read_bytes()


def test_a_credential_behind_a_prefix_is_not_kept(kept: Kept, tmp_path: Path, remote: Path) -> None:
    url = "https://someone:secret@git.example.com/r"
    world = fill(kept.world(tmp_path / "one"), f"git::{url}?ref=v1")
    world.write("home/.gitconfig", f'[url "file://{remote}"]\n  insteadOf = {url}\n')
    script = KUSTOMIZE.replace("file://*) fetch", "git::*) fetch").replace('fetch "$name"', 'fetch "${name#git::}"')
    world.tool("kustomize", script)
    assert not is_reused(world)
    assert "text: 1" in world.read("app/out/all.yaml")
    assert not is_reused(world)
    for file in (*kept.results.rglob("*.*"), *(world.root / ".commodore/records").glob("*")):
        assert b"secret" not in file.read_bytes()


def test_bases_beside_the_folder_that_a_link_leads_to(kept: Kept, tmp_path: Path) -> None:
    """Kustomize follows the link before it looks for `../base`."""
    world = fill(kept.world(tmp_path / "one"), "../base")
    app = world.root / "dependencies/app"
    world.tool("kustomize", KUSTOMIZE.replace('cd "$1"', 'cd -P "$1"'))
    world.write("dependencies/app/far/base/kustomization.yaml", "resources: []\n")
    world.write("dependencies/app/far/base/one.yaml", "far: 1\n")
    (app / "over").rename(app / "far/over")
    (app / "over").symlink_to("far/over")
    assert not is_reused(world)
    world.write("dependencies/app/far/base/one.yaml", "far: 2\n")
    assert not is_reused(world)
    assert "far: 2" in world.read("app/out/all.yaml")
