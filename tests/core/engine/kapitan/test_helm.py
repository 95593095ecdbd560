"""Everything that a chart is rendered from counts, and nothing else does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commodore.core.confinement import TrustPolicy
from tests.core.engine.world import Kept, World, is_reused

# Writes what a chart could write down: its files, the values, the arguments, the namespace of the user's context.
HELM = """
if [ "$1" = version ]; then echo 3.0.0; exit; fi
[ "$1" = template ] || exit 64
namespace=$(sed -n 's/^ *namespace: //p' "${KUBECONFIG:-$HOME/.kube/config}" 2>/dev/null | head -n 1)
shift
args=
values=
while [ $# -gt 0 ]; do
  case $1 in
    --output-dir) out=$2; shift;;
    --values) values="$values $2"; shift;;
    --namespace) namespace=$2; shift;;
    --*) args="$args $1";;
    *) chart=$1;;
  esac
  shift
done
mkdir -p "$out/c"
{ echo "args: '$args $HELM_OPTION'"; echo "namespace: '$namespace'"; echo "sum: |"
  (cat $values; cd "$chart"; find -L . -type f -exec cat {} + | sort) | sed 's/^/  /'; } > "$out/c/a.yaml"
"""


ALL_OPTIONS = TrustPolicy(helm_options=("app",))


def entry(**fields: Any) -> dict[str, Any]:
    return {"input_type": "helm", "input_paths": ["app/chart"], "output_path": "out", **fields}


def settings(world: World) -> dict[str, Any]:
    entry: dict[str, Any] = world.nodes["app"]["parameters"]["kapitan"]["compile"][0]
    return entry


def fill(world: World, **fields: Any) -> World:
    world.tool("helm", HELM)
    world.environment["HOME"] = str(world.root / "home")
    parameters: dict[str, Any] = {"helm_params": {"name": "r"}, "helm_values": {"v": 1}, **fields}
    world.add("app", entry(helm_values_files=["dependencies/app/more.yaml"], **parameters), unread=1)
    world.write("dependencies/app/more.yaml", "more: 1\n")
    world.write("dependencies/app/chart/Chart.yaml", "name: chart\n")
    world.write("dependencies/app/chart/templates/one.yaml", "one\n")
    world.write("dependencies/app/README.md", "unread")
    world.write("dependencies/elsewhere/file", "elsewhere")
    return world


def kubeconfig(world: World, namespace: str, path: str = "home/.kube/config", token: str = "t") -> Path:
    context = {"name": "c", "context": {"namespace": namespace}}
    config = {"current-context": "c", "contexts": [context], "users": [{"name": "u", "user": {"token": token}}]}
    return world.write(path, json.dumps(config, indent=1).replace('"', ""))


MISSES: dict[str, Callable[[World], object]] = {
    "a template": lambda w: w.write("dependencies/app/chart/templates/one.yaml", "two\n"),
    "a new file": lambda w: w.write("dependencies/app/chart/templates/two.yaml", "two\n"),
    "a hidden file": lambda w: w.write("dependencies/app/chart/.git/config", "x\n"),
    "a file behind a link": lambda w: (w.root / "dependencies/app/chart/link").symlink_to("../../elsewhere/file"),
    "values": lambda w: settings(w).update(helm_values={"v": 2}),
    "a file of values": lambda w: w.write("dependencies/app/more.yaml", "more: 2\n"),
    "an argument": lambda w: settings(w)["helm_params"].update(no_hooks=True),
    "the binary": lambda w: w.tool("helm", HELM.replace("args:", "arguments:")),
    "a binary that comes first": lambda w: (
        w.write("first/helm", "#!/bin/sh\n# first" + HELM, executable=True),
        w.environment.update(PATH=f"{w.root}/first:{w.environment['PATH']}"),
    ),
    "a variable of helm's": lambda w: w.environment.update(HELM_OPTION="x"),
    "the namespace of the user's context": lambda w: kubeconfig(w, "mine"),
    "another configuration of Kubernetes": lambda w: (
        kubeconfig(w, "mine", "other"),
        w.environment.update(KUBECONFIG=f"{w.root}/other"),
    ),
    "another home": lambda w: (
        kubeconfig(w, "mine", "moved/.kube/config"),
        w.environment.update(HOME=f"{w.root}/moved"),
    ),
}
HITS: dict[str, Callable[[World], object]] = {
    "nothing": lambda w: None,
    "a file nearby the chart": lambda w: w.write("dependencies/app/README.md", "still unread"),
    "a parameter": lambda w: w.nodes["app"]["parameters"].update(unread=2),
    "a variable of somebody else's": lambda w: w.environment.update(OTHER="x"),
    "a mode that nobody sees": lambda w: (w.root / "dependencies/app/chart/Chart.yaml").chmod(0o600),
}


@pytest.mark.parametrize("change", MISSES, ids=str)
def test_what_a_chart_reads_counts(kept: Kept, tmp_path: Path, change: str) -> None:
    world = fill(kept.world(tmp_path / "one"))
    assert not is_reused(world)
    assert is_reused(world)
    MISSES[change](world)
    assert not is_reused(world)


@pytest.mark.parametrize("change", HITS, ids=str)
def test_what_a_chart_does_not_read(kept: Kept, tmp_path: Path, change: str) -> None:
    world = fill(kept.world(tmp_path / "one"))
    assert not is_reused(world)
    HITS[change](world)
    assert is_reused(world)
    other = fill(kept.world(tmp_path / "far" / "away"))
    assert is_reused(other)


def test_a_file_behind_a_link_counts(kept: Kept, tmp_path: Path) -> None:
    world = fill(kept.world(tmp_path / "one"))
    (world.root / "dependencies/app/chart/link").symlink_to("../../elsewhere/file")
    assert not is_reused(world)
    assert is_reused(world)
    world.write("dependencies/elsewhere/file", "changed")
    assert not is_reused(world)


def test_a_dangling_link_hides_no_change(kept: Kept, tmp_path: Path) -> None:
    """A folder with a link that leads nowhere is not simply `unreadable`, whatever else it holds."""
    world = fill(kept.world(tmp_path / "one"))
    (world.root / "dependencies/app/chart/link").symlink_to("nowhere")
    assert not is_reused(world)
    assert is_reused(world)
    world.write("dependencies/app/chart/templates/one.yaml", "two\n")
    assert not is_reused(world)


def test_a_chart_with_its_own_namespace_does_not_ask_for_the_context(kept: Kept, tmp_path: Path) -> None:
    world = fill(kept.world(tmp_path / "one"), helm_params={"name": "r", "namespace": "n"})
    assert not is_reused(world)
    kubeconfig(world, "mine")
    assert is_reused(world)


def test_a_login_to_a_cluster_is_no_change(kept: Kept, tmp_path: Path) -> None:
    """Tokens are renewed all the time."""
    world = fill(kept.world(tmp_path / "one"))
    kubeconfig(world, "mine", token="old")
    assert not is_reused(world)
    kubeconfig(world, "mine", token="new")
    assert is_reused(world)
    assert "mine" in world.read("app/out/c/a.yaml")


@pytest.mark.parametrize("file", ["https://example.com/values.yaml", "-"])
def test_values_from_elsewhere_are_not_kept(kept: Kept, tmp_path: Path, file: str) -> None:
    world = fill(kept.world(tmp_path / "one"))
    world.tool("helm", HELM.replace("cat $values", "true"))
    settings(world)["helm_values_files"] = [file]
    for _ in range(2):
        assert not is_reused(world, policy=ALL_OPTIONS)


def test_a_helm_that_is_replaced_while_it_runs_is_not_kept(kept: Kept, tmp_path: Path) -> None:
    world = fill(kept.world(tmp_path / "one"))
    swap = '[ -e "$0.new" ] && mv "$0.new" "$0"\n'  # when it is asked for its version
    world.tool("helm", swap + HELM)
    world.write("bin/helm.new", "#!/bin/sh" + HELM.replace("args:", "arguments:"), executable=True)
    assert not is_reused(world)
    assert "arguments:" in world.read("app/out/c/a.yaml")
    world.tool("helm", swap + HELM)
    assert not is_reused(world)
    assert "arguments:" not in world.read("app/out/c/a.yaml")


@pytest.mark.parametrize("parameter", ["post_renderer", "validate", "something_new"])
def test_parameters_that_lead_elsewhere_are_not_kept(kept: Kept, tmp_path: Path, parameter: str) -> None:
    world = fill(kept.world(tmp_path / "one"), helm_params={"name": "r", parameter: True})
    for _ in range(2):
        assert not is_reused(world, policy=ALL_OPTIONS)


def test_what_gives_helm_no_option_needs_no_trust(kept: Kept, tmp_path: Path) -> None:
    """Kapitan leaves out a switch that is off, and `helm` is what is run anyway."""
    world = fill(kept.world(tmp_path / "one"), helm_path="helm", helm_params={"name": "r", "validate": False})
    world.compile()
    assert "validate" not in world.read("app/out/c/a.yaml")


def test_a_list_that_stands_twice_gets_no_anchor(kept: Kept, tmp_path: Path) -> None:
    """Kapitan copies lists where it looks for references, but not maps."""
    world = fill(kept.world(tmp_path / "one"))
    world.tool("helm", HELM + "printf 'a: &m {b: 1}\\nc: *m\\nd: &l [1]\\ne: *l\\n' > \"$out/c/a.yaml\"\n")
    world.compile()
    assert world.read("app/out/c/a.yaml") == "a: &id001\n  b: 1\nc: *id001\nd:\n  - 1\ne:\n  - 1\n"


def test_a_chart_that_changes_while_it_is_rendered_is_not_kept(kept: Kept, tmp_path: Path) -> None:
    world = fill(kept.world(tmp_path / "one"))
    chart = world.root / "dependencies/app/chart/templates/one.yaml"
    world.tool("helm", f"echo edited >> {chart}\n" + HELM)
    assert not is_reused(world)
    chart.write_text("one\n")
    assert not is_reused(world)


def test_a_folder_whose_name_begins_alike_is_another_one(kept: Kept, tmp_path: Path) -> None:
    """`<root>-charts` is not below `<root>`: a result that came from there belongs to that folder."""
    worlds = [fill(kept.world(tmp_path / name)) for name in ("one", "two")]
    for world in worlds:
        outside = world.root.with_name(world.root.name + "-charts")
        (outside / "chart").mkdir(parents=True)
        (outside / "chart" / "file").write_text(world.root.name)
        settings(world)["input_paths"] = [str(outside / "chart")]
    charts = [world.root.with_name(world.root.name + "-charts") for world in worlds]
    readable = [(*world.request().search_paths, folder) for world, folder in zip(worlds, charts, strict=True)]
    reused = [is_reused(world, search_paths=paths) for world, paths in zip(worlds, readable, strict=True)]
    assert reused == [False, False]
    assert "two" in worlds[1].read("app/out/c/a.yaml")


def test_a_release_name_is_no_option(kept: Kept, tmp_path: Path) -> None:
    world = fill(kept.world(tmp_path / "one"), helm_params={"name": "", "release_name": "--post-renderer=x"})
    assert world.fail_once().code == "CMD-ENG-014"
