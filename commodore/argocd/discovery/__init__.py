"""Which Applications and settings a tree holds."""

from __future__ import annotations

from commodore.argocd.discovery.model import Discovered, Lost, LostKind, Origin, Raw
from commodore.argocd.discovery.own import own_repositories, remotes_of, stands_for
from commodore.argocd.discovery.reach import defining_folders, holds_settings, may_define
from commodore.argocd.discovery.rendered import Chain, Rounds
from commodore.argocd.discovery.scan import Scanned, report_unknown_fields, scan
from commodore.argocd.discovery.select import (
    Kinds,
    Narrowing,
    is_exact,
    may_be_meant,
    names_fit,
    parse_selector,
    select,
)
from commodore.argocd.discovery.served import ServedApis, served_by

__all__ = [
    "Chain",
    "Discovered",
    "Kinds",
    "Lost",
    "LostKind",
    "Narrowing",
    "Origin",
    "Raw",
    "Rounds",
    "Scanned",
    "ServedApis",
    "defining_folders",
    "holds_settings",
    "is_exact",
    "may_be_meant",
    "may_define",
    "names_fit",
    "own_repositories",
    "parse_selector",
    "remotes_of",
    "report_unknown_fields",
    "scan",
    "select",
    "served_by",
    "stands_for",
]
