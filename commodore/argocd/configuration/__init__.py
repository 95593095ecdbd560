"""The settings of an Argo CD installation, from the files that hold them."""

from __future__ import annotations

from commodore.argocd.configuration.customisations import IgnoredFields, ResourceOverride
from commodore.argocd.configuration.model import ArgoSettings, Provenanced
from commodore.argocd.configuration.profiles import NEWEST, PROFILES, Profile, choose_profile
from commodore.argocd.configuration.read import Candidates, read_candidates, read_file, read_settings

__all__ = [
    "ArgoSettings",
    "Candidates",
    "IgnoredFields",
    "NEWEST",
    "PROFILES",
    "Profile",
    "Provenanced",
    "ResourceOverride",
    "choose_profile",
    "read_candidates",
    "read_file",
    "read_settings",
]
