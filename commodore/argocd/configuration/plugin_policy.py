"""The file that says what becomes of the sources of config management plugins. It is never found by itself."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import get_args

from commodore.argocd.configuration.read import read_file
from commodore.argocd.model.fields import Fields
from commodore.argocd.model.plugins import Base, Engine, PluginRule
from commodore.errors import InputError, Location, did_you_mean
from commodore.limits import Limits
from commodore.manifests.kube_yaml import Problem, read_placed_documents

_ENGINES: tuple[Engine, ...] = get_args(Engine)
_COMMON = ("name", "repositories", "engine")
_FIELDS: dict[Engine, tuple[str, ...]] = {
    "native-kustomize": (*_COMMON, "options"),
    "native-helm": (*_COMMON, "includeCRDs"),
    "avp": (*_COMMON, "base"),
    "exec": (*_COMMON, "generate", "init", "post", "env", "paths", "digest", "timeouts"),
    "container": (*_COMMON, "image", "generate", "env", "paths", "timeouts"),
}
_BASES: tuple[Base, ...] = get_args(Base)


def read_policy(file: Path, limits: Limits) -> tuple[PluginRule, ...]:
    """The rules of a policy file. It is read strictly: no aliases, no key twice, no key that means nothing.

    Raises:
        InputError: CMD-ARGO-101, the file cannot be read; CMD-ARGO-422, it is no policy.
    """
    content = read_file(file, limits)
    place = Location(str(file))
    problems: list[Problem] = []
    try:
        documents = list(read_placed_documents(content, place=str(file), problems=problems))
        _check_plain(content, place)
        if problems:
            message, line = problems[0]
            raise _wrong(message, "write each key once", Location(str(file), line))
        if len(documents) != 1:
            raise _wrong(f"{file} has {len(documents)} documents", "a policy is one document", place)
        fields = Fields.of(documents[0][0], "", place)
        _check_known(fields, ("version", "plugins"))
        if fields.raw("version") != 1:
            raise _wrong(f"{file} has no version 1", "write version: 1", place)
        return tuple(_rule(one) for one in fields.items("plugins"))
    except InputError as error:
        if error.code == "CMD-ARGO-422":
            raise
        raise _wrong(error.message, error.hint, *error.locations) from error


def _rule(fields: Fields) -> PluginRule:
    engine = next((one for one in _ENGINES if one == fields.required("engine")), None)
    if engine is None:
        text = fields.text("engine")
        hint = did_you_mean(text, _ENGINES) or f"there are {', '.join(_ENGINES)}"
        raise _wrong(f"{fields.at('engine')} is {text!r}, which is none", hint, fields.place)
    _check_known(fields, _FIELDS[engine])
    base = next((one for one in _BASES if one == fields.text("base")), None)
    if base is None:
        raise _wrong(f"{fields.at('base')} is none of {', '.join(_BASES[1:])}", "correct it", fields.place)
    return PluginRule(
        name=fields.required("name"),
        engine=engine,
        repositories=fields.texts("repositories"),
        options=fields.texts("options"),
        base=base,
        crds=fields.flag("includeCRDs", True),
        place=fields.place,
    )


def _check_known(fields: Fields, known: Collection[str]) -> None:
    for path, hint in fields.unknown(known):
        raise _wrong(f"{path} means nothing in a policy", hint or f"known are {', '.join(known)}", fields.place)


def _check_plain(content: bytes, place: Location) -> None:
    import yaml

    for token in yaml.scan(content):
        if isinstance(token, yaml.AliasToken | yaml.AnchorToken):
            line = token.start_mark.line + 1
            raise _wrong(f"{place.place} has an alias or anchor", "write it out", Location(place.place, line))


def _wrong(message: str, hint: str, *places: Location) -> InputError:
    return InputError("CMD-ARGO-422", message, hint=hint, locations=list(places))
