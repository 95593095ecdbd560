"""What renderings may read, write, execute and fetch, and how much of everything they may take.

What is rendered here is written by others: components, charts, class files. All wings that render make a `Confinement`
for each rendering, and nothing in rendering code opens a file, starts a process or asks a server past it.
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
    from commodore.core.confinement.programs import isolation as isolation
    from commodore.core.confinement.programs import kept_apart as kept_apart
    from commodore.core.confinement.programs import start as start
    from commodore.core.confinement.views import view_of as view_of
    from commodore.core.confinement.words import split_words as split_words
else:
    __getattr__ = lazy_exports(__name__)
