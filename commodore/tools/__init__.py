"""External tools: where they are, which version they have. Nothing is installed here."""

from __future__ import annotations

from commodore.tools.find import TOOL_NAMES, Source, Tool, ask_versions, find_tools, locate_tool, managed_folder
from commodore.tools.versions import CoreLibrary, core_libraries

__all__ = [
    "CoreLibrary",
    "Source",
    "TOOL_NAMES",
    "Tool",
    "ask_versions",
    "core_libraries",
    "find_tools",
    "locate_tool",
    "managed_folder",
]
