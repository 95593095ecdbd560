"""Ref files: the location of each secret in Vault, for Kapitan."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from commodore.base.errors import InputError, PolicyError, Setting
from commodore.base.files.tree import walk
from commodore.base.files.workspace import guard_disk, write_atomically
from commodore.base.yaml import dump
from commodore.core.refs.find import SecretReference


def vault_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the connection parameters of Vault from the rendered parameters of the bootstrap target.

    `parameters.kapitan.secrets.vaultkv` is used unchanged. Without it, they come from the documented
    `parameters.secret_management` (`vault_addr`, `vault_mount`) (docs/adr/0004-vault-parameters.md).

    Returns:
        the `vault_params` of ref files.

    Raises:
        InputError: CMD-REF-010, neither is set; CMD-REF-014, one of them has the wrong type.
    """
    configured = _member(_member(parameters, "kapitan"), "secrets").get("vaultkv")
    if configured is not None:
        if not isinstance(configured, Mapping):
            raise _unusable("kapitan.secrets.vaultkv", "a map")
        return dict(configured)
    management = parameters.get("secret_management")
    if management is not None and not isinstance(management, Mapping):
        raise _unusable("secret_management", "a map")
    missing = [key for key in ("vault_addr", "vault_mount") if not (management or {}).get(key)]
    if missing or not management:
        raise InputError(
            "CMD-REF-010",
            "there are secret references, but the parameters do not set which Vault they are in",
            hint="set parameters.kapitan.secrets.vaultkv, or parameters.secret_management."
            + " and parameters.secret_management.".join(missing),
        )
    for key in ("vault_addr", "vault_mount"):
        if not isinstance(management[key], str):
            raise _unusable(f"secret_management.{key}", "a string")
    return {
        "VAULT_ADDR": management["vault_addr"],
        # Kapitan skips the verification of certificates by default.
        "VAULT_SKIP_VERIFY": "false",
        "auth": "token",
        "engine": "kv-v2",
        "mount": management["vault_mount"],
    }


def build_refs(references: Iterable[SecretReference], parameters: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the ref files of these references.

    Args:
        references: as given by `collect`.
        parameters: rendered parameters of the bootstrap target; Vault's are read only if there are references.

    Returns:
        content per path relative to `catalog/refs`, sorted by path.

    Raises:
        InputError: see `vault_parameters`.
    """
    by_file = {reference.file: reference for reference in references}
    if not by_file:
        return {}
    try:
        vault_params = vault_parameters(parameters)
    except InputError as error:
        raise error.about(first=[next(iter(by_file.values())).setting]) from error
    return {file: _content(by_file[file], vault_params) for file in sorted(by_file)}


def _content(reference: SecretReference, vault_params: Mapping[str, Any]) -> bytes:
    document = {
        "data": base64.b64encode(reference.secret.encode()).decode(),
        "encoding": "original",
        "type": reference.type,
        "vault_params": vault_params,
    }
    return dump(document).encode()


def write_refs(files: Mapping[str, bytes], folder: Path) -> None:
    """Write these files into the folder and remove all others; files with the right content are not touched.

    The folder is a staging folder that the caller swaps into `catalog/refs` together with the manifests, so that both
    always match.

    Args:
        files: content per relative path, as given by `build_refs`.
        folder: created if it is missing.

    Raises:
        PolicyError: CMD-REF-007, a path would leave the folder; CMD-REF-015, the folder is a symlink.
        EnvironmentFault: the operating system refused.
    """
    if folder.is_symlink():
        raise PolicyError(
            "CMD-REF-015", f"the refs folder {folder} is a symlink", hint="remove the link; commodore makes the folder"
        )
    for file in files:
        if PurePosixPath(file).is_absolute() or ".." in PurePosixPath(file).parts or "\0" in file:
            raise PolicyError(
                "CMD-REF-007",
                f"the ref file {file!r} would be outside {folder}",
                hint="remove '..' and the leading '/' from the path of the reference",
            )
    with guard_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _remove_others(folder, set(files))
    for file, content in sorted(files.items()):
        write_atomically(folder / file, content)


def _remove_others(folder: Path, files: set[str]) -> None:
    """Remove all other files and links, and folders that are left empty. No link is followed."""
    parents = {str(parent) for file in files for parent in PurePosixPath(file).parents}
    for name, entry in reversed(list(walk(folder))):
        if not entry.is_dir(follow_symlinks=False):
            if entry.is_symlink() or name not in files:
                os.unlink(entry.path)
        elif name not in parents:
            os.rmdir(entry.path)


def _member(parameters: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = parameters.get(key)
    return value if isinstance(value, Mapping) else {}


def _unusable(parameter: str, expected: str) -> InputError:
    hint = f"find the class that sets it with: commodore inventory explain {parameter}"
    setting = Setting.of(*parameter.split("."))
    return InputError("CMD-REF-014", f"parameters.{parameter} must be {expected}", hint=hint, locations=[setting])
