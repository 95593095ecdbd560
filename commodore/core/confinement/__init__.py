"""The files, programs and hosts that a rendering may use, and its limits.

The rendered files come from others: components, charts, class files. Every rendering has its own `Confinement`. Code of
renderings opens files, starts programs and contacts servers through it only.
"""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.core.confinement.confinement import Confinement as Confinement
    from commodore.core.confinement.confinement import Roots as Roots
    from commodore.core.confinement.confinement import is_absent as is_absent
    from commodore.core.confinement.namespaces import View as View
    from commodore.core.confinement.namespaces import launcher as launcher
    from commodore.core.confinement.policy import CAPABILITIES as CAPABILITIES
    from commodore.core.confinement.policy import DEFAULT_POLICY as DEFAULT_POLICY
    from commodore.core.confinement.policy import TrustPolicy as TrustPolicy
    from commodore.core.confinement.policy_file import read_policy as read_policy
    from commodore.core.confinement.programs import BUBBLEWRAP as BUBBLEWRAP
    from commodore.core.confinement.programs import NAMESPACES as NAMESPACES
    from commodore.core.confinement.programs import cannot_isolate as cannot_isolate
    from commodore.core.confinement.programs import isolated_command as isolated_command
    from commodore.core.confinement.programs import isolation as isolation
    from commodore.core.confinement.programs import start as start
    from commodore.core.confinement.views import view_of as view_of
    from commodore.core.confinement.words import split_words as split_words
else:
    __getattr__ = lazy_exports(__name__)
