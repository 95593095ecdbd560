"""What renderings may read, write, execute and fetch, and how much of everything they may take.

What is rendered here is written by others: components, charts, class files. All wings that render make a `Confinement`
for each rendering, and nothing in rendering code opens a file, starts a process or asks a server past it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.base.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.core.confinement.confinement import Confinement, Roots, is_absent
    from commodore.core.confinement.namespaces import View, launcher
    from commodore.core.confinement.policy import CAPABILITIES, DEFAULT_POLICY, TrustPolicy
    from commodore.core.confinement.policy_file import read_policy
    from commodore.core.confinement.programs import BUBBLEWRAP, NAMESPACES, cannot_isolate, isolation, kept_apart, start
    from commodore.core.confinement.views import view_of
    from commodore.core.confinement.words import split_words

__all__ = [
    "BUBBLEWRAP",
    "CAPABILITIES",
    "Confinement",
    "DEFAULT_POLICY",
    "NAMESPACES",
    "Roots",
    "TrustPolicy",
    "View",
    "cannot_isolate",
    "is_absent",
    "isolation",
    "kept_apart",
    "launcher",
    "read_policy",
    "split_words",
    "start",
    "view_of",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "confinement": ("Confinement", "Roots", "is_absent"),
        "policy": ("CAPABILITIES", "DEFAULT_POLICY", "TrustPolicy"),
        "namespaces": ("View", "launcher"),
        "programs": ("BUBBLEWRAP", "NAMESPACES", "cannot_isolate", "isolation", "kept_apart", "start"),
        "policy_file": ("read_policy",),
        "views": ("view_of",),
        "words": ("split_words",),
    },
)
