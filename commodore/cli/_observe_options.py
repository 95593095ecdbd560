"""What the options of the observe commands say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from commodore.errors import UsageError
from commodore.observe import PlanOptions, Scope, read_duration, read_selector

_PREFIX = re.compile(r"[a-z0-9]([a-z0-9.-]{0,200}[a-z0-9])?")
_VERSION = re.compile(r"v?(\d+)\.(\d+)([.+-].*)?")
_HOLDS = (1, 11)  # the first Kargo that keeps automatic promotion back after a Promotion by hand


def plan_options(values: dict[str, Any]) -> PlanOptions:
    """How to decide.

    Raises:
        UsageError: CMD-OBS-030, an option's value cannot be read.
    """
    if not _PREFIX.fullmatch(values["label_prefix"]):
        raise _wrong("--label-prefix", values["label_prefix"], "a DNS name like observer.example.com")
    pause = values["pause_file"]
    return PlanOptions(
        observe_mode=values["observe_mode"],
        allow_conflicts=values["allow_conflicts"],
        other_artifacts=values["other_artifacts"],
        unsynced=values["unsynced"],
        auto_promotion=values["auto_promotion"],
        settle=duration("--settle", values["settle"]),
        health=frozenset(parts([values["health"]])),
        clock_margin=duration("--clock-margin", values["clock_margin"]),
        label_prefix=values["label_prefix"],
        paused=pause is not None and pause.exists(),
        dry_run=values["dry_run"],
    )


def scope(values: dict[str, Any]) -> Scope:
    """Which objects to look at.

    Raises:
        UsageError: CMD-OBS-030, the selector cannot be read.
    """
    selector = read_selector(values["selector"] or "")
    if selector is None:
        raise _wrong("--selector", values["selector"], "labels like team=web,tier!=test")
    return Scope(
        namespaces=frozenset(parts(values["namespace"])),
        application_namespaces=frozenset(parts(values["application_namespace"])),
        selector=selector,
    )


def holds(values: dict[str, Any]) -> bool | None:
    """Whether this Kargo knows holds of automatic promotion; None: not said.

    Raises:
        UsageError: CMD-OBS-030, the version cannot be read.
    """
    text = values["kargo_version"]
    if not text:
        return None
    if (match := _VERSION.fullmatch(text)) is None:
        raise _wrong("--kargo-version", text, "a version like 1.11")
    return (int(match[1]), int(match[2])) >= _HOLDS


def duration(flag: str, text: str) -> timedelta:
    """A duration that an option gives.

    Raises:
        UsageError: CMD-OBS-030, it is none.
    """
    found = read_duration(text)
    if found is None:
        raise _wrong(flag, text, "a number of seconds, or a duration like 1m30s")
    return found


def parts(texts: Iterable[str]) -> list[str]:
    """The parts of lists with commas."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def _wrong(flag: str, text: str, wanted: str) -> UsageError:
    return UsageError("CMD-OBS-030", f"the value '{text}' of {flag} cannot be read", hint=f"give {wanted}")
