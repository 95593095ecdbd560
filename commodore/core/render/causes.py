"""The causes of failures of helm and kustomize, in short: both wrap them in the names of all steps on the way."""

from __future__ import annotations

import re
from collections.abc import Callable

from commodore.base.errors import did_you_mean
from commodore.base.yaml.helm_errors import endless_template

Cause = tuple[str, str]
"""Why a program fails, and what to do."""

_LONGEST = 400
_SEE = "see what it says"
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
    """Why a program fails.

    Args:
        program: helm or kustomize.
        said: what it writes to standard error.
    """
    return _helm(said) if program == "helm" else _kustomize(said)


def remote_of(said: str) -> str:
    """The part of a kustomization elsewhere that kustomize could not get; empty if it names none."""
    found = _URL.search(said) or _NAMED.search(said)
    return found[1] if found is not None else ""


def _kustomize(said: str) -> Cause:
    for pattern, explained in _PATTERNS:
        if (found := pattern.search(said)) is not None:
            return explained(found)
    return _shortened(plain(said)), _SEE


def plain(said: str) -> str:
    """What a program says, without the word that this is an error."""
    return said.removeprefix("Error: ").removeprefix("error: ").strip()


def _by(text: str, hint: str) -> Callable[[re.Match[str]], Cause]:
    return lambda found: (text.format(*(part or "" for part in found.groups())), hint)


def _helm_called(found: re.Match[str]) -> Cause:
    said = plain(plain(found[1])).rstrip(": ")
    return f"helm, which it runs, fails: {_shortened(said) or found[2]}", "see what helm says"


def _unknown_field(found: re.Match[str]) -> Cause:
    hint = did_you_mean(found[1], _FIELDS) or "correct or remove it"
    return f"a kustomization has the unknown field {found[1]}", hint


# In this order: what is outermost says least.
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
        _by("the kustomization {0} is made of itself", "remove the entry that leads back to it"),
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
        _by("the folder {0}, which a kustomization names, has none itself", "add a kustomization.yaml to it"),
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
        _by("a patch is for {1}, which none of the objects is", "correct kind, name and namespace in the patch"),
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
