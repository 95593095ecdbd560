"""`catalog explain`: what made a manifest, for people, programs and shells."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Shown
from tests.world.cluster import ClusterWorld
from tests.world.completion import complete, offered

Call = Callable[..., Shown]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> ClusterWorld:
    world = ClusterWorld(tmp_path_factory.mktemp("world"))
    world.component("app", data={"host": "host.example.com", "evil": "\x1b[31mred"})
    assert world.compile().code == 0
    return world


@pytest.fixture
def explain(call: Call, world: ClusterWorld) -> Call:
    def explain(*arguments: str) -> Shown:
        return call("-d", str(world.work), "catalog", "explain", *arguments)

    return explain


def test_for_people(explain: Call, world: ClusterWorld) -> None:
    code, out, err = explain("app/config.yaml")
    assert (code, err) == (0, "")
    remote = world.remotes["app"]
    commit = remote.sha("master")[:10]
    assert out == (
        "manifests/app/config.yaml\n"
        f"  file        {world.work}/catalog/manifests/app/config.yaml\n"
        "  instance    app\n"
        f"  component   {remote.url}, version master, commit {commit}\n"
        "  result      rendered by the last run\n"
        "  made by     jsonnet dependencies/app/component/main.jsonnet, into app (kapitan.compile[0])\n"
        "\n"
        "Parameters that the instance app has read:\n"
        "  _instance       app\n"
        "  app.data        a map with evil, host\n"
        "  all parameters  which keys there are\n"
        "  app             which keys there are\n"
        "\n"
        "Files that it has read:\n"
        "  dependencies/app/component/main.jsonnet\n"
        "  1 place where nothing was found; -o json has all\n"
        "\n"
        f"Where one of them comes from: commodore -d {world.work} inventory explain app.data\n"
    )


def test_a_field(explain: Call, world: ClusterWorld) -> None:
    code, out, _ = explain("app/config.yaml#ConfigMap/app.data.host")
    assert code == 0
    assert f"  object      ConfigMap app, {world.work}/catalog/manifests/app/config.yaml:1\n" in out
    assert out.endswith(
        "data.host is host.example.com (line 4)\n"
        "  These parameters that it has read have this value, which may be by chance:\n"
        f"    commodore -d {world.work} inventory explain app.data.host\n"
    )


def test_the_command_that_is_shown_works(call: Call, world: ClusterWorld) -> None:
    code, out, _ = call("-d", str(world.work), "inventory", "explain", "app.data.host")
    assert (code, out.splitlines()[0]) == (0, "app.data.host in target app is host.example.com")


def test_a_field_that_no_parameter_has(explain: Call) -> None:
    code, out, _ = explain("app/config.yaml#configmap/app.apiVersion")
    assert code == 0
    assert "No parameter that was read has this value" in out


def test_nothing_steers_the_terminal(explain: Call) -> None:
    assert "\x1b" not in explain("app/config.yaml#ConfigMap/app.data.evil")[1]


def test_for_programs(explain: Call) -> None:
    code, out, err = explain("app/config.yaml#ConfigMap/app.data.host", "-o", "json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["path"], told["instance"], told["reused"]) == ("manifests/app/config.yaml", "app", False)
    assert [item["command"] for item in told["field"]["candidates"]] == [["inventory", "explain", "app.data.host"]]


@pytest.mark.parametrize(
    ("expected", "code", "message"),
    [
        ("app/confg.yaml", 1, "did you mean 'manifests/app/config.yaml'?"),
        ("app/config.yaml#ConfigMap/ap", 1, "did you mean 'ConfigMap/app'?"),
        ("app/config.yaml#ConfigMap/app.dta", 1, "did you mean 'data'"),
        ("app/config.yaml#ConfigMap/app.data[", 2, "is not a valid path"),
    ],
)
def test_what_is_misspelt(expected: str, code: int, message: str, explain: Call) -> None:
    result = explain(expected)
    assert (result[0], result[1]) == (code, "")
    assert message in result[2]


def test_in_an_empty_folder(call: Call, tmp_path: Path) -> None:
    code, _, err = call("-d", str(tmp_path), "catalog", "explain", "a.yaml")
    assert code == 1
    assert "no cluster has been compiled" in err
    assert "CMD-INV-046" in err


def test_the_shell_completes_manifests(world: ClusterWorld) -> None:
    words = f"commodore -d {world.work} catalog explain manifests/app/c"
    assert offered(complete(words)) == ["manifests/app/config.yaml"]
    assert offered(complete(words + "zz")) == []
