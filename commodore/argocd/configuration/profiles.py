"""The supported versions of Argo CD: the tools that each runs, and its features."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import Location, UsageError

_VERSION = re.compile(r"(?!.*\.\.)v?(\d+)\.(\d+)(?:[.+-].*)?")  # no range, which only `diff` takes


@dataclass(frozen=True, slots=True)
class VersionOptions:
    """Options: the version of Argo CD to follow.

    Attributes:
        argocd_version: if empty, the version that the tree installs, else the newest.
        base_argocd_version: the version for the base of a comparison; empty for the same version.
        exact_tools: report an error if a tool has another version than Argo CD runs.
    """

    argocd_version: str = ""
    base_argocd_version: str = ""
    exact_tools: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """A minor version of Argo CD.

    Attributes:
        number: major and minor.
        tools: the versions of the programs that it runs, by name.
        released: True if it can be the newest version.
    """

    number: tuple[int, int]
    tools: Mapping[str, str]
    released: bool = True

    @property
    def name(self) -> str:
        """The version as users write it, such as `3.4`."""
        return ".".join(map(str, self.number))

    @property
    def skips_marked_files(self) -> bool:
        """True if files with the mark `+argocd:skip-file-rendering` are left out of directories."""
        return self.number >= (3, 1)

    @property
    def plain_kube_version(self) -> bool:
        """True if versions of Kubernetes are passed to tools as three numbers."""
        return self.number >= (3, 1)

    @property
    def overrides_kustomize_version(self) -> bool:
        """True if override files may set the version of kustomize."""
        return self.number >= (3, 2)

    @property
    def globs_value_files(self) -> bool:
        """True if entries of value files may be patterns."""
        return self.number >= (3, 4)

    @property
    def resolves_matrix_values(self) -> bool:
        """True if `values` of the second generator of a matrix may use parameters of the first."""
        return self.number >= (3, 4)

    @property
    def has_tag_prefixes(self) -> bool:
        """True if sources may set the prefix of tags that are versions."""
        return self.number >= (3, 5)

    @property
    def has_unfiltered_directories(self) -> bool:
        """True if directories may include files with any name."""
        return self.number >= (3, 6)

    @property
    def has_helm_4(self) -> bool:
        """True if sources may choose helm 4."""
        return self.number >= (3, 5)


def _profile(number: tuple[int, int], helm: str, kustomize: str, *, released: bool = True) -> Profile:
    return Profile(number, {"helm": helm, "kustomize": kustomize}, released)


PROFILES = (
    _profile((3, 0), "3.17.1", "5.6.0"),
    _profile((3, 1), "3.18.4", "5.7.0"),
    _profile((3, 2), "3.18.4", "5.7.0"),
    _profile((3, 3), "3.19.4", "5.8.1"),
    _profile((3, 4), "3.19.4", "5.8.1"),
    _profile((3, 5), "4.2.1", "5.8.1"),
    _profile((3, 6), "4.2.4", "5.8.1", released=False),
)
NEWEST = max((profile for profile in PROFILES if profile.released), key=lambda profile: profile.number)


def choose_profile(written: str, pinned: Mapping[str, Location], diagnostics: Diagnostics) -> Profile:
    """Return the profile of an option, else that of the version that a tree installs, else the newest released.

    Args:
        written: the option, such as `3.4` or `v3.4.1`; empty if it is not given.
        pinned: the versions of Argo CD that the files of a tree install, with their places.
        diagnostics: collects assumptions.

    Raises:
        UsageError: CMD-ARGO-027, the option is not a version.
    """
    if written:
        return _nearest(written, (), diagnostics)
    known = {name: pinned[name] for name in sorted(pinned, key=_number)}
    minors = sorted({_number(name) for name in known})
    if len(minors) > 1:
        diagnostics.add(
            Diagnostic(
                "CMD-ARGO-910",
                f"the tree installs several versions of Argo CD: {', '.join(known)}; the newest counts",
                "warning",
                "choose one by --argocd-version",
                locations=tuple(known.values()),
            )
        )
    if known:
        name, place = list(known.items())[-1]
        return _nearest(name, (place,), diagnostics)
    diagnostics.add(
        Diagnostic(
            "CMD-ARGO-910",
            f"the version of Argo CD is unknown, so {NEWEST.name} is followed",
            "info",
            "set it by --argocd-version",
        )
    )
    return NEWEST


def _number(text: str) -> tuple[int, int]:
    parts = _VERSION.fullmatch(text.strip())
    if parts is None:
        raise UsageError(
            "CMD-ARGO-027", f"{text[:80]!r} is not a version of Argo CD", hint=f"write it as {NEWEST.name} or v3.4.1"
        )
    return int(parts[1]), int(parts[2])


def _nearest(text: str, places: tuple[Location, ...], diagnostics: Diagnostics) -> Profile:
    number = _number(text)
    chosen = max(
        (profile for profile in PROFILES if profile.number <= number),
        key=lambda profile: profile.number,
        default=PROFILES[0],
    )
    if chosen.number != number:
        known = ", ".join(profile.name for profile in PROFILES)
        diagnostics.add(
            Diagnostic(
                "CMD-ARGO-910",
                f"Argo CD {text} is not supported, so {chosen.name} is followed",
                "warning",
                f"supported are {known}",
                locations=places,
            )
        )
    return chosen
