"""The versions of Argo CD that can be followed: which tools each runs, and what it does not know yet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import Location, UsageError

_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:[.+-].*)?")


@dataclass(frozen=True, slots=True)
class Followed:
    """Options: the version of Argo CD that is followed.

    Attributes:
        argocd_version: if empty, the one that the tree installs, else the newest one.
        base_argocd_version: that of the base of a comparison; empty for the same version.
        exact_tools: make it an error if a tool has another version than Argo CD runs.
    """

    argocd_version: str = ""
    base_argocd_version: str = ""
    exact_tools: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """A minor version of Argo CD.

    Attributes:
        number: major and minor.
        tools: the versions of the programs that it runs.
        released: whether it can be what is meant by the newest one.
    """

    number: tuple[int, int]
    tools: Mapping[str, str]
    released: bool = True

    @property
    def name(self) -> str:
        """As users write it, `3.4`."""
        return ".".join(map(str, self.number))

    @property
    def skips_marked_files(self) -> bool:
        """Whether files with the mark `+argocd:skip-file-rendering` are left out of directories."""
        return self.number >= (3, 1)

    @property
    def plain_kube_version(self) -> bool:
        """Whether versions of Kubernetes are made three numbers before tools get them."""
        return self.number >= (3, 1)

    @property
    def overrides_kustomize_version(self) -> bool:
        """Whether override files may choose the version of kustomize."""
        return self.number >= (3, 2)

    @property
    def globs_value_files(self) -> bool:
        """Whether entries of value files may be patterns."""
        return self.number >= (3, 4)

    @property
    def resolves_matrix_values(self) -> bool:
        """Whether `values` of the second generator of a matrix are rendered with what the first one gives."""
        return self.number >= (3, 4)

    @property
    def has_tag_prefixes(self) -> bool:
        """Whether sources may say what tags begin with that are versions."""
        return self.number >= (3, 5)

    @property
    def has_unfiltered_directories(self) -> bool:
        """Whether directories may take files of every name."""
        return self.number >= (3, 6)

    @property
    def has_helm_4(self) -> bool:
        """Whether sources may ask for helm 4."""
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
    """The profile that an option names, else the one that a tree pins, else the newest that is released.

    Args:
        written: the option, such as `3.4` or `v3.4.1`; empty if it is not given.
        pinned: the versions of Argo CD that the files of a tree install, with their places.
        found: collects what is assumed.

    Raises:
        UsageError: CMD-ARGO-027, the option is no version.
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
            f"nothing says which version of Argo CD is meant, so {NEWEST.name} is followed",
            "info",
            "say it by --argocd-version",
        )
    )
    return NEWEST


def _number(text: str) -> tuple[int, int]:
    parts = _VERSION.fullmatch(text.strip())
    if parts is None:
        raise UsageError(
            "CMD-ARGO-027", f"{text[:80]!r} is no version of Argo CD", hint=f"write it as {NEWEST.name} or v3.4.1"
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
                f"Argo CD {text} is not known here, so {chosen.name} is followed",
                "warning",
                f"known are {known}",
                locations=places,
            )
        )
    return chosen
