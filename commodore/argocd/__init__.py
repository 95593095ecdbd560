"""What Argo CD would deploy, from files alone: no cluster, no Argo CD, no kubectl.

The rooms within import downwards: normalising, finishing, rendering, acquiring, planning, appsets, discovery,
configuration, model.
"""

from __future__ import annotations

from commodore.argocd.configuration import ArgoSettings, read_settings
from commodore.argocd.diagnostics import Diagnostic, Diagnostics, Severity

__all__ = ["ArgoSettings", "Diagnostic", "Diagnostics", "Severity", "read_settings"]
