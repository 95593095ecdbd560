"""Ref files: their bytes, the Vault they name, and that stale ones disappear."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import InputError, PolicyError
from commodore.core.refs import SecretReference, build_refs, find_references, write_refs
from commodore.core.refs.write import vault_parameters
from tests.world.context import make_context

PARAMETERS: dict[str, Any] = {
    "kapitan": {
        "secrets": {
            "vaultkv": {
                "mount": "clusters/kv",
                "engine": "kv-v2",
                "auth": "token",
                "VAULT_SKIP_VERIFY": "false",
                "VAULT_CAPATH": "/etc/ssl/certs/",
                "VAULT_ADDR": "https://vault.example.com",
            }
        }
    }
}


def references(*tags: str) -> tuple[SecretReference, ...]:
    return find_references({"tags": list(tags)}, make_context(), target="cluster")


def tree(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


class TestBuildRefs:
    @pytest.mark.requirement("C65")
    def test_the_bytes_of_a_ref_file(self) -> None:
        """The files that are written for references."""
        assert build_refs(references("?{vaultkv:t-1/c-1/db/password}"), PARAMETERS) == {
            "t-1/c-1/db/password": (
                b"data: dC0xL2MtMS9kYjpwYXNzd29yZA==\n"
                b"encoding: original\n"
                b"type: vaultkv\n"
                b"vault_params:\n"
                b"  VAULT_ADDR: https://vault.example.com\n"
                b"  VAULT_CAPATH: /etc/ssl/certs/\n"
                b"  VAULT_SKIP_VERIFY: 'false'\n"
                b"  auth: token\n"
                b"  engine: kv-v2\n"
                b"  mount: clusters/kv\n"
            )
        }

    def test_no_references_need_no_vault(self) -> None:
        """The published tool asks for kapitan.secrets.vaultkv even then."""
        assert build_refs((), {}) == {}

    def test_references_need_a_vault(self) -> None:
        with pytest.raises(InputError) as caught:
            build_refs(references("?{vaultkv:a/b}"), {"secret_management": {"vault_addr": "https://v.example.com"}})
        assert caught.value.code == "CMD-REF-010"
        assert "parameters.kapitan.secrets.vaultkv, or parameters.secret_management.vault_mount" in caught.value.hint


class TestVaultParameters:
    def test_the_configured_parameters_are_taken_as_they_are(self) -> None:
        assert vault_parameters(PARAMETERS) == PARAMETERS["kapitan"]["secrets"]["vaultkv"]
        assert vault_parameters({"kapitan": {"secrets": {"vaultkv": {}}}}) == {}

    @pytest.mark.requirement("C68")
    def test_secret_management_is_enough(self) -> None:
        assert vault_parameters(
            {"secret_management": {"vault_addr": "https://v.example.com", "vault_mount": "kv"}}
        ) == {
            "VAULT_ADDR": "https://v.example.com",
            "VAULT_SKIP_VERIFY": "false",
            "auth": "token",
            "engine": "kv-v2",
            "mount": "kv",
        }

    def test_the_configured_parameters_win_over_secret_management(self) -> None:
        management = {"secret_management": {"vault_addr": "https://other.example.com", "vault_mount": "kv"}}
        assert vault_parameters(PARAMETERS | management)["VAULT_ADDR"] == "https://vault.example.com"

    @pytest.mark.parametrize(
        ("parameters", "name"),
        [
            ({"kapitan": {"secrets": {"vaultkv": "x"}}}, "kapitan.secrets.vaultkv"),
            ({"secret_management": []}, "secret_management"),
            ({"secret_management": {"vault_addr": ["x"], "vault_mount": "kv"}}, "secret_management.vault_addr"),
        ],
    )
    def test_unusable_parameters(self, parameters: dict[str, Any], name: str) -> None:
        with pytest.raises(InputError, match=f"parameters.{name} must be") as caught:
            vault_parameters(parameters)
        assert caught.value.code == "CMD-REF-014"

    @pytest.mark.parametrize(
        "parameters", [{}, {"kapitan": None}, {"kapitan": {"secrets": 3}}, {"secret_management": None}]
    )
    def test_nothing_configured(self, parameters: dict[str, Any]) -> None:
        with pytest.raises(InputError) as caught:
            vault_parameters(parameters)
        assert caught.value.code == "CMD-REF-010"
        assert "vault_addr and parameters.secret_management.vault_mount" in caught.value.hint


class TestWriteRefs:
    @pytest.mark.requirement("C66")
    def test_stale_files_and_empty_folders_disappear(self, tmp_path: Path) -> None:
        """Hidden entries too, which the published tool never removes."""
        refs = tmp_path / "refs"
        write_refs({"a/b/old": b"1", "a/kept": b"2", ".hidden/x": b"3", "was-file": b"4", "was/folder": b"5"}, refs)
        write_refs({"a/kept": b"2", "new": b"6", "was-file/x": b"7", "was": b"8"}, refs)
        assert tree(refs) == {"a/kept": b"2", "new": b"6", "was-file/x": b"7", "was": b"8"}
        assert sorted(entry.name for entry in refs.iterdir()) == ["a", "new", "was", "was-file"]
        write_refs({}, refs)
        assert list(refs.iterdir()) == []

    def test_a_file_that_is_right_is_not_touched(self, tmp_path: Path) -> None:
        write_refs({"a/b": b"1"}, tmp_path)
        before = (tmp_path / "a/b").stat()
        write_refs({"a/b": b"1", "a/c": b"2"}, tmp_path)
        assert (tmp_path / "a/b").stat().st_ino == before.st_ino

    @pytest.mark.requirement("C65")
    def test_links_in_the_folder_are_removed_not_followed(self, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "key").write_bytes(b"mine")
        refs = tmp_path / "refs"
        refs.mkdir()
        (refs / "a").symlink_to(outside)
        (refs / "stale").symlink_to(outside)
        (refs / "file").symlink_to(outside / "key")
        write_refs({"a/key": b"1", "file": b"2"}, refs)
        assert tree(refs) == {"a/key": b"1", "file": b"2"}
        assert tree(outside) == {"key": b"mine"}
        assert not os.path.lexists(refs / "stale")

    def test_a_linked_refs_folder_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "refs").symlink_to("elsewhere")
        with pytest.raises(PolicyError) as caught:
            write_refs({"a/b": b"1"}, tmp_path / "refs")
        assert caught.value.code == "CMD-REF-015"
        assert list((tmp_path / "elsewhere").iterdir()) == []

    @pytest.mark.requirement("C65")
    @pytest.mark.parametrize("file", ["../x", "/x", "a/../../x", "a\0"])
    def test_paths_that_leave_the_folder(self, file: str, tmp_path: Path) -> None:
        """The same for callers that do not come from `collect`."""
        with pytest.raises(PolicyError) as caught:
            write_refs({file: b""}, tmp_path / "refs")
        assert caught.value.code == "CMD-REF-007"
        assert not (tmp_path / "refs").exists()
