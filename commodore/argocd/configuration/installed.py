"""The installed tools, compared with those of the followed version of Argo CD."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from commodore.argocd.configuration import Profile
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.core.tools import Tool, ToolOrigin, locate_tool, profile_toolbox, tool_version, tool_versions


@dataclass(frozen=True, slots=True)
class Installed:
    """A tool.

    Attributes:
        wanted: the version that Argo CD runs.
        version: the installed version; empty if it is not installed, or does not print its version.
        path: the program; None if it is not installed.
    """

    json_properties: ClassVar = ("same",)

    name: str
    wanted: str
    version: str
    path: Path | None

    @property
    def same(self) -> bool:
        """True if the version that Argo CD runs is installed."""
        return tool_version(self.version) == tool_version(self.wanted)

    @property
    def is_close(self) -> bool:
        """True if major and minor version are equal to those of Argo CD."""
        return self.version.removeprefix("v").split(".")[:2] == self.wanted.split(".")[:2]


def installed_tools(profile: Profile, context: Context) -> Iterator[Installed]:
    """Yield the installed tools of a profile. Each program is run once for its version."""
    box = profile_toolbox(profile.name)
    for name, expected in sorted(profile.tools.items()):
        own = box.holds(name)
        tool = Tool(name, box.executable(name), None, ToolOrigin.MANAGED) if own else locate_tool(name)
        if tool is None:
            yield Installed(name, expected, "", None)
        else:
            version = tool_versions([tool], context)[name] or ""
            yield Installed(name, expected, version.removeprefix("v"), tool.path)


def check_tool_versions(profile: Profile, context: Context, diagnostics: Diagnostics, *, exact: bool = False) -> None:
    """Report tools of another version than Argo CD runs; a warning if the major or minor version differs.

    Args:
        exact: report every difference as an error.
    """
    for tool in installed_tools(profile, context):
        if tool.same or tool.path is None:  # a missing tool is reported where it is needed
            continue
        has = f"is {tool.version}" if tool.version else "does not print its version"
        difference = Diagnostic(
            "CMD-ARGO-413",
            f"{tool.name} {has}; Argo CD {profile.name} runs {tool.wanted}",
            "warning",
            f"install it in addition: commodore tool install {tool.name} --argocd {profile.name}",
        )
        if exact:
            diagnostics.add(replace(difference, severity="error", family="environment"))
            continue
        diagnostics.add(replace(difference, severity="info", hint="") if tool.is_close else difference)
