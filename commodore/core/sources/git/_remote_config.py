"""Configuration of a repository's remote, and the credentials of its URL.

A password in a URL is never in a file or on a command line: the configuration has the URL without it, and the few
commands that talk to the remote get the full URL in variables (`access`).

A configuration file that was checked before is not read by git again, which saves a process per repository and run.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from commodore.base.context import Context, GitRights
from commodore.base.files.workspace import guard_disk, write_atomically
from commodore.core.confinement.policy import check_source
from commodore.core.sources.git._credentials import rights_of
from commodore.core.sources.git._locks import writing
from commodore.core.sources.git.runner import Git, GitResult, with_settings
from commodore.core.sources.git.urls import push_url, redact

FETCH_REFSPEC = "+refs/heads/*:refs/remotes/origin/*"
FETCH_TAGS = "+refs/tags/*:refs/tags/*"
PACKED = ("fetch.unpackLimit=1",)
"""Git settings for a fetch: received objects stay in one pack, which costs less than a file for each object."""
_NOTE = "commodore-remote"


@dataclass(frozen=True, slots=True)
class NamedRemote:
    """The remote's name in git commands, with the variables that it needs."""

    name: str = "origin"
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


def push_access(url: str, rights: GitRights | None) -> NamedRemote:
    """Return the remote for a push to `url`, with these rights; None uses the credentials of the URL.

    Git records the pushed commits as the remote's branches in the clone.
    """
    settings = [("remote.commodore.url", url if rights is None else redact(url))]
    rights = rights_of(url) if rights is None else rights
    settings += [("remote.commodore.fetch", FETCH_REFSPEC), *(rights.settings if rights else ())]
    return NamedRemote("commodore", {**_settings(settings, os.environ), **(rights.environment if rights else {})})


def access(url: str, context: Context, *, directly: bool = False) -> NamedRemote:
    """Return the remote for commands that talk to `url`, with its credentials; it may be the repository's `origin`.

    With `directly` they also push to this URL, and not to the push URL of `origin`. The variables are numbered after
    the settings that the environment already has.

    Raises:
        PolicyError: CMD-CONF-011, the address is on this machine's link.
    """
    check_source(url, f"the repository {redact(url)}")
    given = context.access
    rights = given.rights(url) if given is not None else None
    if redact(url) == url and not directly and rights is None:
        return NamedRemote()
    base = os.environ if given is None else given.variables()
    settings = [("remote.commodore.url", url if rights is None else redact(url))]
    rights = rights or rights_of(url) or GitRights()
    settings += rights.settings
    return NamedRemote("commodore", {**_settings(settings, base), **rights.environment})


def _settings(pairs: Sequence[tuple[str, str]], base: Mapping[str, str]) -> dict[str, str]:
    """Return git settings as variables, numbered after the existing ones."""
    return with_settings({"GIT_CONFIG_COUNT": base.get("GIT_CONFIG_COUNT", "")}, pairs)


def talk(
    git: Git,
    url: str,
    command: Sequence[str],
    arguments: Sequence[str] = (),
    *,
    check: bool = True,
    settings: Sequence[str] = (),
) -> GitResult:
    """Run a command that talks to the remote at `url`: `command`, the remote's name, then `arguments`."""
    reached = access(url, git.context)
    words = [*command, reached.name, *arguments]
    asking = replace(git, about=redact(url))
    return asking.run(words, check=check, settings=settings, environment=reached.environment)


def set_remote(config: Path, url: str, context: Context) -> None:
    """Set `origin` to `url` in a repository's configuration file; write only what differs."""
    url = redact(url)
    if is_remote(config, url):
        return
    folder = config.parent
    git = Git(folder, context)
    answer = git.run(["config", "--file", str(config), "--null", "--list"])
    present: dict[str, list[str]] = {}
    for entry in answer.text.split("\0"):
        name, _, text = entry.partition("\n")
        present.setdefault(name, []).append(text)
    settings: dict[str, str | None] = {
        "remote.origin.url": url,
        "remote.origin.fetch": FETCH_REFSPEC,
        "remote.origin.pushurl": push_url(url),
    }
    change = ["config", "--file", str(config)]
    with writing(folder):
        for key, value in settings.items():
            if value is None and key in present:
                git.run([*change, "--unset-all", key])
            elif value is not None and present.get(key) != [value]:
                git.run([*change, "--replace-all", key, value])
    _note_remote(config, url)


def add_remote(config: Path, url: str) -> None:
    """Add `origin` to a new repository without a remote, as `set_remote` does."""
    url = redact(url)
    lines = ['[remote "origin"]', f"\turl = {_quoted(url)}", f"\tfetch = {FETCH_REFSPEC}"]
    if (ssh := push_url(url)) is not None:
        lines.append(f"\tpushurl = {_quoted(ssh)}")
    text = "".join(f"{line}\n" for line in lines)
    with guard_disk(config), config.open("ab") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
    _note_remote(config, url)


def is_remote(config: Path, url: str) -> bool:
    """Check if the configuration file is byte for byte one that is known to set `origin` to `url`."""
    digest = _digest(config, redact(url))
    try:
        return digest != "" and (config.parent / _NOTE).read_text(encoding="ascii") == digest
    except (OSError, UnicodeDecodeError):
        return False


def _note_remote(config: Path, url: str) -> None:
    """Note that the current configuration file sets `origin` to `url`."""
    if digest := _digest(config, url):
        write_atomically(config.parent / _NOTE, digest.encode())


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if re.search(r"[#;\"\\ ]", value) else value


def _digest(config: Path, url: str) -> str:
    try:
        content = config.read_bytes()
    except OSError:
        return ""
    return hashlib.sha256(b"1\0" + url.encode("utf-8", "surrogateescape") + b"\0" + content).hexdigest()
