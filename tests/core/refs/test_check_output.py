"""References in rendered output that surprise their authors."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from commodore.base.events import Event, Warned
from commodore.base.yaml import yaml_out
from commodore.core.refs import check_output, find_references
from tests.world.context import make_context


def warnings(folder: Path, *tags: str) -> list[tuple[str, str]]:
    collected: list[Event] = []
    check_output(
        folder,
        find_references({"tags": list(tags)}, make_context(), target="cluster"),
        make_context(announce=collected.append),
    )
    assert all(isinstance(event, Warned) and event.hint for event in collected)
    return [(event.code, event.message) for event in collected if isinstance(event, Warned)]


@pytest.mark.requirement("C67")
def test_known_references_are_silent(tmp_path: Path) -> None:
    """Clear text with a reference that a parameter holds, compiled or raw, is as it should be."""
    secret = {"stringData": {"a": "?{vaultkv:a/b:deadbeef} ?{vaultkv:ü/k:12345678}", "b": "?{vaultkv:a/b}"}}
    (tmp_path / "secret.yaml").write_text(yaml_out.dump(secret))
    (tmp_path / "secret.json").write_text(json.dumps(secret))
    (tmp_path / "plain.txt").write_text("?{vaultkv:ü/k} a?{2,3} ?{x} ?{not a reference: at all}", encoding="utf-8")
    assert warnings(tmp_path, "?{vaultkv:a/b}", "?{vaultkv:ü/k}") == []


@pytest.mark.requirement("C63", "C67")
def test_references_of_output_only(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app/secret.yaml").write_text("a: ?{vaultkv:a/b} ?{vaultkv:a/c:deadbeef} ?{vaultkv:a/c} ?{gpg:a/b}\n")
    (tmp_path / "binary").write_bytes(b"\xff?{vaultkv:\xff/x\\q}")
    announced = warnings(tmp_path, "?{vaultkv:a/b}")
    assert [code for code, _ in announced] == ["CMD-REF-012"] * 3
    assert "'?{vaultkv:a/c}' is in app/secret.yaml but in no parameter" in "\n".join(text for _, text in announced)
    assert "'?{gpg:a/b}' is in app/secret.yaml" in "\n".join(text for _, text in announced)
    assert "is in binary but" in "\n".join(text for _, text in announced)


@pytest.mark.requirement("C67")
@pytest.mark.parametrize("before", ["", "x", "xy", "xyz", "password="])
def test_encoded_references(tmp_path: Path, before: str) -> None:
    """Base64 hides a reference wherever in the encoded text it begins."""
    encoded = base64.b64encode(f"{before}?{{vaultkv:a/b}}".encode()).decode()
    (tmp_path / "secret.yaml").write_text(f"data:\n  password: {encoded}\n")
    ((code, message),) = warnings(tmp_path, "?{vaultkv:a/b}")
    assert code == "CMD-REF-013"
    assert "secret.yaml holds a base64-encoded secret reference" in message


def test_links_and_missing_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("?{vaultkv:a/b}")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/link").symlink_to("../outside")
    assert warnings(tmp_path / "out") == []
    assert warnings(tmp_path / "nothing") == []
