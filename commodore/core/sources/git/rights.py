"""What lets git in at a server: a login as settings and variables of git, and git without what its user has for that.

Secrets are in variables alone: in no file, and on no command line.
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
"""Variables that say where something is, and not who asks."""
_WHERE = re.compile(
    r"http\.(.*\.)?(sslcainfo|sslcapath|sslbackend|sslverify|proxy|version)|safe\.directory|protocol\..*", re.IGNORECASE
)
_REPLACED = re.compile(r"url\.(?P<target>.*)\.insteadof", re.IGNORECASE)
_OF_USER = frozenset({"system", "global", "command"})


@dataclass(frozen=True, slots=True)
class Login:
    """What a server is shown.

    Attributes:
        authorization: the header of HTTP; empty for none.
        files: for TLS, by git's setting: sslCert, sslKey, sslCAInfo.
        insecure: whether it does not matter which server answers.
        ssh_key: the file of a key.
        known_hosts: a file that alone says which SSH servers are the right ones, in place of the user's configuration.
    """

    authorization: str = field(default="", repr=False)
    files: Mapping[str, Path] = field(default_factory=dict)
    insecure: bool = False
    ssh_key: Path | None = None
    known_hosts: Path | None = None

    def rights(self, base: str) -> GitRights:
        """What git is let in by, at URLs of HTTP that begin with this one, and at SSH servers."""
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
    """The variables of git without helpers, agents, keys and logins of its user.

    Of the user's configuration there is left what says where something is: proxies, certificate authorities, safe
    folders, and replaced URLs that lead to no login.

    Args:
        home: a private folder; it becomes git's home.
        logins: whether replaced URLs count that lead to logins.
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
    """What is left of the user's configuration: section, name, value."""
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
    """Whether there is no login at a URL: it is no SSH server's."""
    return url.startswith(("http://", "https://", "file://", "/"))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
