"""The tools that are installed, beside those that the version of Argo CD has that is followed."""

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
    """One tool.

    Attributes:
        wanted: the version that Argo CD runs.
        version: the version that is there; empty if there is none, or it does not say it.
        path: the program; None if there is none.
    """

    json_properties: ClassVar = ("same",)

    name: str
    wanted: str
    version: str
    path: Path | None

    @property
    def same(self) -> bool:
        """Whether it is that version."""
        return tool_version(self.version) == tool_version(self.wanted)

    @property
    def is_close(self) -> bool:
        """Whether it is that version but for the last number."""
        return self.version.removeprefix("v").split(".")[:2] == self.wanted.split(".")[:2]


def installed_tools(profile: Profile, context: Context) -> Iterator[Installed]:
    """The tools of a profile as they are here. Each program is asked for its version once."""
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
    """Report tools of another version than Argo CD runs; a warning if more than the last number differs.

    Args:
        exact: make it an error whatever differs.
    """
    for tool in installed_tools(profile, context):
        if tool.same or tool.path is None:  # what needs a missing tool says so
            continue
        has = f"is {tool.version}" if tool.version else "does not say its version"
        told = Diagnostic(
            "CMD-ARGO-413",
            f"{tool.name} {has}; Argo CD {profile.name} runs {tool.wanted}",
            "warning",
            f"install it beside the other one: commodore tool install {tool.name} --argocd {profile.name}",
        )
        if exact:
            diagnostics.add(replace(told, severity="error", family="environment"))
            continue
        diagnostics.add(replace(told, severity="info", hint="") if tool.is_close else told)
