"""Short causes of failures of helm and kustomize, which wrap them in the names of all steps."""

from __future__ import annotations

import re
from collections.abc import Callable

from commodore.base.errors import did_you_mean
from commodore.base.yaml.helm_errors import endless_template

Cause = tuple[str, str]
"""The cause of a failure, and a hint."""

_LONGEST = 400
_SEE = "read its message"
_FIELDS = (
    *("bases", "buildMetadata", "commonAnnotations", "commonLabels", "components", "configMapGenerator"),
    *("configurations", "crds", "generatorOptions", "generators", "helmCharts", "helmGlobals", "images", "labels"),
    *("namePrefix", "nameSuffix", "namespace", "openapi", "patches", "patchesJson6902", "patchesStrategicMerge"),
    *("replacements", "replicas", "resources", "secretGenerator", "sortOptions", "transformers", "validators", "vars"),
)
_URL = re.compile(r'\b(?:Get|Head) "([^"]+)"')
_NAMED = re.compile(r"from '([^']+)'")
_ADVICE = re.compile(r"\s*Use --debug flag to render out invalid YAML\s*$")
_STEP = re.compile(r'template: (?P<place>[^\s:]+:\d+(?::\d+)?): executing "[^"]*" at <(?P<at>.*?)>: ')


def cause_of(program: str, said: str) -> Cause:
    """Return the cause of a program's failure.

    Args:
        program: helm or kustomize.
        said: its stderr.
    """
    return _helm(said) if program == "helm" else _kustomize(said)


def remote_of(said: str) -> str:
    """Return the remote part of a kustomization that kustomize could not fetch; empty if it names none."""
    match = _URL.search(said) or _NAMED.search(said)
    return match[1] if match is not None else ""


def _kustomize(said: str) -> Cause:
    for pattern, explained in _PATTERNS:
        if (match := pattern.search(said)) is not None:
            return explained(match)
    return _shortened(plain(said)), _SEE


def plain(said: str) -> str:
    """Return a program's message without the prefix `Error:`."""
    return said.removeprefix("Error: ").removeprefix("error: ").strip()


def _by(text: str, hint: str) -> Callable[[re.Match[str]], Cause]:
    return lambda match: (text.format(*(part or "" for part in match.groups())), hint)


def _helm_called(match: re.Match[str]) -> Cause:
    said = plain(plain(match[1])).rstrip(": ")
    return f"helm, called by kustomize, failed: {_shortened(said) or match[2]}", "read the message of helm"


def _unknown_field(match: re.Match[str]) -> Cause:
    hint = did_you_mean(match[1], _FIELDS) or "correct or remove it"
    return f"a kustomization has the unknown field {match[1]}", hint


# The order matters: inner causes are more specific than outer ones.
_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Cause]], ...] = (
    (
        re.compile(r"(?s)unknown shorthand flag: 'c' in -c.*unable to run: '[^']* version -c "),
        _by(
            "this kustomize calls helm 3, and the installed helm is newer",
            "install kustomize 5.8 or later, such as by 'commodore tool install kustomize --argocd 3.5', or helm 3",
        ),
    ),
    (re.compile(r"(?s)(.*)unable to run: '([^']*)'"), _helm_called),
    (
        re.compile(r"cycle detected: candidate root '([^']*)'"),
        _by("the kustomization {0} refers to itself", "remove the entry that leads back to it"),
    ),
    (
        re.compile(r"security; file '([^']*)' is not in or below '([^']*)'"),
        _by(
            "{0} is outside of {1}, the folder of the kustomization that names it",
            "name a folder with a kustomization of its own, or move the file",
        ),
    ),
    (
        re.compile(r"unable to find one of 'kustomization.yaml'.* in directory '([^']*)'"),
        _by("the folder {0}, which a kustomization names, has no kustomization", "add a kustomization.yaml to it"),
    ),
    (
        re.compile(r"MalformedYAMLError: (?:yaml: )?(.*?) in File: ([^\s']+)"),
        _by("{1} is not valid YAML: {0}", "correct the file"),
    ),
    (
        re.compile(r"accumulating resources from '([^']*)': (missing Resource metadata|missing metadata.name[^':]*)"),
        _by("{0} has no Kubernetes objects: {1}", "resources are files with objects, or folders"),
    ),
    (
        re.compile(r"merging resources from '([^']*)': may not add resource with an already registered id: ([^\s']+)"),
        _by("{0} has the object {1}, which another file has, too", "remove or rename one of them"),
    ),
    (
        re.compile(r"(?:no matches for Id (\S+); )?failed to find unique target for patch (\S+)"),
        _by("a patch matches no object: {1}", "correct kind, name and namespace in the patch"),
    ),
    (re.compile(r'invalid Kustomization: json: unknown field "([^"]*)"'), _unknown_field),
    (
        re.compile(r"(?s)invalid Kustomization: (?:json: |yaml: )?(.*)"),
        _by("a kustomization is invalid: {0}", "correct it"),
    ),
    (
        re.compile(r"(?s)accumulat\w+ resources from '([^']+://[^']*)': .*\bfatal: ([^\n']*)"),
        _by("{0} cannot be fetched: {1}", "check the URL and the revision"),
    ),
    (_URL, _by("{0} cannot be fetched", "check the URL and the network")),
    (
        re.compile(r"lstat ([^\n]+?): no such file or directory"),
        _by("{0}, which a kustomization names, does not exist", "correct the entry, or remove it"),
    ),
)


def _helm(said: str) -> Cause:
    text = _ADVICE.sub("", plain(said))
    steps = list(_STEP.finditer(text))
    if endless := endless_template(text):
        return (f"{steps[0]['place']}: {endless}" if steps else endless), "let it end on a condition"
    if not steps or steps[0].start() > 0:
        return _shortened(text), _SEE
    first, last = steps[0], steps[-1]
    used = f" (used by {first['place']})" if first["place"] != last["place"] else ""
    return _shortened(f"{last['place']}{used}: <{last['at']}>: {text[last.end() :]}"), _SEE


def _shortened(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
