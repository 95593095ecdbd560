"""Status of the tools for `tool list`: path, version, managed or not, available upgrade."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from commodore.base.errors import EnvironmentFault
from commodore.base.events import Warned
from commodore.base.values.versions import Version
from commodore.core.tools.find import Tool, ToolOrigin, ask_versions, locate_tool
from commodore.core.tools.install import MANAGEABLE, NOT_NEEDED
from commodore.core.tools.latest import latest_versions
from commodore.core.tools.pins import KNOWN_VERSIONS
from commodore.core.tools.releases import Releases
from commodore.core.tools.requirements import MINIMUM_VERSIONS
from commodore.core.tools.toolbox import Toolbox
from commodore.core.tools.version_numbers import tool_version


@dataclass(frozen=True, slots=True)
class ToolStatus:
    """A tool as installed on this machine.

    Attributes:
        needed: whether the program uses it.
        path: the executable in use; None without one.
        source: the place where it was found; None without one.
        version: as the tool prints it; None without a tool, or if it prints none.
        managed: whether the managed folder has the tool, in use or not.
        installed: when the managed one was installed, as a local ISO time; None if that is unknown.
        minimum: the lowest supported version; None for tools that are not needed.
        known: the version that is installed by default.
        latest: the latest release; None if it was not looked up, or the lookup failed.
    """

    json_properties: ClassVar = ("upgrade", "too_old")

    name: str
    needed: bool
    path: Path | None = None
    source: ToolOrigin | None = None
    version: str | None = None
    managed: bool = False
    installed: str | None = None
    minimum: Version | None = None
    known: Version | None = None
    latest: Version | None = None

    @property
    def upgrade(self) -> Version | None:
        """Return the latest release if it is newer than the tool in use."""
        has = tool_version(self.version)
        return self.latest if has is not None and self.latest is not None and self.latest > has else None

    @property
    def too_old(self) -> bool:
        """Return True if the tool in use is older than the minimum."""
        has = tool_version(self.version)
        return has is not None and self.minimum is not None and has < self.minimum


def survey_tools(toolbox: Toolbox, releases: Releases, *, check: bool) -> tuple[ToolStatus, ...]:
    """Return the status of all tools, in the order helm, jb, kustomize. With `check`, the latest releases are looked up
    at GitHub; if that fails, it is announced (CMD-TOOL-031) and the versions are unknown.

    Raises:
        EnvironmentFault: CMD-TOOL-003, KAPITAN_HELM_PATH does not name an executable.
    """
    names = sorted((*MANAGEABLE, *NOT_NEEDED))
    context = releases.context
    located = {name: locate_tool(name, managed=toolbox.folder) for name in names}
    present = [tool for tool in located.values() if tool is not None]
    asked = {tool.name: tool for tool in ask_versions(present, context)}
    installed = toolbox.installed(context)
    latest: dict[str, Version] = {}
    if check:
        for name, answer in latest_versions(MANAGEABLE, releases).items():
            if isinstance(answer, EnvironmentFault):
                message = f"the latest version of {name} is unknown: {answer.message}"
                context.announce(
                    Warned("CMD-TOOL-031", message, hint=f"{answer.hint}; --skip-version-check skips this lookup")
                )
            else:
                latest[name] = answer
    return tuple(_status(name, asked.get(name), toolbox, installed, latest.get(name)) for name in names)


def _status(
    name: str, tool: Tool | None, toolbox: Toolbox, installed: dict[str, str], latest: Version | None
) -> ToolStatus:
    managed = toolbox.holds(name)
    return ToolStatus(
        name,
        needed=name in MANAGEABLE,
        path=tool.path if tool else None,
        source=tool.source if tool else None,
        version=tool.version if tool else None,
        managed=managed,
        installed=installed.get(name) if managed else None,
        minimum=MINIMUM_VERSIONS.get(name),
        known=KNOWN_VERSIONS.get(name),
        latest=latest,
    )
