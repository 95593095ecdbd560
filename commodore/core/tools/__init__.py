"""External tools: where they are, which version they have, and installing those that are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.base.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.core.tools.find import (
        TOOL_NAMES,
        Source,
        Tool,
        ask_versions,
        find_tools,
        locate_tool,
        managed_folder,
    )
    from commodore.core.tools.install import (
        MANAGEABLE,
        NOT_NEEDED,
        Choice,
        Outcome,
        check_tool,
        install_tool,
        managed_tools,
        missing_tools,
        uninstall_tool,
        upgrade_tool,
    )
    from commodore.core.tools.latest import latest_versions
    from commodore.core.tools.library_versions import CoreLibrary, core_libraries
    from commodore.core.tools.pins import KNOWN_VERSIONS, Pins, known_pins
    from commodore.core.tools.releases import GITHUB_API, Platform, Releases, check_mirror
    from commodore.core.tools.requirements import MINIMUM_VERSIONS, check_minimum, tool_versions
    from commodore.core.tools.status import ToolStatus, survey_tools
    from commodore.core.tools.toolbox import Toolbox, profile_toolbox
    from commodore.core.tools.version_numbers import VersionNumber

__getattr__ = lazy_exports(
    __name__,
    {
        "find": ("TOOL_NAMES", "Source", "Tool", "ask_versions", "find_tools", "locate_tool", "managed_folder"),
        "install": (
            "MANAGEABLE",
            "NOT_NEEDED",
            "Choice",
            "Outcome",
            "check_tool",
            "install_tool",
            "managed_tools",
            "missing_tools",
            "uninstall_tool",
            "upgrade_tool",
        ),
        "latest": ("latest_versions",),
        "requirements": ("MINIMUM_VERSIONS", "check_minimum", "tool_versions"),
        "version_numbers": ("VersionNumber",),
        "pins": ("KNOWN_VERSIONS", "Pins", "known_pins"),
        "releases": ("GITHUB_API", "Platform", "Releases", "check_mirror"),
        "status": ("ToolStatus", "survey_tools"),
        "toolbox": ("Toolbox", "profile_toolbox"),
        "library_versions": ("CoreLibrary", "core_libraries"),
    },
)


__all__ = [
    "Choice",
    "CoreLibrary",
    "GITHUB_API",
    "KNOWN_VERSIONS",
    "MANAGEABLE",
    "MINIMUM_VERSIONS",
    "NOT_NEEDED",
    "Outcome",
    "Pins",
    "Platform",
    "Releases",
    "Source",
    "TOOL_NAMES",
    "Tool",
    "ToolStatus",
    "Toolbox",
    "VersionNumber",
    "ask_versions",
    "check_minimum",
    "check_mirror",
    "check_tool",
    "core_libraries",
    "find_tools",
    "install_tool",
    "known_pins",
    "latest_versions",
    "locate_tool",
    "managed_folder",
    "managed_tools",
    "missing_tools",
    "profile_toolbox",
    "survey_tools",
    "tool_versions",
    "uninstall_tool",
    "upgrade_tool",
]
