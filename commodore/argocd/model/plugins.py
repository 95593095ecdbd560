"""Config management plugins that need not be run: what they would give, this program can render itself."""

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
    """A program that renders sources, as a policy of the user has it.

    Attributes:
        init: how it is called before `generate`, in the same folder; empty if it is not.
        generate: how it is called for the manifests, which it writes to standard output.
        post: how it is called with these as standard input, to write others; empty if it is not.
        digest: the SHA-256 of the program, in hex.
        env: the names of `plugin.env` that sources may set.
        paths: files and folders of the repository that it sees beside the folder of the source.
        seconds: how long `init`, `generate` and `post` may take.
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
    """What becomes of the sources of a plugin.

    Attributes:
        name: as sources name it.
        engine: `native-kustomize` and `native-helm`: a source of that type; `avp`: one whose placeholders of secrets
            stay as they are; `exec`: one that `program` renders; `container` is read and never run.
        repositories: patterns of the repositories whose sources it is for; all if there are none.
        options: words after `kustomize build .`.
        base: the type that `avp` renders; empty for what lies in the folder.
        crds: whether CRDs of charts are rendered.
        program: what `exec` runs.
        refusal: why it is not run; empty if it may be.
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
    """The rule for a ConfigManagementPlugin that does nothing but a plain build; None for others.

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
    """The words of a command, of one in a shell, too, if nothing of the shell is used; None otherwise."""
    if len(command) == 3 and command[0] in _SHELLS and command[1] == "-c":
        text = command[2].strip().replace('"$ARGOCD_APP_NAME"', "$ARGOCD_APP_NAME")
        return tuple(text.split(" ")) if _HARMLESS.issuperset(text) and "  " not in text else None
    return command
