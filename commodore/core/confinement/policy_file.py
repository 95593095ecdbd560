"""`trust.toml`: the trust policy as a file (docs/reference/trust-policy.md)."""

from __future__ import annotations

import dataclasses
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

from commodore.base.errors import InputError, PolicyError, did_you_mean
from commodore.core.confinement.policy import CAPABILITIES, TrustPolicy

_LISTS = (*CAPABILITIES, "programs", "hosts")
_NUMBERS = {"rendering_seconds": (0.001, 1_000_000), "rendering_bytes": (1, 1 << 53)}
"""The keys with numbers, with their least and greatest values for the operating system."""
_SWITCHES = ("isolated",)
_KEYS = (*_LISTS, *_NUMBERS, *_SWITCHES)
_BYTES = 1 << 20


def read_policy(path: Path, root: Path | None = None) -> TrustPolicy:
    """Read a policy. Missing keys are as in `DEFAULT_POLICY`.

    Args:
        root: the repository that contains the file, and that it must not lead out of; None for a file given by the
            user.

    Raises:
        InputError: it cannot be read, or is not a valid policy (CMD-CONF-020).
        PolicyError: others may write to it, or it leads out of its repository (CMD-CONF-021).
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with open(handle, "rb") as file:
            status = os.fstat(handle)
            content = file.read(_BYTES + 1) if stat.S_ISREG(status.st_mode) else None
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from error
    if content is None or len(content) > _BYTES:
        raise _unusable(path, f"it must be a file of at most {_BYTES >> 20} MiB")
    if status.st_mode & stat.S_IWOTH:
        raise _untrusted(path, "it is writable for everybody")
    if root is not None and not path.resolve().is_relative_to(root.resolve()):
        raise _untrusted(path, "it is a link that leads out of its repository")
    try:
        values = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise _unusable(path, f"invalid TOML: {error}") from error
    return _policy(path, values)


def _policy(path: Path, values: dict[str, Any]) -> TrustPolicy:
    unknown = sorted(values.keys() - set(_KEYS))
    if unknown:
        hint = did_you_mean(unknown[0], _KEYS) or f"its keys are {', '.join(_KEYS)}"
        raise _unusable(path, f"it has the unknown key {unknown[0]!r}", hint)
    given: dict[str, Any] = {}
    for key, value in values.items():
        if key in _LISTS:
            if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
                raise _unusable(path, f"{key!r} must be a list of texts")
            given[key] = tuple(value)
        elif key in _SWITCHES:
            if not isinstance(value, bool):
                raise _unusable(path, f"{key!r} must be true or false")
            given[key] = value
        else:
            least, most = _NUMBERS[key]
            if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
                raise _unusable(path, f"{key!r} must be a number from {least} to {most}")
            given[key] = int(value) if key.endswith("bytes") else float(value)
    for program in given.get("programs", ()):
        if not os.path.isabs(program):
            raise _unusable(path, f"'programs' must list absolute paths, not {program!r}")
    return dataclasses.replace(TrustPolicy(), **given)


def _unusable(path: Path, reason: str, hint: str = "correct it") -> InputError:
    return InputError(
        "CMD-CONF-020", f"the trust policy {path} cannot be used: {reason}", hint=hint, locations=[str(path)]
    )


def _untrusted(path: Path, reason: str) -> PolicyError:
    return PolicyError(
        "CMD-CONF-021",
        f"the trust policy {path} is not trusted: {reason}",
        hint="make it writable for its owner only, and replace a link by the file",
        locations=[str(path)],
    )
