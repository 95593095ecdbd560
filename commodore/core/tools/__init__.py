"""External tools: find them, read their versions, install missing ones."""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.core.tools.find import Tool as Tool
    from commodore.core.tools.find import ToolOrigin as ToolOrigin
    from commodore.core.tools.find import ask_versions as ask_versions
    from commodore.core.tools.find import find_tools as find_tools
    from commodore.core.tools.find import locate_tool as locate_tool
    from commodore.core.tools.find import managed_folder as managed_folder
    from commodore.core.tools.install import MANAGEABLE as MANAGEABLE
    from commodore.core.tools.install import NOT_NEEDED as NOT_NEEDED
    from commodore.core.tools.install import Choice as Choice
    from commodore.core.tools.install import InstallOutcome as InstallOutcome
    from commodore.core.tools.install import install_tool as install_tool
    from commodore.core.tools.install import managed_tools as managed_tools
    from commodore.core.tools.install import missing_tools as missing_tools
    from commodore.core.tools.install import uninstall_tool as uninstall_tool
    from commodore.core.tools.install import upgrade_tool as upgrade_tool
    from commodore.core.tools.latest import latest_versions as latest_versions
    from commodore.core.tools.library_versions import CoreLibrary as CoreLibrary
    from commodore.core.tools.library_versions import core_libraries as core_libraries
    from commodore.core.tools.library_versions import installed_version as installed_version
    from commodore.core.tools.pins import KNOWN_VERSIONS as KNOWN_VERSIONS
    from commodore.core.tools.pins import known_pins as known_pins
    from commodore.core.tools.releases import GITHUB_API as GITHUB_API
    from commodore.core.tools.releases import Platform as Platform
    from commodore.core.tools.releases import Releases as Releases
    from commodore.core.tools.releases import check_mirror as check_mirror
    from commodore.core.tools.requirements import MINIMUM_VERSIONS as MINIMUM_VERSIONS
    from commodore.core.tools.requirements import check_minimum as check_minimum
    from commodore.core.tools.requirements import tool_versions as tool_versions
    from commodore.core.tools.status import ToolStatus as ToolStatus
    from commodore.core.tools.status import survey_tools as survey_tools
    from commodore.core.tools.toolbox import Toolbox as Toolbox
    from commodore.core.tools.toolbox import profile_toolbox as profile_toolbox
    from commodore.core.tools.version_numbers import named_version as named_version
    from commodore.core.tools.version_numbers import tool_version as tool_version
else:
    __getattr__ = lazy_exports(__name__)
