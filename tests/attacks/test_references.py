"""References to Vault whose visible path is not the secret that their ref file names."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError
from commodore.core.refs import SecretReference, build_refs, collect, write_refs
from tests.core.engine.conftest import engine, listener, world
from tests.core.engine.world import World, jsonnet
from tests.world.context import make_context

__all__ = ["engine", "listener", "world"]

VAULT = {"VAULT_ADDR": "https://vault.example.com", "mount": "m", "engine": "kv-v2", "auth": "token"}
PARAMETERS = {"kapitan": {"secrets": {"vaultkv": VAULT}}}


def references(**parameters: str) -> tuple[SecretReference, ...]:
    """The references in the parameters of an instance."""
    return collect({"a": {"parameters": {"a": parameters}}}, {"a": "a"}, make_context())


def ref_file(secret: str) -> bytes:
    data = {"data": base64.b64encode(secret.encode()).decode(), "encoding": "original", "type": "vaultkv"}
    return json.dumps({**data, "vault_params": VAULT}).encode()


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("?{vaultkv:shown/key:m:other/path:key}", "CMD-REF-006"),
        ("?{vaultkv:shown/key:other:shown:key}", "CMD-REF-006"),
        ("?{vaultkv:shown/key::other:}", "CMD-REF-006"),
        ("?{vaultkv:shown/key:m:shown:other}", "CMD-REF-006"),
        ("?{vaultkv:shown/key@other}", "CMD-REF-004"),
        ("?{vaultkv:shown/key||random:str}", "CMD-REF-005"),
        ("?{vaultkv:shown/../other/key}", "CMD-REF-007"),
        ("?{vaultkv:shown/key/.}", "CMD-REF-007"),
        ("?{vaultkv:/shown/key}", "CMD-REF-007"),
        ("?{vaultkv:.gitmodules/key}", "CMD-REF-007"),
        ("?{vaultkv:shown/\u202eyek}", "CMD-REF-003"),
        ("?{vaultkv:shown/key\x1b[2K}", "CMD-REF-003"),
    ],
)
def test_references_in_parameters(tag: str, code: str) -> None:
    with pytest.raises(CommodoreError) as caught:
        references(secret=tag)
    assert caught.value.code == code


def test_two_references_with_one_ref_file() -> None:
    with pytest.raises(CommodoreError) as caught:
        references(one="?{vaultkv:shown/key}", two="?{vaultkv:shown//key}")
    assert caught.value.code == "CMD-REF-009"


OTHER = base64.b64encode(ref_file("other/path:key")).decode()


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("?{vaultkv:shown/key:00000000}", "CMD-ENG-023"),
        (f"?{{vaultkv:{OTHER}:embedded}}", "CMD-REF-017"),
        ("?{vaultkv:../../../private/key}", "CMD-CONF-001"),
    ],
    ids=["hash of another file", "embedded", "outside"],
)
def test_references_in_what_is_rendered(world: World, tmp_path: Path, tag: str, code: str) -> None:
    (tmp_path / "private").mkdir()
    write_refs({"shown/key": ref_file("shown:key")}, world.root / "catalog" / "refs")
    world.add("a", jsonnet("a/main.jsonnet"))
    world.write("dependencies/a/main.jsonnet", json.dumps({"out": {"x": tag}}))
    assert world.fail_once().code == code


@pytest.mark.harmless
@pytest.mark.parametrize("form", ["edited", "link", "folder"])
def test_a_ref_file_that_was_changed_to_another_secret(tmp_path: Path, form: str) -> None:
    """In the catalog's repository, for one. Each compile makes it what its path says."""
    refs, elsewhere = tmp_path / "refs", tmp_path / "elsewhere"
    elsewhere.write_bytes(ref_file("other/path:key"))
    place = refs / "shown" / "key"
    place.parent.mkdir(parents=True)
    if form == "edited":
        place.write_bytes(elsewhere.read_bytes())
    elif form == "link":
        place.symlink_to(elsewhere)
    else:
        place.parent.rmdir()
        (tmp_path / "folder").mkdir()
        place.parent.symlink_to(tmp_path / "folder")
    write_refs(build_refs(references(one="?{vaultkv:shown/key}"), PARAMETERS), refs)
    assert not place.is_symlink()
    assert not place.parent.is_symlink()
    assert base64.b64encode(b"shown:key") in place.read_bytes()
    assert elsewhere.read_bytes() == ref_file("other/path:key")
    assert not (tmp_path / "folder").exists() or not any((tmp_path / "folder").iterdir())
