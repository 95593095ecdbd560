"""Expanding ApplicationSets to Applications."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from commodore.argocd.appsets.fact_files import Facts
from commodore.argocd.appsets.fields import TextRenderer
from commodore.argocd.appsets.generate import GeneratorInputs, Generators
from commodore.argocd.appsets.git_files import FORM, GitGenerator, Repositories
from commodore.argocd.appsets.model import ApplicationSet, Entry, read_template
from commodore.argocd.appsets.schema import TEMPLATE, typed
from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.model import Cluster
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic, Diagnostics, Severity, Subject
from commodore.base.errors import CommodoreError, InputError, PolicyError
from commodore.base.fields import boolean_of, unquoted
from commodore.base.yaml.kube_yaml import read_documents

API_VERSION: Final = "argoproj.io/v1alpha1"
FINALIZER: Final = "resources-finalizer.argocd.argoproj.io"
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")

_TEMPLATE: Final = re.compile(r"{{\s*([A-Za-z]+)\s*}}")


@dataclass(frozen=True, slots=True)
class Generated:
    """An Application that an ApplicationSet generates.

    Attributes:
        data: the object.
        set: the name of the ApplicationSet.
        path: the path of the generator in the ApplicationSet.
        number: the index of the parameter set of that generator, from 0.
        params: the parameters.
    """

    data: Mapping[str, Any]
    set: str
    path: str
    number: int
    params: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the Application."""
        return str(self.data["metadata"].get("name", ""))

    @property
    def is_named(self) -> bool:
        """True if Kubernetes accepts the name."""
        return len(self.name) <= 253 and _NAME.fullmatch(self.name) is not None


class Expander:
    """Expands ApplicationSets to their Applications.

    Args:
        settings: the settings of the installation.
        repositories: returns the files of a repository by URL and revision.
        facts: replace the answers of servers that are not contacted.
        diagnostics: collects errors of single generators and Applications, and warnings.
        previewed: True if Applications are only shown. Argo CD's own preview also shows Applications with invalid
            names, which its controller refuses.
    """

    def __init__(
        self,
        settings: ArgoSettings,
        repositories: Repositories,
        facts: Facts,
        context: Context,
        diagnostics: Diagnostics,
        *,
        previewed: bool = False,
    ) -> None:
        self._settings = settings
        self._repositories = repositories
        self._facts = facts
        self._context = context
        self._diagnostics = diagnostics
        self._misnamed: Severity = "warning" if previewed else "error"
        self._total = 0

    def expand(self, appset: ApplicationSet) -> list[Generated]:
        """Return the Applications of an ApplicationSet, in the order of its generators. Errors become diagnostics.

        Raises:
            PolicyError: CMD-ARGO-217, there are too many Applications.
        """
        texts = TextRenderer(appset.go, appset.missing, appset.place, self._facts.moment)
        known = {cluster.server: cluster for cluster in self._clusters}
        hidden = self._settings.parameter("reposerver.include.hidden.directories") == "true"
        git = GitGenerator(
            self._repositories,
            self._context,
            lambda message: self._report(appset, "CMD-ARGO-220", "warning", message, FORM),
            new_globbing=self._settings.new_git_file_globbing,
            hidden=hidden,
            go=appset.go,
        )
        clusters = sorted(known.values(), key=lambda cluster: (cluster.name, cluster.server))
        early_values = self._settings.profile.resolves_matrix_values
        inputs = GeneratorInputs(
            clusters,
            git,
            self._facts,
            lambda code, message, hint: self._report(appset, code, "warning", message, hint),
            early_values,
        )
        generators = Generators(inputs, texts, appset.place)
        made: list[Generated] = []
        failed = False
        for entry in appset.entries:
            try:
                for generated in self._entry(appset, entry, generators, texts):
                    made.append(generated)
                    self._count(appset, len(made))
            except CommodoreError as error:
                if isinstance(error, PolicyError) and error.code == "CMD-ARGO-217":
                    raise
                failed = True
                self._diagnostics.take(error, Subject(set=appset.name), place=appset.place)
        self._check(appset, made, failed=failed)
        return made

    def _count(self, appset: ApplicationSet, made: int) -> None:
        self._total += 1
        if (
            made > self._context.limits.argocd_set_applications
            or self._total > self._context.limits.argocd_applications
        ):
            raise PolicyError(
                "CMD-ARGO-217",
                f"the ApplicationSet {appset.name} makes more than {min(made, self._total) - 1} Applications",
                hint="narrow its generators",
                locations=[appset.place],
            )

    def _entry(
        self, appset: ApplicationSet, entry: Entry, generators: Generators, texts: TextRenderer
    ) -> Iterator[Generated]:
        for number, (params, fields) in enumerate(generators.run(entry)):
            own = fields.get("template")
            template: Mapping[str, Any] = appset.template
            if own:
                template = filled(read_template(own, f"{entry.path}.template", appset.place), appset.template)
            where = f"{entry.path}, set {number}"
            data = _application(appset, template, params, texts, where)
            yield Generated(data, appset.name, entry.path, number, params)

    @property
    def _clusters(self) -> tuple[Cluster, ...]:
        return (*self._facts.clusters, *self._settings.clusters)

    def _check(self, appset: ApplicationSet, made: list[Generated], *, failed: bool) -> None:
        """Report probable mistakes in the Applications of an ApplicationSet."""
        names: dict[str, Generated] = {}
        for generated in made:
            first = names.setdefault(generated.name, generated)
            if first is not generated:
                self._report(appset, "CMD-ARGO-209", "warning", _duplicate(first, generated), "names must differ")
        self._check_texts(appset, made)
        if misnamed := [generated for generated in made if not generated.is_named]:
            first, more = misnamed[0], f" (and {len(misnamed) - 1} more such names)" if misnamed[1:] else ""
            message = f"{first.path}, set {first.number} makes an Application named {first.name!r}{more}"
            hint = "names are lower case letters, digits, '-' and '.'; use normalize or nameNormalized"
            self._report(appset, "CMD-ARGO-214", self._misnamed, message, hint)
        if not made and not failed and not self._clusters and any(map(_selects_clusters, appset.entries)):
            message = "it makes no Application: it selects clusters, and no cluster is known"
            hint = "give their Secrets with --installation, or their entries with --facts"
            self._report(appset, "CMD-ARGO-210", "boundary", message, hint)
        elif not made and not failed:
            message = "it makes no Application; Argo CD deletes the Applications that it made before"
            self._report(appset, "CMD-ARGO-210", "warning", message, "check its generators and selectors")
        for field in appset.idle:
            self._report(appset, "CMD-ARGO-219", "info", f"spec.{field} has no effect offline", "")

    def _check_texts(self, appset: ApplicationSet, made: list[Generated]) -> None:
        """Report each field that still holds a template, or the text that stands for a missing parameter, once."""
        mark = "<no value>" if appset.go else "{{"
        marked: dict[str, list[tuple[str, str]]] = {}
        for generated in made:
            for path, text in _texts(generated.data):
                if mark in text:
                    marked.setdefault(path, []).append((generated.name, text))
        for path, ((name, text), *others) in marked.items():
            of = f"{path} of {name}{f' (and of {len(others)} more)' if others else ''}"
            if appset.go:
                hint = "set goTemplateOptions: [missingkey=error] to find the key"
                self._report(appset, "CMD-ARGO-216", "warning", f"{of} says <no value>: a key is missing", hint)
            else:
                hint = _unrendered_hint(text)
                self._report(appset, "CMD-ARGO-215", "warning", f"{of} still holds {{{{: {text!r}", hint)

    def _report(self, appset: ApplicationSet, code: str, severity: Severity, message: str, hint: str) -> None:
        family = "input" if severity == "error" else ""
        self._diagnostics.add(
            Diagnostic(code, message, severity, hint, family, Subject(set=appset.name), (appset.place,))
        )


def _unrendered_hint(text: str) -> str:
    """Return a hint why a template of the simple language was not replaced."""
    for name in _TEMPLATE.findall(text):
        if (value := boolean_of(name)) is not None:
            return f"write the name of the parameter {name} in quotes where it gets its value: {unquoted(value)}"
    return "the parameter has another name, or it is a Go template and goTemplate is not set"


def _selects_clusters(entry: Entry) -> bool:
    """Check if an entry has a cluster generator, at any depth."""
    pending: list[Any] = [dict(entry.several)]
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            if "clusters" in value:
                return True
            pending += (value[key] for key in ("matrix", "merge", "generators") if key in value)
        elif isinstance(value, list):
            pending += value
    return False


def _duplicate(first: Generated, second: Generated) -> str:
    return (
        f"the name {first.name} is made twice: by {first.path}, set {first.number}, "
        f"and by {second.path}, set {second.number}"
    )


def _texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _texts(item, f"{path}[{at}]")


def filled(own: Any, base: Any) -> Any:
    """Fill the empty fields of a generator's template from that of the ApplicationSet; lists are not merged."""
    if isinstance(own, Mapping) and isinstance(base, Mapping):
        result = dict(own)
        for key, value in base.items():
            result[key] = filled(own[key], value) if key in own else value
        return result
    empty = own is None or own is False or own in ("", 0) or (isinstance(own, list | dict) and not own)
    return base if empty else own


def _application(
    appset: ApplicationSet, template: Mapping[str, Any], params: Mapping[str, Any], texts: TextRenderer, where: str
) -> dict[str, Any]:
    data: dict[str, Any] = {"apiVersion": API_VERSION, "kind": "Application"}
    if params:
        data |= texts.walk(template, params, f"{where}: spec.template")
        metadata = data["metadata"]
        if not metadata.get("finalizers") and not appset.preserves:
            metadata["finalizers"] = [FINALIZER]
    else:
        data |= copy.deepcopy(dict(template))
    if appset.patch:
        data |= _patched(appset, data, params, texts, where)
    body = typed(data, TEMPLATE, "", appset.place)
    body["metadata"]["namespace"] = appset.namespace or "argocd"
    return {"apiVersion": API_VERSION, "kind": "Application", **body}


def _patched(
    appset: ApplicationSet, data: Mapping[str, Any], params: Mapping[str, Any], texts: TextRenderer, where: str
) -> dict[str, Any]:
    text = texts.render(appset.patch, params, f"{where}: spec.templatePatch")
    try:
        patch: Any = next(read_documents(text, place="spec.templatePatch"), {})
    except CommodoreError as error:
        raise _bad_patch(appset, where, f"is not valid YAML: {error.message}") from None
    if not isinstance(patch, Mapping):
        raise _bad_patch(appset, where, "must be a map")
    result: dict[str, Any] = patched(dict(data), patch)
    try:
        typed(result, TEMPLATE, "", appset.place)
    except InputError as error:
        raise _bad_patch(appset, where, f"does not fit an Application: {error.message}") from None
    spec = result.get("spec")
    if isinstance(spec, dict):
        spec["project"] = data["spec"].get("project", "")
    return result


def _bad_patch(appset: ApplicationSet, where: str, why: str) -> InputError:
    return InputError(
        "CMD-ARGO-208",
        f"{where}: the rendered spec.templatePatch {why}",
        hint="render it by hand with the parameters that `argocd appsets -o json` shows",
        locations=[appset.place],
    )


_DIRECTIVES = ("$patch", "$retainKeys")


def patched(value: Any, patch: Any, path: str = "") -> Any:
    """Return a value with a patch applied: maps are merged, null deletes, lists replace; finalizers are appended.

    Args:
        path: the path of the value, with dots.
    """
    if isinstance(patch, Mapping):
        if patch.get("$patch") == "replace":
            return {key: item for key, item in patch.items() if key not in _DIRECTIVES}
        if patch.get("$patch") == "delete":
            return {}
        return _joined(value if isinstance(value, Mapping) else {}, patch, path)
    if isinstance(patch, list):
        if path == "metadata.finalizers":
            old = value if isinstance(value, list) else []
            return [*old, *(item for item in patch if item not in old)]
        return [_plain(item) for item in patch]
    return patch


def _joined(value: Mapping[str, Any], patch: Mapping[str, Any], path: str) -> dict[str, Any]:
    result = dict(value)
    for key, item in patch.items():
        if key in _DIRECTIVES or key.startswith("$setElementOrder/"):
            continue
        if key.startswith("$deleteFromPrimitiveList/"):
            name = key.partition("/")[2]
            result[name] = [element for element in result.get(name) or [] if element not in (item or [])]
            continue
        if item is None:
            result.pop(key, None)
            continue
        result[key] = patched(result.get(key), item, f"{path}.{key}" if path else key)
    retained = patch.get("$retainKeys")
    return {key: item for key, item in result.items() if key in retained} if isinstance(retained, list) else result


def _plain(value: Any) -> Any:
    """Return a value that a patch adds, without nulls and directives."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not None and key not in _DIRECTIVES}
    return [_plain(item) for item in value] if isinstance(value, list) else value
