"""Check the programs and options of compile entries before they are started. Runs in workers only."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from commodore.base.errors import PolicyError
from commodore.core.confinement import Confinement, split_words
from commodore.core.confinement.helm_options import reads_environment
from commodore.core.confinement.hosts import host_of
from commodore.core.engine.cache.static_key import WRAPPER
from commodore.core.engine.kapitan.shell import quote_paths
from commodore.core.render.kustomizations import all_named, is_remote
from commodore.core.sources.git import redact

_TARGET = "${compiled_target_dir}"
_STAND_IN = "\ue000"  # a private-use character, which no path contains by chance

# Variables that change the programs that a command starts, or their configuration.
_POWERFUL = re.compile(
    r"(PATH|HOME|ENV|BASH_ENV|IFS|SHELL|SHELLOPTS|EDITOR|PAGER|BROWSER|TMPDIR"
    r"|(GIT|LD|DYLD|PYTHON|PERL\d*|RUBY|NODE|JAVA|SSH|XDG|KUBE|KUSTOMIZE|HELM|KAPITAN|COMMODORE)_?\w*)",
    re.IGNORECASE,
)

# Parameters of charts with which helm reads only the chart and the values, and starts no program.
HELM_PARAMETERS = frozenset(
    (
        *("name", "release_name", "namespace", "output_file", "include_crds", "skip_crds", "skip_tests", "no_hooks"),
        *("kube_version", "api_versions", "is_upgrade", "name_template", "skip_schema_validation", "timeout", "debug"),
    )
)
_HELM_HARMLESS = HELM_PARAMETERS | {
    *("set_json", "set_literal", "disable_openapi_validation", "description", "labels", "replace", "force", "devel"),
    *("version", "create_namespace", "wait", "wait_for_jobs", "atomic", "enable_dns", "hide_notes", "no_color"),
    *("render_subchart_notes", "rollback_on_failure", "take_ownership", "server_side", "force_conflicts"),
}
_HELM_UNSAFE = _HELM_HARMLESS & {"enable_dns"}

_KUSTOMIZE_HARMLESS = re.compile(
    r"--reorder(=\w+)?|none|legacy|--enable-managedby-label(=\w+)?|--load-restrictor=LoadRestrictionsRootOnly"
)


# Options with which helm and kustomize start programs of a component.
_STARTS_PROGRAMS = re.compile(
    r"--?(post-renderer|kubeconfig|enable-exec|enable-alpha-plugins|enable-star|helm-command|network|mount)([-=].*)?"
)


def starts_programs(words: Iterable[str]) -> bool:
    """Check if a call of helm or kustomize starts other programs."""
    return any(_STARTS_PROGRAMS.fullmatch(word) for word in words)


def check_helm(
    confinement: Confinement, helm_path: str | None, parameters: Mapping[str, Any], values: Iterable[str]
) -> None:
    """Check the call of helm for a chart.

    Args:
        helm_path: the program in the entry.
        parameters: the entry's `helm_params`.
        values: its files with values.

    Raises:
        PolicyError: it runs another program, contacts a server, or reads files without permission.
    """
    component, policy = confinement.component, confinement.policy
    if helm_path and helm_path != "helm":
        policy.require_program(helm_path, "helm_path")
    for name, given in parameters.items():
        if str(given).startswith("-"):
            raise PolicyError(
                "CMD-ENG-014",
                f"helm_params.{name} is {given!r}, which helm would read as an option",
                hint="give a value that does not begin with '-'",
            )
    passed = {name for name, given in parameters.items() if given is not False}  # Kapitan omits these switches
    for name in sorted(passed - (_HELM_HARMLESS - _HELM_UNSAFE)):
        policy.require("helm_options", component, f"the helm parameter {name!r}")
    if reads_environment(str(parameters.get("name_template", ""))):
        policy.require("helm_options", component, "a name_template that reads variables of the environment")
    for file in values:
        if "://" in file or file == "-":
            policy.require("helm_options", component, "a file with values that is a URL or standard input")
        else:
            confinement.check_tree(os.path.abspath(file), "file with values")


def is_of_machine(path: str, confinement: Confinement) -> bool:
    """Return True if an input path is a program of this machine, which is not an input of a rendering."""
    return os.path.isabs(path) and not confinement.is_open(path) and os.path.isfile(path)


def prepare_external(confinement: Confinement, entry: Any, path: str, known_paths: Iterable[str]) -> str:
    """Check an entry of type `external`, and quote its arguments so that a shell reads exactly these words.

    Args:
        entry: the entry; it is changed.
        path: its program.
        known_paths: the paths that Kapitan and class files put into arguments; they may contain any characters.

    Returns:
        The program, quoted for a shell.

    Raises:
        PolicyError: the policy does not allow the program, or its arguments.
    """
    component, policy = confinement.component, confinement.policy
    is_wrapper, what = path == str(WRAPPER), f"the command {os.path.basename(path)!r}"
    if not is_wrapper:
        policy.require("external", component, what)
        if is_of_machine(path, confinement):
            policy.require_command(path)
        elif path not in policy.programs:
            confinement.check_tree(os.path.abspath(path), "command")
        if policy.allows("shell", component):
            return shlex.quote(path)
    if powerful := sorted(name for name in entry.env_vars if _POWERFUL.fullmatch(name)):
        policy.require("shell", component, f"setting the variable {powerful[0]}")
    text = quote_paths(" ".join(entry.args), known_paths).replace(_TARGET, _STAND_IN)
    words = [word.replace(_STAND_IN, _TARGET) for word in split_words(text, what)]
    if path == sys.executable:
        _check_script(confinement, words, what)
    if is_wrapper:
        _check_kustomize(confinement, words, entry.env_vars.get("INPUT_DIR", ""))
    entry.args = [shlex.quote(word) for word in words]
    return shlex.quote(path)


def _check_script(confinement: Confinement, words: Sequence[str], what: str) -> None:
    """Check that the Python interpreter runs a file of the component, and no code in the arguments."""
    if not words or words[0].startswith("-"):
        confinement.policy.require("shell", confinement.component, f"{what} without the path of a script")
    else:
        confinement.check_tree(os.path.abspath(words[0]), "script")


def _check_kustomize(confinement: Confinement, words: Sequence[str], source: str) -> None:
    """Check the call of kustomize: the first word is the output folder."""
    policy, component = confinement.policy, confinement.component
    for argument in words[1:]:
        if not _KUSTOMIZE_HARMLESS.fullmatch(argument):
            policy.require("kustomize_options", component, f"the kustomize argument {argument!r}")
    if is_remote(source):
        policy.require_host(source, f"the kustomization {redact(source)}")
    elif source and _TARGET not in source:
        check_kustomization(confinement, os.path.abspath(source))


_FILE_URL = re.compile(r"([A-Za-z0-9+-]+::)*file:", re.IGNORECASE)


def check_kustomization(confinement: Confinement, folder: str) -> None:
    """Check a kustomization on this machine and its bases. kustomize reads files of the kustomization's own folder
    only, but folders from anywhere, and remote ones.

    Raises:
        PolicyError: it uses a file that may not be read, or a host that the policy does not allow.
    """
    for place, name in all_named(
        folder,
        confinement.read,
        confinement.limits.kustomizations + 1,
        enter=lambda place: confinement.check_open(place, "kustomization"),
    ):
        if is_remote(name) or (host_of(name) and not os.path.lexists(os.path.join(place, name))):
            # a repository on this machine may be private to the user
            source = "file://localhost" if _FILE_URL.match(name) else name
            confinement.policy.require_host(source, f"the base {redact(name)}")
