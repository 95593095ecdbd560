"""Observation of Applications and Stages that others have written."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.base.errors import InputError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.cli.main import run
from commodore.observe import ObjectText, read_objects
from commodore.observe.files import read_files
from tests.world.kargo import Object, application, drifted

UNREADABLE = "CMD-OBS-002"
LIMITS = replace(DEFAULT_LIMITS, observed_bytes=1 << 20)
BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]\n" for number in range(1, 12)
)
HEAD = "apiVersion: argoproj.io/v1alpha1\nkind: Application\n"


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        HEAD + "spec: " + "[" * 100_000,
        "{" * 100_000,
        '{"a":' * 100_000,
        HEAD + "metadata: !!python/object/apply:os.system [x]\n",
        HEAD + "metadata: &a [*a]\n",
        "\x00",
        "kind: Application\nmetadata: {name: a}\n",
        "- " * 5000,
    ],
    ids=["aliases", "depth", "braces", "json", "tag", "itself", "nul", "no version", "list"],
)
def test_texts_that_are_no_objects(text: str) -> None:
    """They are reported; the others are read."""
    given = read_objects([ObjectText("bad", text.encode()), ObjectText("good", yaml.safe_dump_all(drifted()).encode())])
    assert {finding.code for finding in given.findings} == {UNREADABLE}
    assert len(given.objects) == len(drifted())


@pytest.mark.parametrize("kind", ["device", "large"])
def test_files_that_never_end(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "a.yaml"
    with file.open("wb") as made:
        made.truncate(LIMITS.observed_bytes + 1)
    with pytest.raises(InputError) as caught:
        read_files([Path("/dev/zero") if kind == "device" else file], LIMITS)
    assert caught.value.code == UNREADABLE


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.harmless
def test_what_never_ends_in_a_folder(tmp_path: Path, kind: str) -> None:
    if kind == "pipe":
        os.mkfifo(tmp_path / "a.yaml")
    else:
        (tmp_path / "a.yaml").symlink_to("/dev/zero")
    assert read_files([tmp_path], LIMITS) == []


NAMES = [
    "x" * 100_000,
    "\x1b[31mred",
    "\x1b]8;;https://evil.example.com\x07x",
    "a\u202eb",
    "a\nb\rc",
    "../../etc",
    "-x",
    "é" * 300,
]


@pytest.mark.parametrize("name", NAMES, ids=[ascii(name[:12]) for name in NAMES])
@pytest.mark.parametrize("place", ["application", "namespace", "stage", "image", "label"])
@pytest.mark.harmless
def test_names_that_steer_the_terminal(
    tmp_path: Path, place: str, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    changes: dict[str, dict[str, Any]] = {
        "application": {"name": name},
        "namespace": {"namespace": name},
        "stage": {"stage": f"shop:{name}"},
        "image": {"images": [f"registry.example.com/{name}:1"]},
        "label": {"labels": {name: name}},
    }
    objects: list[Object] = [*drifted(), application(**{"name": "other", **changes[place]})]
    file = tmp_path / "objects.json"
    file.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": objects}))
    for more in ([], ["--explain", "shop/prod"]):
        run(["observe", "plan", *more, str(file)])
        out, err = capfd.readouterr()
        assert "prod" in out
        assert not set("\x1b\x07\u202e\r") & set(out + err)
        assert max(map(len, (out + err).splitlines())) < 20_000
