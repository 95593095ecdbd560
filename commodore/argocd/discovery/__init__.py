"""Discovering the Applications and settings of a tree."""

from __future__ import annotations

from commodore.argocd.discovery.listing import Listing, open_listing, read_applications, report_unused
from commodore.argocd.discovery.model import LostDefinition, LostKind, Origin
from commodore.argocd.discovery.own import remotes_of
from commodore.argocd.discovery.root import Search, SearchRoot
from commodore.argocd.discovery.select import (
    ApplicationFilter,
    is_exact,
    may_be_meant,
    names_fit,
    parse_select,
    select,
)
from commodore.argocd.discovery.served import served_by

__all__ = [
    "Listing",
    "LostDefinition",
    "LostKind",
    "ApplicationFilter",
    "Origin",
    "Search",
    "SearchRoot",
    "is_exact",
    "may_be_meant",
    "names_fit",
    "open_listing",
    "parse_select",
    "read_applications",
    "remotes_of",
    "report_unused",
    "select",
    "served_by",
]
