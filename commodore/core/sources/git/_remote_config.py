"""The part of a repository's configuration that says where its remote is, and how git gets the credentials of a URL.

A password in a URL is in no file and on no command line: the configuration has the URL without it, and the few commands
that talk to the remote get the whole one in variables (`access`).

A configuration file that was looked at before is not read by git again, which saves a process per repository and run.
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
"""Git settings for a fetch: what comes stays one pack, which costs less than a file for each object."""
_NOTE = "commodore-remote"


@dataclass(frozen=True, slots=True)
class NamedRemote:
    """How git commands name the remote of a repository: `name`, with the variables in `environment`."""

    name: str = "origin"
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


def push_access(url: str, rights: GitRights | None) -> NamedRemote:
    """How a push reaches the remote at `url`: with these rights, and no credentials of the URL, if some are given.

    What it has pushed, git notes as the remote's branches in the clone.
    """
    settings = [("remote.commodore.url", url if rights is None else redact(url))]
    rights = rights_of(url) if rights is None else rights
    settings += [("remote.commodore.fetch", FETCH_REFSPEC), *(rights.settings if rights else ())]
    return NamedRemote("commodore", {**_settings(settings, os.environ), **(rights.environment if rights else {})})


def access(url: str, context: Context, *, directly: bool = False) -> NamedRemote:
    """How commands that talk to the remote at `url`, the `origin` of a repository perhaps, get its credentials.

    With `directly` they push to this URL, too, and not to the one for people that `origin` has. The variables go on
    where the settings end that the environment already has.

    Raises:
        PolicyError: CMD-CONF-011, it is on this machine's link.
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
    """Settings of git as variables, after those that are among others already."""
    return with_settings({"GIT_CONFIG_COUNT": base.get("GIT_CONFIG_COUNT", "")}, pairs)


def talk(
    git: Git,
    url: str,
    command: Sequence[str],
    wanted: Sequence[str] = (),
    *,
    check: bool = True,
    settings: Sequence[str] = (),
) -> GitResult:
    """Run a command that talks to the remote at `url`: `command`, the remote's name, and what is `wanted` of it."""
    reached = access(url, git.context)
    arguments = [*command, reached.name, *wanted]
    asking = replace(git, about=redact(url))
    return asking.run(arguments, check=check, settings=settings, environment=reached.environment)


def set_remote(config: Path, url: str, context: Context) -> None:
    """Make `origin` in a repository's configuration file stand for `url`; write only what differs."""
    url = redact(url)
    if is_remote(config, url):
        return
    folder = config.parent
    git = Git(folder, context)
    answer = git.run(["config", "--file", str(config), "--null", "--list"])
    present: dict[str, list[str]] = {}
    for entry in answer.text.split("\0"):
        name, _, value = entry.partition("\n")
        present.setdefault(name, []).append(value)
    wanted: dict[str, str | None] = {
        "remote.origin.url": url,
        "remote.origin.fetch": FETCH_REFSPEC,
        "remote.origin.pushurl": push_url(url),
    }
    change = ["config", "--file", str(config)]
    with writing(folder):
        for key, wish in wanted.items():
            if wish is None and key in present:
                git.run([*change, "--unset-all", key])
            elif wish is not None and present.get(key) != [wish]:
                git.run([*change, "--replace-all", key, wish])
    _note_remote(config, url)


def add_remote(config: Path, url: str) -> None:
    """Give a repository that was just made, and has no remote, the `origin` that `set_remote` would give it."""
    url = redact(url)
    lines = ['[remote "origin"]', f"\turl = {_quoted(url)}", f"\tfetch = {FETCH_REFSPEC}"]
    if (ssh := push_url(url)) is not None:
        lines.append(f"\tpushurl = {_quoted(ssh)}")
    text = "".join(f"{line}\n" for line in lines)
    with guard_disk(config), config.open("ab") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
    _note_remote(config, url)


def is_remote(config: Path, url: str) -> bool:
    """Whether the configuration file is, byte for byte, one that was found to make `origin` stand for `url`."""
    digest = _digest(config, redact(url))
    try:
        return digest != "" and (config.parent / _NOTE).read_text(encoding="ascii") == digest
    except (OSError, UnicodeDecodeError):
        return False


def _note_remote(config: Path, url: str) -> None:
    """Note that the configuration file as it is now makes `origin` stand for `url`."""
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
