"""Store of the tokens of logins: one JSON file, with entries by the API's URL as the user spelt it.

The published tool reads and writes the same file. An entry is the response of the token endpoint. If the tokens are in
the keyring instead, the entry only refers to it, so that other commands find them without an option.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault
from commodore.base.events import Warned
from commodore.base.files.file_lock import HeldElsewhere, hold
from commodore.base.files.workspace import guard_disk, write_atomically
from commodore.core.lieutenant import keyring_entries

Entry = dict[str, Any]

_IN_KEYRING = "in_keyring"


@dataclass(frozen=True, slots=True)
class TokenStore:
    """The token store in a file. Reading never fails; a missing or damaged file has no entries."""

    file: Path
    context: Context

    def read(self, api_url: str, *, keyring: bool = True) -> Entry | None:
        """Return the entry for this URL, as spelt, or with or without a slash at the end.

        Args:
            keyring: read the keyring, too, which may prompt for unlocking.

        Raises:
            EnvironmentFault: the tokens are in a keyring that cannot be used.
        """
        entries = self._load() or {}
        for key in spellings(api_url):
            entry = entries.get(key)
            if isinstance(entry, dict) and entry.get(_IN_KEYRING) is True:
                stored = keyring_entries.read(key) if keyring else None
                if stored:
                    return stored
            elif isinstance(entry, dict) and entry:
                return dict(entry)
        return None

    def api_urls(self) -> list[str]:
        """Return the URLs of all entries, as they were spelt."""
        return sorted(self._load() or {})

    def has(self, api_url: str) -> bool:
        """Check if there is any entry for this URL."""
        return not (self._load() or {}).keys().isdisjoint(spellings(api_url))

    def uses_keyring(self, api_url: str) -> bool:
        """Check if this URL's tokens are in the keyring."""
        entries = self._load() or {}
        entry = next((entries[key] for key in spellings(api_url) if key in entries), None)
        return isinstance(entry, dict) and entry.get(_IN_KEYRING) is True

    def write(self, api_url: str, entry: Mapping[str, Any], *, keyring: bool) -> None:
        """Store this entry as the only one for the URL. Call it within `locked`.

        Raises:
            EnvironmentFault: the file cannot be written, or no usable keyring.
        """
        key = api_url.strip()
        if keyring:
            keyring_entries.write(key, entry)
        entries = self._load_for_change()
        for other in spellings(key):
            self._forget(entries, other, keyring=not (keyring and other == key))
        entries[key] = {_IN_KEYRING: True} if keyring else dict(entry)
        self._save(entries)

    def remove(self, api_url: str) -> None:
        """Remove the entries for this URL in all spellings. Call it within `locked`.

        Raises:
            EnvironmentFault: the file cannot be written, or no usable keyring.
        """
        entries = self._load_for_change()
        for key in spellings(api_url):
            self._forget(entries, key, keyring=True)
        self._save(entries)

    def clear(self) -> None:
        """Remove the file, regardless of its content. Call it within `locked`.

        Raises:
            EnvironmentFault: it cannot be removed.
        """
        with guard_disk(self.file):
            self.file.unlink(missing_ok=True)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the store against changes by other processes. The lock ends with the process.

        Raises:
            EnvironmentFault: another process holds the lock for too long, or the operating system refused.
        """
        path = self.file.with_name(f"{self.file.name}.lock")
        with guard_disk(path):
            _make_private(self.file.parent)
            try:
                lock = hold(path, wait=self.context.limits.token_lock_wait)
            except HeldElsewhere:
                raise EnvironmentFault(
                    "CMD-LOGIN-051",
                    f"another process has been working on {self.file} for {self.context.limits.token_lock_wait:g} s",
                    hint="end it, or try again later",
                ) from None
        with lock:
            yield

    def _load(self) -> dict[str, Any] | None:
        """Return the content of the file; None if it is not an object."""
        try:
            with self.file.open("rb") as file:
                content = file.read(self.context.limits.token_cache_bytes + 1)
            entries = json.loads(content) if len(content) <= self.context.limits.token_cache_bytes else None
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError):
            return None
        return entries if isinstance(entries, dict) else None

    def _load_for_change(self) -> dict[str, Any]:
        entries = self._load()
        if entries is None:
            self.context.announce(
                Warned(
                    "CMD-LOGIN-052",
                    f"{self.file} was damaged and is recreated",
                    hint="other logins in it are lost; log in again where necessary",
                )
            )
        return entries or {}

    def _forget(self, entries: dict[str, Any], key: str, *, keyring: bool) -> None:
        entry = entries.pop(key, None)
        if keyring and isinstance(entry, dict) and entry.get(_IN_KEYRING) is True:
            keyring_entries.remove(key)

    def _save(self, entries: Mapping[str, Any]) -> None:
        with guard_disk(self.file.parent):
            _make_private(self.file.parent)
        write_atomically(self.file, json.dumps(entries, indent=1).encode(), mode=0o600)


def spellings(api_url: str) -> tuple[str, ...]:
    """Return the keys of a login: the URL as spelt, then with and without a slash at the end."""
    given = api_url.strip()
    bare = given.rstrip("/")
    return tuple(dict.fromkeys((given, bare, f"{bare}/")))


def _make_private(folder: Path) -> None:
    """Make the folder, and make it readable for its owner only if this user owns it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) & 0o077:
        try:
            folder.chmod(0o700)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EROFS):  # file systems without modes
                raise
