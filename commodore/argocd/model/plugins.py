"""Rules for config management plugins, and plugins that are rendered without running them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from commodore.argocd.model.fields import Fields
from commodore.base.errors import Location

Engine = Literal["native-kustomize", "native-helm", "avp", "exec", "container"]
Base = Literal["", "directory", "helm", "kustomize"]

_BUILD = ("kustomize", "build", ".")
_TEMPLATE = ("helm", "template", "$ARGOCD_APP_NAME", ".")
_SHELLS = ("sh", "bash", "/bin/sh", "/bin/bash")
_HARMLESS = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 =_./,-$")


@dataclass(frozen=True, slots=True)
class PluginProgram:
    """A program that renders sources, from the policy of the user.

    Attributes:
        init: the command before `generate`, in the same folder; empty for none.
        generate: the command that writes the manifests to standard output.
        post: the command that reads these on standard input, and writes others; empty for none.
        digest: the SHA-256 of the program, in hex.
        env: the names of `plugin.env` that sources may set.
        paths: files and folders of the repository that it sees in addition to the folder of the source.
        seconds: the time limits of `init`, `generate` and `post`.
    """

    init: tuple[str, ...]
    generate: tuple[str, ...]
    post: tuple[str, ...]
    digest: str
    env: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    seconds: tuple[float, float, float] = (10.0, 60.0, 30.0)


@dataclass(frozen=True, slots=True)
class PluginRule:
    """A rule for the sources of a plugin.

    Attributes:
        name: the name of the plugin.
        engine: `native-kustomize` and `native-helm` render a source of that type; `avp` keeps placeholders of
            secrets; `exec` runs `program`; `container` is read and never run.
        repositories: patterns of repositories; empty for all.
        options: further arguments of `kustomize build .`.
        base: the type that `avp` renders; empty to detect it from the folder.
        crds: True to render CRDs of charts.
        program: the program of `exec`.
        refusal: the reason why it must not run; empty if it may.
    """

    name: str
    engine: Engine
    repositories: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    base: Base = ""
    crds: bool = True
    place: Location | None = None
    program: PluginProgram | None = None
    refusal: str = ""


def rule_of_definition(value: Mapping[str, Any], place: Location) -> PluginRule | None:
    """Return the rule for a ConfigManagementPlugin that is only a plain build; None for others.

    Raises:
        InputError: CMD-ARGO-103, a field is missing or has a wrong type.
    """
    fields = Fields.of(value, "", place)
    spec = fields.fields("spec")
    name, version = fields.fields("metadata").required("name"), spec.text("version")
    generate = spec.fields("generate")
    words = _plain_words((*generate.texts("command"), *generate.texts("args")))
    known = f"{name}-{version}" if version else name
    if "init" in spec or words is None:
        return None
    if words[:3] == _BUILD:
        return PluginRule(known, "native-kustomize", options=words[3:], place=place)
    if words in (_TEMPLATE, (*_TEMPLATE, "--include-crds")):
        return PluginRule(known, "native-helm", crds=words[-1] == "--include-crds", place=place)
    return None


def _plain_words(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the arguments of a command, also of a shell that uses no shell syntax; None for others."""
    if len(command) == 3 and command[0] in _SHELLS and command[1] == "-c":
        text = command[2].strip().replace('"$ARGOCD_APP_NAME"', "$ARGOCD_APP_NAME")
        return tuple(text.split(" ")) if _HARMLESS.issuperset(text) and "  " not in text else None
    return command
