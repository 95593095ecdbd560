"""Git's authentication: a login as settings and variables, and an environment without the user's own logins.

Secrets are passed by variables only, never in a file or on a command line.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from commodore.base.context import Context, GitRights
from commodore.base.errors import CommodoreError
from commodore.base.files.workspace import guard_disk
from commodore.base.programs.child_processes import Child, child_environment
from commodore.core.sources.git.runner import Git
from commodore.core.sources.git.urls import holds_credentials

_KEPT = re.compile(
    r"PATH|TMPDIR|LD_LIBRARY_PATH|GIT_EXEC_PATH|GIT_ALLOW_PROTOCOL|SSL_CERT_(FILE|DIR)|CURL_CA_BUNDLE|GIT_SSL_(CAINFO|CAPATH|NO_VERIFY)"
    r"|(https?|all|no)_proxy|(HTTPS?|ALL|NO)_PROXY"
)
"""Variables with locations, without the user's identity."""
_WHERE = re.compile(
    r"http\.(.*\.)?(sslcainfo|sslcapath|sslbackend|sslverify|proxy|version)|safe\.directory|protocol\..*", re.IGNORECASE
)
_REPLACED = re.compile(r"url\.(?P<target>.*)\.insteadof", re.IGNORECASE)
_OF_USER = frozenset({"system", "global", "command"})


@dataclass(frozen=True, slots=True)
class Login:
    """Credentials for a server.

    Attributes:
        authorization: the HTTP header; empty without one.
        files: TLS files by git's setting: sslCert, sslKey, sslCAInfo.
        insecure: accept any server, without verification.
        ssh_key: the file of an SSH key.
        known_hosts: the file with the keys of SSH servers, in place of the user's configuration.
    """

    authorization: str = field(default="", repr=False)
    files: Mapping[str, Path] = field(default_factory=dict)
    insecure: bool = False
    ssh_key: Path | None = None
    known_hosts: Path | None = None

    def rights(self, base: str) -> GitRights:
        """Return git's settings and variables for HTTP URLs with this prefix, and for SSH servers."""
        settings = [("credential.helper", "")]
        if self.authorization:
            settings.append((f"http.{base}.extraHeader", self.authorization))
        if self.insecure:
            settings.append((f"http.{base}.sslVerify", "false"))
        settings += ((f"http.{base}.{name}", str(path)) for name, path in self.files.items())
        return GitRights(tuple(settings), {"GIT_SSH_COMMAND": self._ssh()} if self.ssh_key is not None else {})

    def _ssh(self) -> str:
        command = ["ssh", "-i", str(self.ssh_key), "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes"]
        if self.known_hosts is not None:
            command += ["-F", "/dev/null", "-o", "IdentityAgent=none", "-o", f"UserKnownHostsFile={self.known_hosts}"]
            command += ["-o", "GlobalKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=yes"]
        elif self.insecure:
            command += ["-o", "StrictHostKeyChecking=no"]
        return shlex.join(command)


def anonymous_variables(home: Path, context: Context, *, logins: bool = False) -> dict[str, str]:
    """Return the variables for git without the helpers, agents, keys and logins of its user.

    Only settings with locations are kept from the user's configuration: proxies, certificate authorities, safe folders,
    and URL replacements that need no login.

    Args:
        home: a private folder; it becomes git's home.
        logins: keep URL replacements that need a login, too.
    """
    lines = "".join(f"{head}\n\t{name} = {_quoted(value)}\n" for head, name, value in _where(home, context, logins))
    file = home / ".gitconfig"
    with guard_disk(file):
        file.write_text(lines, encoding="utf-8", errors="surrogateescape")
    kept = {name: value for name, value in child_environment(Child.GIT).items() if _KEPT.fullmatch(name)}
    return {
        **kept,
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_SSH_COMMAND": "false",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


def _where(folder: Path, context: Context, logins: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the kept settings of the user's configuration: section, name, value."""
    try:
        answer = Git(folder, context).run(["config", "--null", "--show-scope", "--list"], check=False)
    except CommodoreError:
        return
    parts = answer.stdout.decode("utf-8", "surrogateescape").split("\0")
    for scope, entry in zip(parts[::2], parts[1::2], strict=False):
        key, _, value = entry.partition("\n")
        replaced = _REPLACED.fullmatch(key)
        is_open = not holds_credentials(f"{key} {value}") and (replaced is None or _is_open(replaced["target"]))
        counts = is_open and (replaced is not None or _WHERE.fullmatch(key))
        if scope in _OF_USER and (counts or (logins and replaced is not None)):
            section, _, rest = key.partition(".")
            inner, dot, name = rest.rpartition(".")
            yield f"[{section} {_quoted(inner)}]" if dot else f"[{section}]", name, value


def _is_open(url: str) -> bool:
    """Check if a URL needs no login: it does not use SSH."""
    return url.startswith(("http://", "https://", "file://", "/"))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
