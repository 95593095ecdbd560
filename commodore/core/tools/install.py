"""Install, upgrade and remove managed tools.

No script of a tool is run. The SHA-256 of a download is verified before it is unpacked, the tool is run once before it
replaces the old one, and a rename replaces it: after a kill at any point there is either the old tool or the new one,
and the next run removes the remaining files.
"""

from __future__ import annotations

import os
import stat
import tarfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, PolicyError, did_you_mean
from commodore.base.events import StageAdvanced, Warned, stage
from commodore.base.files.workspace import guard_disk
from commodore.base.limits import Limits
from commodore.base.values.versions import Version
from commodore.core.sources.http import without_credentials
from commodore.core.tools._web import StatusError
from commodore.core.tools.find import Tool, ToolOrigin, ask_versions, locate_tool
from commodore.core.tools.latest import latest_versions
from commodore.core.tools.pins import KNOWN_VERSIONS
from commodore.core.tools.releases import PROJECTS, Asset, Releases
from commodore.core.tools.toolbox import Toolbox
from commodore.core.tools.version_numbers import tool_version

MANAGEABLE = tuple(PROJECTS)
"""The tools that can be installed, in display order."""

NOT_NEEDED = ("jb",)
"""Tools that only the published tool needs; commands accept them and report that they are not needed."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The requested version: this one, the latest release, or (with neither) the default version of the program."""

    version: Version | None = None
    latest: bool = False


@dataclass(frozen=True, slots=True)
class InstallOutcome:
    """The result of a command on a tool.

    Attributes:
        action: `kept` if that version or a newer one was installed already.
        version: of the managed tool now; None without one, or if it prints none.
        path: its path, also if it was removed.
    """

    tool: str
    action: Literal["installed", "kept", "removed", "not needed"]
    version: str | None = None
    path: Path | None = None


def check_tool(name: str) -> str:
    """Return the name if it is a tool of these commands.

    Raises:
        InputError: CMD-TOOL-001.
    """
    known = (*MANAGEABLE, *NOT_NEEDED)
    if name not in known:
        hint = did_you_mean(name, known) or f"known tools: {', '.join(sorted(known))}"
        raise InputError("CMD-TOOL-001", f"unknown tool {name!r}", hint=hint)
    return name


def install_tool(name: str, choice: Choice, toolbox: Toolbox, releases: Releases) -> InstallOutcome:
    """Install a tool that is not managed yet; a managed one is not changed.

    Raises:
        InputError: CMD-TOOL-001, unknown; 021, it is managed in another version than the requested one.
        CommodoreError: it cannot be installed; nothing was changed.
    """
    if check_tool(name) in NOT_NEEDED:
        return InstallOutcome(name, "not needed")
    requested = _choose(name, choice, releases)
    with toolbox.locked(releases.context):
        has = _managed_version(name, toolbox, releases)
        if has is None:
            return _install(name, requested, toolbox, releases)
        if (choice.version or choice.latest) and has != requested:
            raise InputError(
                "CMD-TOOL-021",
                f"{name} is managed already, in version {has} instead of {requested}",
                hint=f"run 'commodore tool upgrade {name} --version {requested}'",
            )
        return InstallOutcome(name, "kept", str(has), toolbox.executable(name))


def upgrade_tool(name: str, choice: Choice, toolbox: Toolbox, releases: Releases) -> InstallOutcome:
    """Install another version of a managed tool: a newer one, or any that is requested explicitly.

    Raises:
        InputError: CMD-TOOL-001, unknown; 022, it is not managed.
        CommodoreError: it cannot be installed; what was there is unchanged.
    """
    if check_tool(name) in NOT_NEEDED:
        return InstallOutcome(name, "not needed")
    _check_managed(name, toolbox)
    requested = _choose(name, choice, releases)
    with toolbox.locked(releases.context):
        has = _managed_version(name, toolbox, releases)
        if has is not None and (has == requested or (has > requested and choice.version is None)):
            return InstallOutcome(name, "kept", str(has), toolbox.executable(name))
        return _install(name, requested, toolbox, releases)


def uninstall_tool(name: str, toolbox: Toolbox, releases: Releases) -> InstallOutcome:
    """Remove a managed tool; also one that is not needed, if the published tool has installed it into the folder.

    Raises:
        InputError: CMD-TOOL-001, unknown; 022, it is not managed.
        EnvironmentFault: the operating system refused.
    """
    check_tool(name)
    path = toolbox.executable(name)
    if name in NOT_NEEDED and not toolbox.holds(name):
        return InstallOutcome(name, "not needed")
    _check_managed(name, toolbox)
    with toolbox.locked(releases.context):
        with guard_disk(path):
            path.unlink(missing_ok=True)
        toolbox.forget(name, releases.context)
    return InstallOutcome(name, "removed", None, path)


def missing_tools(toolbox: Toolbox) -> dict[str, Tool | None]:
    """Return all tools for `--missing`: each with its location, or None if it is to be installed.

    kubectl's kustomize is only a replacement, so with it kustomize counts as missing.
    """
    tools = {name: locate_tool(name, managed=toolbox.folder) for name in MANAGEABLE}
    return {name: None if tool is None or tool.source is ToolOrigin.KUBECTL else tool for name, tool in tools.items()}


def managed_tools(toolbox: Toolbox) -> tuple[str, ...]:
    """Return the tools that can be upgraded."""
    return tuple(name for name in MANAGEABLE if toolbox.holds(name))


def _choose(name: str, choice: Choice, releases: Releases) -> Version:
    if choice.version is not None:
        return choice.version
    if not choice.latest:
        return KNOWN_VERSIONS[name]
    latest = latest_versions([name], releases)[name]
    if isinstance(latest, CommodoreError):
        raise latest
    return latest


def _check_managed(name: str, toolbox: Toolbox) -> None:
    if toolbox.holds(name):
        return
    elsewhere = _in_use(name, toolbox)
    where = f"; the one in use is {elsewhere.path}" if elsewhere else ""
    raise InputError(
        "CMD-TOOL-022",
        f"{name} is not managed by commodore{where}",
        hint=f"run 'commodore tool install {name}' to have it managed",
    )


def _in_use(name: str, toolbox: Toolbox) -> Tool | None:
    """Return the tool that a compile would use, or None if it cannot be found."""
    try:
        return locate_tool(name, managed=toolbox.folder)
    except EnvironmentFault:
        return None


def _managed_version(name: str, toolbox: Toolbox, releases: Releases) -> Version | None:
    """Return the version of the managed tool; None without one, or if it does not work."""
    if not toolbox.holds(name):
        return None
    return _ask(name, toolbox.executable(name), releases)


def _ask(name: str, path: Path, releases: Releases) -> Version | None:
    tool = Tool(name, path, None, ToolOrigin.MANAGED)
    (asked,) = ask_versions([tool], releases.context)
    return tool_version(asked.version)


def _install(name: str, version: Version, toolbox: Toolbox, releases: Releases) -> InstallOutcome:
    """Download, verify, unpack and run the tool, move it into place, and record it in the state file."""
    asset = releases.asset(name, version)
    place = toolbox.executable(name)
    with toolbox.staging() as folder, guard_disk(toolbox.folder):
        _fetch(asset, folder / name, releases)
        _try(asset, folder / name, releases)
        if place.is_dir() and not place.is_symlink():
            raise IsADirectoryError(21, os.strerror(21), str(place))
        os.replace(folder / name, place)
    toolbox.remember(name, releases.context)
    used = None if toolbox.preferred else _in_use(name, toolbox)
    if used is not None and not _same(used.path, place):
        releases.context.announce(
            Warned(
                "CMD-TOOL-024",
                f"{used.path} comes before the managed {name} and stays the one in use",
                hint="remove it, or put the managed folder first in PATH",
            )
        )
    return InstallOutcome(name, "installed", str(version), place)


def _fetch(asset: Asset, target: Path, releases: Releases) -> None:
    """Download the archive, verify its SHA-256 and unpack its executable to `target`."""
    name = f"{asset.tool} {asset.version}"
    shown = without_credentials(asset.url)
    web = releases.web()
    archive = target.with_name("archive")
    try:
        with archive.open("w+b") as file:
            digest = releases.expected_digest(asset, web)
            with stage(releases.context.announce, f"downloading {name}", total=_STEPS):
                actual = web.save(asset.url, file, releases.context.limits.tool_download_bytes, _Steps(name, releases))
            if actual != digest:
                raise PolicyError(
                    "CMD-TOOL-018",
                    f"the SHA-256 of {shown} is {actual} instead of {digest}",
                    hint="the file was changed, or is not the one released; nothing was installed",
                )
            unpack_executable(file, shown, asset.member, target, releases.context.limits)
    except StatusError as error:
        if error.status in (403, 404, 410):
            raise InputError(
                "CMD-TOOL-010",
                f"there is no {name} for {asset.platform}: {shown} returned {error.status}",
                hint="correct the version, or install the tool by other means and put it into PATH",
            ) from None
        raise error.as_fault() from None
    finally:
        web.close()


def _try(asset: Asset, path: Path, releases: Releases) -> None:
    """Run the new tool once, before it replaces one that works."""
    version = _ask(asset.tool, path, releases)
    if version != asset.version:
        said = "does not run here" if version is None else f"reports version {version}"
        raise EnvironmentFault(
            "CMD-TOOL-020",
            f"what {without_credentials(asset.url)} holds {said}; {asset.tool} is unchanged",
            hint="is the folder on a file system that may execute programs (not mounted noexec)?",
        )


_STEPS = 10


class _Steps:
    """Progress of a download, announced in tenths."""

    def __init__(self, name: str, releases: Releases) -> None:
        self._name = name
        self._announce = releases.context.announce
        self._stage = f"downloading {name}"
        self._step = 0

    def __call__(self, done: int, total: int | None) -> None:
        reached = done * _STEPS // total if total else 0
        for step in range(self._step + 1, min(reached, _STEPS) + 1):
            self._announce(StageAdvanced(self._stage, f"{self._name}: {step * 100 // _STEPS} %"))
            self._step = step


def _same(path: Path, other: Path) -> bool:
    try:
        return os.path.samestat(path.stat(), other.stat()) and stat.S_ISREG(other.stat().st_mode)
    except OSError:
        return False


_CHUNK = 1 << 20


def unpack_executable(archive: IO[bytes], name: str, member: str, target: Path, limits: Limits) -> None:
    """Write a member of the archive to `target`, which must not exist, as an executable.

    Args:
        archive: a gzipped tar archive whose digest has been verified.
        name: the archive's name, for messages.
        member: the member's path.

    Raises:
        PolicyError: CMD-TOOL-019, the archive is damaged, or has no such regular file; 015, it is too large.
    """
    archive.seek(0)
    try:
        with tarfile.open(fileobj=archive, mode="r:gz") as opened:
            info = _find(opened, name, PurePosixPath(member), limits)
            content = opened.extractfile(info)
            assert content is not None
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
            with content, os.fdopen(os.open(target, flags, 0o700), "wb") as file:
                while chunk := content.read(_CHUNK):
                    file.write(chunk)
                file.flush()
                os.fchmod(file.fileno(), 0o755)  # independent of the umask
                os.fsync(file.fileno())  # after a power cut, the tool must be complete or missing
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise _refused(name, f"it is damaged ({error})") from error


def _find(archive: tarfile.TarFile, name: str, path: PurePosixPath, limits: Limits) -> tarfile.TarInfo:
    size = 0
    for count, member in enumerate(archive, start=1):
        size += member.size
        if count > limits.tool_archive_members or size > limits.tool_binary_bytes:
            raise PolicyError(
                "CMD-TOOL-015",
                f"{name} holds more than {limits.tool_archive_members} members or {limits.tool_binary_bytes} bytes",
                hint="is it the right file?",
            )
        if PurePosixPath(member.name) == path:
            if not member.isreg():
                raise _refused(name, f"its {path} is not a regular file")
            return member
    raise _refused(name, f"it has no {path}")


def _refused(name: str, reason: str) -> PolicyError:
    return PolicyError(
        "CMD-TOOL-019",
        f"{name} cannot be used: {reason}",
        hint="the mirror may hold something else under this name; nothing was changed",
    )
