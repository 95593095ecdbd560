"""The followed version of Argo CD."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import commodore.cli.argocd.settings
from commodore.argocd import ArgoSettings, Diagnostics
from commodore.argocd.configuration import NEWEST, choose_profile
from commodore.argocd.configuration.profiles import PROFILES
from commodore.base.errors import Location, UsageError

ROOT = Path(__file__).parents[3]


@pytest.mark.requirement("D19", "D80")
@pytest.mark.parametrize(
    ("written", "pinned", "name", "severities"),
    [
        ("", [], "3.5", ["info"]),
        ("3.4", [], "3.4", []),
        ("v3.0.12", ["3.4.1"], "3.0", []),
        ("3.6", [], "3.6", []),
        ("", ["3.1.2"], "3.1", []),
        ("", ["3.1.2", "3.1.10"], "3.1", []),
        ("", ["3.10.0", "3.4.2"], "3.6", ["warning", "warning"]),
        ("2.14", [], "3.0", ["warning"]),
        ("4.0", [], "3.6", ["warning"]),
    ],
)
def test_which_version_counts(written: str, pinned: list[str], name: str, severities: list[str]) -> None:
    diagnostics = Diagnostics()
    chosen = choose_profile(written, {name: Location("a.yaml", 1) for name in pinned}, diagnostics)
    assert chosen.name == name
    assert [(item.code, item.severity) for item in diagnostics.collected()] == [
        ("CMD-ARGO-910", item) for item in severities
    ]


@pytest.mark.parametrize("text", ["newest", "3.4..3.5", "3.4.1..3.5.0", "3.4..", "..3.4"])
def test_what_is_no_version(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        choose_profile(text, {}, Diagnostics())
    assert caught.value.code == "CMD-ARGO-027"


@pytest.mark.requirement("D80", "D81")
def test_the_reference_is_the_newest_released_version() -> None:
    """A new reference is one change here, with its row in the page about compatibility."""
    assert (NEWEST.name, ArgoSettings().profile) == ("3.5", NEWEST)
    assert [profile.name for profile in PROFILES if not profile.released] == ["3.6"]
    assert dict(NEWEST.tools) == {"helm": "4.2.1", "kustomize": "5.8.1"}


@pytest.mark.requirement("D81")
def test_the_page_about_compatibility_has_the_same_versions() -> None:
    page = (ROOT / "docs" / "reference" / "argocd-compatibility.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (3\.\d+)( \(not released\))? \| ([\d.]+) \| ([\d.]+) \|", page, re.MULTILINE)
    assert [(name, not note, helm, kustomize) for name, note, helm, kustomize in rows] == [
        (profile.name, profile.released, profile.tools["helm"], profile.tools["kustomize"]) for profile in PROFILES
    ]
    assert f"Argo CD's own code of **{NEWEST.name}**" in page


@pytest.mark.requirement("D5")
def test_no_option_leads_to_a_cluster() -> None:
    """No option is for a cluster. The page lists the requirements of such a feature."""
    page = (ROOT / "docs" / "reference" / "argocd-compatibility.md").read_text(encoding="utf-8")
    assert "What a feature that queries a cluster would need" in page
    settings = [options for name, options in vars(commodore.cli.argocd.settings).items() if name.startswith("ARGOCD_")]
    flags = {flag for several in settings for option in several for flag in option.flags}
    assert flags
    flags.remove("--context")  # the lines around what differs, as `diff` calls them
    assert not [flag for flag in flags if re.search(r"kubeconfig|context|live|server|token", flag)]


@pytest.mark.requirement("D7", "D8")
def test_nothing_of_the_comparison_is_imported() -> None:
    """Argo CD itself is compared with only in development."""
    for path in (ROOT / "commodore" / "argocd").rglob("*.py"):
        assert not re.search(r"^\s*(import|from) (tests|bench|compare|oracle)\b", path.read_text("utf-8"), re.MULTILINE)
