"""Programs and sources of a component, and the decisions of the trust policy, for `trust explain`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import InputError, PolicyError, did_you_mean
from commodore.base.files.tree import lies_in
from commodore.base.files.workspace import Workspace
from commodore.base.names import BOOTSTRAP_TARGET
from commodore.catalog.stages.components import kustomize_wrapper
from commodore.catalog.stages.policy import effective_policy
from commodore.catalog.stages.tools import mappings_in
from commodore.core.confinement import BUBBLEWRAP, DEFAULT_POLICY, NAMESPACES, TrustPolicy, isolation, split_words
from commodore.core.confinement.policy import is_common_program
from commodore.core.inventory import compiled_targets, linked_component, render_node
from commodore.core.sources.git import redact_text


@dataclass(frozen=True, slots=True)
class Action:
    """An action of a component while it is rendered.

    Attributes:
        instance: the instance of the action.
        what: `executes` or `fetches`, and the program or source, without credentials.
        capability: the required capability, or list of the policy; empty without a requirement.
        refusal: the reason why the policy does not allow it; empty if it does.
    """

    instance: str
    what: str
    capability: str
    refusal: str


def explain_trust(
    workspace: Workspace, component: str, given: TrustPolicy | None, context: Context
) -> tuple[Action, ...]:
    """Return the actions of a component of the cluster that was last compiled in a workspace.

    Raises:
        InputError: no cluster was compiled there, or it has no such component (CMD-CONF-022).
    """
    policy = effective_policy(workspace, given) or DEFAULT_POLICY
    instances = {
        name: linked_component(workspace, name) for name in compiled_targets(workspace) if name != BOOTSTRAP_TARGET
    }
    names = [name for name, deployed in instances.items() if component in (deployed, name)]
    if not names:
        raise InputError(
            "CMD-CONF-022",
            f"the cluster compiled in {workspace.root} has no component {component!r}",
            hint=did_you_mean(component, set(instances.values())) or "compile the cluster there first",
        )
    actions: list[Action] = []
    for name in names:
        parameters = render_node(workspace.inventory, name, context).parameters
        kapitan = parameters.get("kapitan")
        for what, capability, judged in _actions(
            kapitan if isinstance(kapitan, Mapping) else {}, parameters, str(workspace.root)
        ):
            actions.append(Action(name, what, capability, _refusal(policy, instances[name], capability, judged)))
    return tuple(dict.fromkeys(actions))


def describe_isolation(workspace: Workspace, given: TrustPolicy | None) -> str:
    """Describe the isolation of components' code on this machine, as a sentence.

    Raises:
        CommodoreError: the policy is invalid.
    """
    policy = effective_policy(workspace, given) or DEFAULT_POLICY
    means = "" if policy.isolated is False else isolation()
    if means == NAMESPACES:
        return "Commands and Python code run without network and with their own files only (namespaces)."
    if means == BUBBLEWRAP:
        return "Commands run without network and with their own files only (bubblewrap), Python code does not."
    refused = " They are refused, as the policy demands it." if policy.isolated else ""
    return f"Commands and Python code do what you may do: they are not kept apart.{refused}"


def _actions(kapitan: Mapping[str, Any], parameters: Mapping[str, Any], root: str) -> Iterator[tuple[str, str, str]]:
    """Yield the description of an action, its capability, and the value that the policy checks."""
    directory = Path(str(parameters.get("_base_directory", "")))
    for entry in mappings_in(kapitan.get("compile")):
        paths = [str(path) for path in entry.get("input_paths") or ()]
        kind = entry.get("input_type")
        if kind == "external":
            yield from _commands(entry, paths, root)
        elif kind == "kadet":
            for path in paths:
                yield f"executes the Python module {path}", "kadet", path
        elif kind in ("helm", "kustomize"):
            for path in paths:
                yield f"executes {kind} for {path}", "", path
        if entry.get("helm_path"):
            yield f"executes the program {entry['helm_path']}", "programs", str(entry["helm_path"])
        if kind == "jinja2" and (directory / "lib" / "jinja2_filters.py").is_file():
            yield "executes the functions in lib/jinja2_filters.py", "jinja2_filters", ""
    for dependency in mappings_in(kapitan.get("dependencies")):
        source = str(dependency.get("source", ""))
        yield f"fetches {redact_text(source)} (type {dependency.get('type')})", "hosts", source


def _commands(entry: Mapping[str, Any], paths: list[str], root: str) -> Iterator[tuple[str, str, str]]:
    text = " ".join(str(argument) for argument in entry.get("args") or ())
    for path in paths:
        if path == str(kustomize_wrapper()):
            yield f"executes kustomize: {redact_text(text)}", "", path
        else:
            yield f"executes {path} {redact_text(text)}".rstrip(), "external", path
            if os.path.isabs(path) and not lies_in(path, root) and not is_common_program(path):
                yield f"executes the program {path}", "programs", path
        try:
            split_words(text, path)
        except PolicyError:
            yield f"writes the arguments of {path} for a shell", "shell", path


def _refusal(policy: TrustPolicy, component: str, capability: str, judged: str) -> str:
    try:
        if capability == "hosts":
            policy.require_host(judged, "it")
        elif capability == "programs":
            policy.require_program(judged, "it")
        elif capability:
            policy.require(capability, component, "it")
    except PolicyError as error:
        return error.message
    return ""
