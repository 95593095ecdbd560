"""The settings of an Argo CD installation, read from files."""

from __future__ import annotations

from commodore.argocd.configuration.chart_values import objects_of_values
from commodore.argocd.configuration.customisations import IgnoredFields, ResourceOverride
from commodore.argocd.configuration.installation import Installation, read_installation
from commodore.argocd.configuration.model import ArgoSettings, LocatedValue
from commodore.argocd.configuration.plugin_policy import read_policy
from commodore.argocd.configuration.profiles import NEWEST, Profile, VersionOptions, choose_profile
from commodore.argocd.configuration.read import Candidates, read_candidates, read_file, read_settings

__all__ = [
    "ArgoSettings",
    "Candidates",
    "VersionOptions",
    "IgnoredFields",
    "Installation",
    "NEWEST",
    "Profile",
    "LocatedValue",
    "ResourceOverride",
    "choose_profile",
    "objects_of_values",
    "read_candidates",
    "read_file",
    "read_installation",
    "read_policy",
    "read_settings",
]
