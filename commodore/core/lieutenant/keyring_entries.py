"""Tokens in the desktop's keyring, by the optional library `keyring`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from commodore.base.errors import EnvironmentFault
from commodore.base.names import requirement

if TYPE_CHECKING:
    from types import ModuleType

_SERVICE = "commodore"


def check_available() -> None:
    """Check that there is a keyring, before a login whose tokens could not be stored.

    Raises:
        EnvironmentFault: no keyring, or the library is missing.
    """
    from importlib.util import find_spec

    if find_spec("keyring") is None:
        raise _unusable("the library 'keyring' is not installed", f"install it: pip install '{requirement('keyring')}'")
    import keyring.backends.fail
    import keyring.backends.null

    if isinstance(keyring.get_keyring(), keyring.backends.fail.Keyring | keyring.backends.null.Keyring):
        raise _unusable("this machine has no keyring", "leave out --keyring (COMMODORE_KEYRING)")


def read(api_url: str) -> dict[str, Any] | None:
    """Return the keyring's entry for this URL."""
    library = _library()
    try:
        text = library.get_password(_SERVICE, api_url)
    except Exception as error:  # backends may raise any error
        raise _failed(error) from None
    try:
        entry = json.loads(text) if text else None
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def write(api_url: str, entry: Mapping[str, Any]) -> None:
    """Store an entry."""
    library = _library()
    try:
        library.set_password(_SERVICE, api_url, json.dumps(entry))
    except Exception as error:  # backends may raise any error
        raise _failed(error) from None


def remove(api_url: str) -> None:
    """Remove an entry, if there is one."""
    library = _library()
    try:
        library.delete_password(_SERVICE, api_url)
    except library.errors.PasswordDeleteError:
        return
    except Exception as error:  # backends may raise any error
        raise _failed(error) from None


def _library() -> ModuleType:
    check_available()
    import keyring
    import keyring.errors

    return keyring


def _failed(error: Exception) -> EnvironmentFault:
    # The message of the keyring's error may hold a secret; its type does not.
    return _unusable(f"it failed ({type(error).__name__})", "unlock it and try again, or leave out --keyring")


def _unusable(why: str, hint: str) -> EnvironmentFault:
    return EnvironmentFault("CMD-LOGIN-050", f"the keyring cannot be used: {why}", hint=hint)
