"""The policy file with rules for sources of config management plugins. It is read only if it is named."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import get_args

from commodore.argocd.configuration.read import read_file
from commodore.argocd.model.fields import Fields
from commodore.argocd.model.plugins import Base, Engine, PluginProgram, PluginRule
from commodore.base.errors import InputError, Location, did_you_mean
from commodore.base.limits import Limits
from commodore.base.yaml.kube_scalars import Problem
from commodore.base.yaml.kube_yaml import read_placed_documents

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


_REFUSALS: dict[Engine, str] = {
    "exec": "it runs a program, which needs --enable-plugins",
    "container": "running containers is not supported",
}
_INTERPRETER = re.compile(
    r"(?:ba|da|z|k|mk|a|fi|c|tc|s)?sh|busybox|toybox|env|xargs|nohup|timeout|setsid|stdbuf|nice|sudo|su|doas|chroot|unshare|"
    r"nsenter|ssh|find|parallel|make|gmake|ld[-.].*|(?:python|pypy|perl|ruby|lua|luajit|php|tclsh|node|nodejs|deno|bun)[\d.]*|"
    r"[gmn]?awk|npm|npx|java|go|docker|podman"
)
"""Programs that run code from their arguments, so that a digest does not identify what they do."""

_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_SECONDS = {"init": 10, "generate": 60, "post": 30}
_MOST_SECONDS = 600
_MOST_VARIABLES = 64


def read_policy(file: Path, limits: Limits) -> tuple[PluginRule, ...]:
    """Read the rules of a policy file. Aliases, duplicate keys and unknown keys are errors.

    Raises:
        InputError: CMD-ARGO-101, the file cannot be read; CMD-ARGO-422, it is not a valid policy.
    """
    content = read_file(file, limits)
    place = Location(str(file))
    problems: list[Problem] = []
    try:
        documents = list(read_placed_documents(content, place=str(file), problems=problems))
        _check_plain(content, place)
        if problems:
            message, line = problems[0]
            raise _invalid(message, "write each key once", Location(str(file), line))
        if len(documents) != 1:
            raise _invalid(f"{file} has {len(documents)} documents", "a policy is one document", place)
        fields = Fields.of(documents[0][0], "", place)
        _check_known(fields, ("version", "plugins"))
        if fields.raw("version") != 1:
            raise _invalid(f"version of {file} must be 1", "write version: 1", place)
        return tuple(_rule(rule) for rule in fields.items("plugins"))
    except InputError as error:
        if error.code == "CMD-ARGO-422":
            raise
        raise _invalid(error.message, error.hint, *error.locations) from error


def _rule(fields: Fields) -> PluginRule:
    engine = next((engine for engine in _ENGINES if engine == fields.required("engine")), None)
    if engine is None:
        text = fields.text("engine")
        hint = did_you_mean(text, _ENGINES) or f"there are {', '.join(_ENGINES)}"
        raise _invalid(f"{fields.at('engine')}: unknown engine {text!r}", hint, fields.place)
    _check_known(fields, _FIELDS[engine])
    base = next((base for base in _BASES if base == fields.text("base")), None)
    if base is None:
        raise _invalid(f"{fields.at('base')} must be one of {', '.join(_BASES[1:])}", "correct it", fields.place)
    return PluginRule(
        name=fields.required("name"),
        engine=engine,
        repositories=fields.texts("repositories"),
        options=fields.texts("options"),
        base=base,
        crds=fields.flag("includeCRDs", True),
        place=fields.place,
        program=_program(fields) if engine == "exec" else None,
        refusal=_REFUSALS.get(engine, ""),
    )


def _program(fields: Fields) -> PluginProgram:
    generate, init, post = (fields.texts(name) for name in ("generate", "init", "post"))
    if not generate:
        raise _invalid(
            f"{fields.at('generate')} is missing", "write the program and its arguments as a list", fields.place
        )
    program = generate[0]
    names = {os.path.basename(program), os.path.basename(os.path.realpath(program))}
    if not os.path.isabs(program) or os.path.normpath(program) != program:
        raise _invalid(f"{program} is not the absolute path of a program", "write its absolute path", fields.place)
    if any(map(_INTERPRETER.fullmatch, names)):
        raise _invalid(
            f"{program} runs code from its arguments or files", "name a program, or a script of your own", fields.place
        )
    if any(words[0] != program for words in (init, post) if words):
        raise _invalid("init, generate and post must run the same program", "a rule has one program", fields.place)
    digest = _DIGEST.fullmatch(fields.text("digest"))
    if digest is None:
        raise _invalid(f"{fields.at('digest')} is not a digest", "write sha256: and 64 hex digits", fields.place)
    env, paths = fields.texts("env"), fields.texts("paths")
    if len(env) > _MOST_VARIABLES:
        raise _invalid(f"{fields.at('env')} has more than {_MOST_VARIABLES} names", "name fewer", fields.place)
    for path in paths:
        if path.startswith("/") or {"..", ".git", ""} & {*path.split("/")}:
            raise _invalid(f"{path!r} is outside of the repository", "paths are relative to its root", fields.place)
    return PluginProgram(init, generate, post, digest[1], env, paths, _seconds(fields.fields("timeouts")))


def _seconds(fields: Fields) -> tuple[float, float, float]:
    _check_known(fields, tuple(_SECONDS))
    seconds = []
    for name, default in _SECONDS.items():
        value = fields.raw(name)
        if value is None:
            value = default
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= _MOST_SECONDS:
            raise _invalid(
                f"{fields.at(name)} is not a valid time", f"write seconds, at most {_MOST_SECONDS}", fields.place
            )
        seconds.append(float(value))
    return seconds[0], seconds[1], seconds[2]


def _check_known(fields: Fields, known: Collection[str]) -> None:
    for path, hint in fields.unknown(known):
        raise _invalid(f"unknown field {path} in a policy", hint or f"known are {', '.join(known)}", fields.place)


def _check_plain(content: bytes, place: Location) -> None:
    import yaml

    for token in yaml.scan(content):
        if isinstance(token, yaml.AliasToken | yaml.AnchorToken):
            line = token.start_mark.line + 1
            raise _invalid(f"{place.place} has an alias or anchor", "write it out", Location(place.place, line))


def _invalid(message: str, hint: str, *places: Location) -> InputError:
    return InputError("CMD-ARGO-422", message, hint=hint, locations=list(places))
