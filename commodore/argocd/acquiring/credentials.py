"""Credentials for servers: those of a file, and those of the user only if enabled."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from commodore.argocd.acquiring.credentials_file import Entry, registry_login, scope_of
from commodore.base.context import Context, GitRights
from commodore.core.sources.git import anonymous_variables, clean_environment, redact

HINT = "name credentials for it in a file with --credentials, or use your own with --ambient-credentials"
_REGISTRY = "oci"


class Credentials:
    """An `Access` by the entries of a file. An analysed repository chooses URLs, never the credentials sent there.

    Args:
        home: a private folder for git, created on first use.
        ambient: True to use git's configuration, helpers and agents, `.netrc`, and logins of container tools.
    """

    def __init__(self, entries: Sequence[Entry], home: Path, context: Context, *, ambient: bool = False) -> None:
        self.ambient = ambient
        self._entries = sorted(entries, key=lambda entry: len(entry.scope.parts))
        self._home = home
        self._context = replace(context, access=None)
        self._variables: Mapping[str, str] | None = None
        self._lock = threading.Lock()

    def variables(self) -> Mapping[str, str]:
        if self.ambient:
            return clean_environment()
        with self._lock:
            if self._variables is None:
                self._home.mkdir(mode=0o700)
                self._variables = anonymous_variables(self._home, self._context)
            return self._variables

    def rights(self, url: str) -> GitRights | None:
        if redact(url) != url:  # the URL has credentials
            return None
        entry = self._find(url)
        return entry.login.rights(url) if entry is not None else None

    def all_rights(self) -> GitRights:
        settings = [("credential.helper", "")] if self._entries else []
        environment: dict[str, str] = {}
        for entry in self._entries:
            rights = entry.login.rights(entry.url)
            for key, value in rights.settings[1:]:
                # Git adds the headers of all matching URLs, the longest last: an empty value removes the previous ones.
                settings += [(key, ""), (key, value)] if key.endswith(".extraHeader") else [(key, value)]
            environment |= rights.environment
        return GitRights(tuple(settings), environment)

    def headers(self, url: str, named_by: str = "") -> Mapping[str, str]:
        from commodore.core.sources.http import netrc_credentials, same_server

        entry = self._find(url)
        if entry is None and named_by:
            # The URL is from an index, which must not send the login elsewhere, except with passCredentials.
            naming = self._find(named_by)
            if naming is not None and (naming.passed_on or same_server(named_by, url)):
                entry = naming
        if entry is not None and entry.login.authorization:
            name, _, value = entry.login.authorization.partition(": ")
            return {name: value}
        if not self.ambient:
            return {}
        if url.startswith(f"{_REGISTRY}://"):
            folder = Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker")
            login = registry_login(folder / "config.json", urlsplit(url).netloc)
            return {"Authorization": login} if login else {}
        return netrc_credentials(url)

    def authorities(self, url: str) -> Path | None:
        scope = scope_of(url)
        matches = (
            entry.login.files["sslCAInfo"]
            for entry in self._entries
            if "sslCAInfo" in entry.login.files and scope is not None and entry.scope.server == scope.server
        )
        return next(matches, None)

    def _find(self, url: str) -> Entry | None:
        scope = scope_of(url)
        matches = [entry for entry in self._entries if scope is not None and entry.scope.covers(scope)]
        return matches[-1] if matches else None
