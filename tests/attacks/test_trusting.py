"""Getting round the trust policy: by whom it is written, where it lies, and what it says about a component."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError, InputError
from commodore.core.confinement.policy_file import read_policy
from tests.attacks.conftest import Witness
from tests.world.cluster import ClusterWorld
from tests.world.repos import Link, Remote, Script

COMMANDS = """
parameters:
  kapitan:
    compile:
      - input_type: external
        input_paths: ['${_base_directory}/run']
        output_path: .
        args: ['${_base_directory}/x']
    dependencies:
      - type: https
        source: https://user:canary@files.example.com/x.yaml
        output_path: dependencies/c-run/x.yaml
"""


@pytest.fixture
def run(world: ClusterWorld, witness: Witness) -> Remote:
    """A component that executes a script of its own."""
    return world.component("c-run", {"class/c-run.yml": COMMANDS, "run": Script(f"#!/bin/sh\n{witness.shell}\n")})


def explain(world: ClusterWorld, *arguments: str) -> tuple[int, list[dict[str, str]]]:
    result = world.run("-d", str(world.work), "trust", "explain", "c-run", "-o", "json", *arguments)
    return result.code, json.loads(result.stdout)["actions"]


def test_a_command_that_the_policy_of_the_global_defaults_forbids(
    world: ClusterWorld, run: Remote, witness: Witness
) -> None:
    """First what the component would do is shown, by what the run that it has stopped has left."""
    world.defaults.commit({"trust.toml": "external = ['c-other']\nhosts = ['charts.example.com']\n"})
    result = world.compile("--offline") if (world.work / "inventory").exists() else world.compile()
    assert result.code == 4
    assert {error["code"] for error in result.errors} & {"CMD-CONF-004", "CMD-CONF-012"}
    assert not witness.was_written
    code, actions = explain(world)
    assert code == 1
    assert [(action["capability"], bool(action["refusal"])) for action in actions] == [
        ("external", True),
        ("hosts", True),
    ]
    assert "files.example.com" in actions[1]["what"]
    assert "canary" not in str(actions)
    mine = world.root / "mine.toml"
    mine.write_text("")
    code, actions = explain(world, "--trust-policy", str(mine))
    assert (code, [action["refusal"] for action in actions]) == (0, ["", ""])


@pytest.mark.parametrize(
    ("text", "code"),
    [("external = 'c-run'\n", "CMD-CONF-020"), ("external = [", "CMD-CONF-020"), ("everything = true", "CMD-CONF-020")],
)
def test_a_policy_that_is_not_understood(world: ClusterWorld, tmp_path: Path, text: str, code: str) -> None:
    """It must not count as none."""
    file = tmp_path / "trust.toml"
    file.write_text(text)
    result = world.compile("--trust-policy", str(file))
    assert (result.code, result.error["code"]) == (1, code)


def test_a_policy_of_the_global_defaults_that_is_a_link(world: ClusterWorld, tmp_path: Path) -> None:
    (tmp_path / "trust.toml").write_text("shell = ['*']\n")
    world.defaults.commit({"trust.toml": Link(str(tmp_path / "trust.toml"))})
    result = world.compile()
    assert result.code == 4
    assert result.error["code"] in ("CMD-CONF-021", "CMD-INV-081")  # links of the hierarchy are looked at before


@pytest.mark.parametrize(
    "text",
    [
        b"external = ['*']\0",
        b"\xef\xbb\xbfexternal = ['*']",
        "\u0435xternal = ['*']".encode(),
        b"external = []\nexternal = ['*']",
        b"external = " + b"[" * 100_000,
        b"'external\\u0000' = ['*']",
        "external = ['*']".encode("utf-16"),
        b"rendering_seconds = 1e15",
        b"rendering_seconds = 3e7",
        b"rendering_seconds = 1" + b"0" * 400,
        b"rendering_seconds = 1e-300",
        b"rendering_bytes = 1e300",
        b"rendering_bytes = 0.5",
        b"external = ['*'] #" + b"x" * (1 << 20),
    ],
    ids=lambda text: ascii(text[:20]),
)
def test_a_policy_that_seems_to_be_another(tmp_path: Path, text: bytes) -> None:
    """Twins of keys, and numbers with which no limit, or no rendering, would be left."""
    file = tmp_path / "trust.toml"
    file.write_bytes(text)
    with pytest.raises(InputError) as caught:
        read_policy(file)
    assert caught.value.code == "CMD-CONF-020"


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "dangling", "loop", "writable"])
def test_a_policy_that_is_no_file_of_its_owners(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "trust.toml"
    match kind:
        case "pipe":
            os.mkfifo(file)
        case "device":
            file.symlink_to("/dev/zero")
        case "folder":
            file.mkdir()
        case "writable":
            file.touch()
            file.chmod(0o666)
        case _:
            file.symlink_to(file if kind == "loop" else "nothing")
    with pytest.raises(CommodoreError) as caught:
        read_policy(file)
    assert caught.value.code == ("CMD-CONF-021" if kind == "writable" else "CMD-CONF-020")


@pytest.mark.harmless
@pytest.mark.parametrize("place", ["component", "tenant", "current folder"])
def test_a_policy_in_another_place(world: ClusterWorld, run: Remote, tmp_path: Path, place: str) -> None:
    """Neither a component nor a tenant gives itself rights."""
    text = "external = []\nkadet = []\nhosts = []\n"
    if place == "component":
        run.commit({"trust.toml": text})
    elif place == "tenant":
        world.tenant_config.commit({"trust.toml": text})
    else:
        (world.root / "trust.toml").write_text(text)
    world.compile()
    assert explain(world)[0] == 0


def test_a_program_of_the_machine_is_shown_apart(world: ClusterWorld) -> None:
    """`mkdir` needs no more than that commands run; another program has to be in the policy."""
    commands = COMMANDS.replace("'${_base_directory}/run'", "/bin/mkdir, /bin/sleep").partition("    dependencies:")[0]
    world.component("c-run", {"class/c-run.yml": commands})
    assert {error["code"] for error in world.compile().errors} == {"CMD-CONF-008"}
    code, actions = explain(world)
    needs = [(action["what"].split()[-1], action["capability"]) for action in actions if action["refusal"]]
    assert (code, needs) == (1, [("/bin/sleep", "programs")])
    mine = world.root / "mine.toml"
    mine.write_text("programs = ['/bin/sleep']\n")
    assert explain(world, "--trust-policy", str(mine))[0] == 0
