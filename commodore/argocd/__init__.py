"""What Argo CD would deploy, from files alone: no cluster, no Argo CD, no kubectl.

`list_applications`, `render`, `diff` and the others are what programs use (docs/how-to/argocd-from-python.md). A name
is loaded when it is first asked for. The rooms within import downwards: comparing, checking, normalising, finishing,
rendering, acquiring, planning, appsets, discovery, configuration, model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.base.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.argocd.acquiring import (
        ArtefactProvider,
        ChartProvider,
        Clock,
        GitProvider,
        PluginRenderer,
        PluginSource,
        Providers,
        RemoteProvider,
    )
    from commodore.argocd.api import (
        ApplicationChange,
        Difference,
        Expansion,
        Expansions,
        Explanation,
        Images,
        ListedApplication,
        ListedSource,
        Listing,
        Provenance,
        Rendering,
        Report,
        Settings,
        SettingValue,
        diff,
        expand,
        explain,
        images,
        list_applications,
        render,
        settings,
        test,
    )
    from commodore.argocd.checking import Outcome
    from commodore.argocd.comparing import Rules, State
    from commodore.argocd.comparing.images import Use
    from commodore.argocd.configuration import ArgoSettings, Provenanced, read_settings
    from commodore.argocd.discovery import Origin
    from commodore.argocd.model import Cluster, KnownRepository
    from commodore.argocd.model.application import Destination
    from commodore.argocd.options import Options, Tree
    from commodore.argocd.rendered import RenderedApplication, Stage
    from commodore.argocd.rendering import Rendered
    from commodore.base.diagnostics import Diagnostic, Diagnostics, Severity, Subject
    from commodore.core.review.object_diff import (
        ABSENT,
        FieldChange,
        Flag,
        Image,
        Item,
        Key,
        NoiseRule,
        ObjectChange,
        PlacedObject,
        path_text,
    )

__getattr__ = lazy_exports(
    __name__,
    {
        "acquiring": (
            "ArtefactProvider",
            "ChartProvider",
            "Clock",
            "GitProvider",
            "PluginRenderer",
            "PluginSource",
            "Providers",
            "RemoteProvider",
        ),
        "api": (
            "ApplicationChange",
            "Difference",
            "Expansion",
            "Expansions",
            "Explanation",
            "Images",
            "ListedApplication",
            "ListedSource",
            "Listing",
            "Provenance",
            "Rendering",
            "Report",
            "SettingValue",
            "Settings",
            "diff",
            "expand",
            "explain",
            "images",
            "list_applications",
            "render",
            "settings",
            "test",
        ),
        "checking": ("Outcome",),
        "comparing": (
            "Rules",
            "State",
            "Subject",
            "ABSENT",
            "FieldChange",
            "Flag",
            "Item",
            "Key",
            "ObjectChange",
            "PlacedObject",
            "path_text",
        ),
        "comparing.images": ("Image", "Use"),
        "configuration": ("ArgoSettings", "Provenanced", "read_settings"),
        "diagnostics": ("Diagnostic", "Diagnostics", "Severity", "Subject"),
        "discovery": ("Origin",),
        "model": ("Cluster", "KnownRepository"),
        "model.application": ("Destination",),
        "options": ("NoiseRule", "Options", "Tree"),
        "rendered": ("RenderedApplication", "Stage"),
        "rendering": ("Rendered",),
    },
)
__all__ = [
    "ABSENT",
    "ApplicationChange",
    "ArgoSettings",
    "ArtefactProvider",
    "ChartProvider",
    "Clock",
    "Cluster",
    "Destination",
    "Diagnostic",
    "Diagnostics",
    "Difference",
    "Expansion",
    "Expansions",
    "Explanation",
    "FieldChange",
    "Flag",
    "GitProvider",
    "Image",
    "Images",
    "Item",
    "Key",
    "KnownRepository",
    "ListedApplication",
    "ListedSource",
    "Listing",
    "NoiseRule",
    "ObjectChange",
    "Options",
    "Origin",
    "Outcome",
    "PlacedObject",
    "PluginRenderer",
    "PluginSource",
    "Provenance",
    "Provenanced",
    "Providers",
    "RemoteProvider",
    "Rendered",
    "RenderedApplication",
    "Rendering",
    "Report",
    "Rules",
    "SettingValue",
    "Settings",
    "Severity",
    "Stage",
    "State",
    "Subject",
    "Tree",
    "Use",
    "diff",
    "expand",
    "explain",
    "images",
    "list_applications",
    "path_text",
    "read_settings",
    "render",
    "settings",
    "test",
]
