"""Names of clusters, tenants, components, instances and packages, all of which become paths."""

from __future__ import annotations

import os
import re
from collections.abc import Collection

from commodore.base.errors import InputError

DISTRIBUTION = "commodore-catalog"
"""The name of this program in package registries, where `commodore` is a program of other people."""

BOOTSTRAP_TARGET = "cluster"
"""The target whose rendering lists the components of a cluster."""

RESERVED_CLASSES = frozenset({"components", "defaults", "global", "params"})
"""Folders below `inventory/classes` that belong to commodore."""

RESERVED_INSTANCES = frozenset({"lib", "libs", BOOTSTRAP_TARGET})
"""Names that would collide with folders in `dependencies` or with the bootstrap target."""

RESERVED_KEYS = frozenset({"cluster", "components", "dynamic_facts", "facts", "kapitan", "packages"})
"""Parameters with a meaning of their own, which a component's key must not use."""

NAME_LENGTH = 200
"""The most characters of a name; file systems accept it with the usual prefixes and suffixes."""

PATH_SEGMENT_BYTES = 255
"""The most bytes of a folder or file name in common file systems."""

PATH_BYTES = 4096
"""The most bytes of a path in common systems."""

INNER_PATH_BYTES = 2048
"""The most bytes of a path within a folder; common systems accept it with the folder's path."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_UNUSUAL = re.compile(r"""[a-zA-Z0-9'"][a-zA-Z0-9'"._-]*""")
_SHOWN = 60  # characters shown of an invalid name


def requirement(extra: str) -> str:
    """Return the requirement by which pip installs this program, with an optional extra:
    `commodore-catalog[keyring]`.
    """
    return f"{DISTRIBUTION}[{extra}]"


def parameter_key(name: str) -> str:
    """Return the parameters key of a component or instance: its name with `_` for every `-`."""
    return name.replace("-", "_")


def is_unusual(name: str) -> bool:
    """Return True if a valid name has discouraged characters: capitals or quotes."""
    return not _NAME.fullmatch(name)


def check_name(name: object, kind: str, *, reserved: Collection[str] = (), unusual: bool = False) -> str:
    """Return `name` if it is safe as a folder and class name.

    Args:
        unusual: accept capitals and quotes, which are safe, too.

    Raises:
        InputError: it is not a string, malformed (CMD-NAME-001), too long (006) or reserved (002).
    """
    if not isinstance(name, str) or not (_UNUSUAL if unusual else _NAME).fullmatch(name):
        raise InputError(
            "CMD-NAME-001",
            f"{_shortened(name)} cannot be the name of a {kind}",
            hint="use lower-case letters, digits, '-', '_' and '.', beginning with a letter or digit",
        )
    if len(name) > NAME_LENGTH:
        raise InputError(
            "CMD-NAME-006",
            f"{_shortened(name)} is too long for the name of a {kind}: it has {len(name)} characters",
            hint=f"use at most {NAME_LENGTH}",
        )
    if name in reserved:
        raise InputError(
            "CMD-NAME-002",
            f"the name {name!r} is reserved and cannot be used for a {kind}",
            hint="choose another name",
        )
    return name


def path_problem(path: str) -> str:
    """Return the reason why a path cannot exist, such as `has a part of more than 255 bytes`; empty for a
    valid path.
    """
    try:
        parts = [os.fsencode(part) for part in path.split("/")] if "\0" not in path else []
    except UnicodeEncodeError:
        return "has a half of a character"
    if not parts:
        return "has a NUL character"
    if any(len(part) > PATH_SEGMENT_BYTES for part in parts):
        return f"has a part of more than {PATH_SEGMENT_BYTES} bytes"
    return f"has more than {INNER_PATH_BYTES} bytes" if len(b"/".join(parts)) > INNER_PATH_BYTES else ""


def _shortened(name: object) -> str:
    text = repr(name)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def check_instance_name(name: object, kind: str) -> str:
    """Return `name` if it can name a component or an instance.

    In addition to `check_name`: no dot, which Kapitan reads as a path separator, and no parameters key with another
    meaning. Capitals and quotes, which syn-commodore accepts, are allowed.

    Raises:
        InputError: see `check_name`.
    """
    checked = check_name(name, kind, reserved=RESERVED_INSTANCES, unusual=True)
    if parameter_key(checked) in RESERVED_KEYS:
        raise InputError(
            "CMD-NAME-005",
            f"the {kind} {checked!r} would share parameters.{parameter_key(checked)}, which has a meaning of its own",
            hint="choose another name",
        )
    if "." in checked:
        raise InputError(
            "CMD-NAME-003",
            f"the name {checked!r} of a {kind} contains a dot",
            hint="Kapitan would read it as a path separator; use '-' instead",
        )
    return checked


def check_package_name(name: object) -> str:
    """Return `name` if it can name a package. Capitals and quotes, which syn-commodore accepts, are allowed.

    Raises:
        InputError: see `check_name`; also for the prefix `t-`, which is reserved for tenants.
    """
    checked = check_name(name, "package", reserved=RESERVED_CLASSES, unusual=True)
    if checked.startswith("t-"):
        raise InputError(
            "CMD-NAME-004",
            f"the package name {checked!r} begins with 't-', which is reserved for tenants",
            hint="choose another name for the package",
        )
    return checked
