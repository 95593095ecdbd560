"""From an ApplicationSet to its Applications."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from commodore.argocd.appsets.fact_files import Facts
from commodore.argocd.appsets.fields import Texts
from commodore.argocd.appsets.generate import Generators, Sources
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
    """One Application of a set.

    Attributes:
        data: the object.
        set: the set's name.
        path: where its generator is in the set.
        number: which parameter set of that generator it is, from 0.
        params: the parameters.
    """

    data: Mapping[str, Any]
    set: str
    path: str
    number: int
    params: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.data["metadata"].get("name", ""))

    @property
    def is_named(self) -> bool:
        """Whether its name is one that Kubernetes takes."""
        return len(self.name) <= 253 and _NAME.fullmatch(self.name) is not None


class Expander:
    """Expands ApplicationSets.

    Args:
        settings: the installation.
        repositories: gives the files of repositories by URL and revision.
        facts: stand for what cannot be asked offline.
        found: collects errors of single generators and Applications, and what looks wrong.
        previewed: whether Applications are shown alone. Argo CD's own preview shows also those whose names are none,
            which its controller refuses.
    """

    def __init__(
        self,
        settings: ArgoSettings,
        repositories: Repositories,
        facts: Facts,
        context: Context,
        found: Diagnostics,
        *,
        previewed: bool = False,
    ) -> None:
        self._settings = settings
        self._repositories = repositories
        self._facts = facts
        self._context = context
        self._found = found
        self._misnamed: Severity = "warning" if previewed else "error"
        self._total = 0

    def expand(self, one: ApplicationSet) -> list[Generated]:
        """The Applications of a set, in the order of its generators. What goes wrong is a diagnostic each.

        Raises:
            PolicyError: CMD-ARGO-217, there are too many.
        """
        texts = Texts(one.go, one.missing, one.place, self._facts.moment)
        known = {cluster.server: cluster for cluster in self._clusters}
        hidden = self._settings.parameter("reposerver.include.hidden.directories") == "true"
        git = GitGenerator(
            self._repositories,
            self._context,
            lambda message: self._report(one, "CMD-ARGO-220", "warning", message, FORM),
            new_globbing=self._settings.new_git_file_globbing,
            hidden=hidden,
            go=one.go,
        )
        clusters = sorted(known.values(), key=lambda cluster: (cluster.name, cluster.server))
        early_values = self._settings.profile.resolves_matrix_values
        sources = Sources(
            clusters,
            git,
            self._facts,
            lambda code, message, hint: self._report(one, code, "warning", message, hint),
            early_values,
        )
        generators = Generators(sources, texts, one.place)
        made: list[Generated] = []
        failed = False
        for entry in one.entries:
            try:
                for generated in self._entry(one, entry, generators, texts):
                    made.append(generated)
                    self._count(one, len(made))
            except CommodoreError as error:
                if isinstance(error, PolicyError) and error.code == "CMD-ARGO-217":
                    raise
                failed = True
                self._found.take(error, Subject(set=one.name), place=one.place)
        self._check(one, made, failed=failed)
        return made

    def _count(self, one: ApplicationSet, made: int) -> None:
        self._total += 1
        if (
            made > self._context.limits.argocd_set_applications
            or self._total > self._context.limits.argocd_applications
        ):
            raise PolicyError(
                "CMD-ARGO-217",
                f"the ApplicationSet {one.name} makes more than {min(made, self._total) - 1} Applications",
                hint="narrow its generators",
                locations=[one.place],
            )

    def _entry(self, one: ApplicationSet, entry: Entry, generators: Generators, texts: Texts) -> Iterator[Generated]:
        for number, (params, fields) in enumerate(generators.run(entry)):
            own = fields.get("template")
            template: Mapping[str, Any] = one.template
            if own:
                template = filled(read_template(own, f"{entry.path}.template", one.place), one.template)
            where = f"{entry.path}, set {number}"
            data = _application(one, template, params, texts, where)
            yield Generated(data, one.name, entry.path, number, params)

    @property
    def _clusters(self) -> tuple[Cluster, ...]:
        return (*self._facts.clusters, *self._settings.clusters)

    def _check(self, one: ApplicationSet, made: list[Generated], *, failed: bool) -> None:
        """Say what looks wrong with a set's Applications."""
        names: dict[str, Generated] = {}
        for generated in made:
            first = names.setdefault(generated.name, generated)
            if first is not generated:
                self._report(one, "CMD-ARGO-209", "warning", _twice(first, generated), "names must differ")
        self._look_at_texts(one, made)
        if misnamed := [generated for generated in made if not generated.is_named]:
            first, more = misnamed[0], f" (and {len(misnamed) - 1} more such names)" if misnamed[1:] else ""
            message = f"{first.path}, set {first.number} makes an Application named {first.name!r}{more}"
            hint = "names are lower case letters, digits, '-' and '.'; use normalize or nameNormalized"
            self._report(one, "CMD-ARGO-214", self._misnamed, message, hint)
        if not made and not failed and not self._clusters and any(map(_asks_for_clusters, one.entries)):
            message = "it makes no Application: it asks for clusters, and none is known here"
            hint = "give their Secrets with --installation, or their entries with --facts"
            self._report(one, "CMD-ARGO-210", "boundary", message, hint)
        elif not made and not failed:
            message = "it makes no Application; Argo CD deletes those that it made before"
            self._report(one, "CMD-ARGO-210", "warning", message, "check its generators and selectors")
        for field in one.idle:
            self._report(one, "CMD-ARGO-219", "info", f"spec.{field} says nothing offline", "")

    def _look_at_texts(self, one: ApplicationSet, made: list[Generated]) -> None:
        """Say which fields still hold templates, or say that a parameter is missing; each once."""
        mark = "<no value>" if one.go else "{{"
        marked: dict[str, list[tuple[str, str]]] = {}
        for generated in made:
            for path, text in _texts(generated.data):
                if mark in text:
                    marked.setdefault(path, []).append((generated.name, text))
        for path, ((name, text), *others) in marked.items():
            of = f"{path} of {name}{f' (and of {len(others)} more)' if others else ''}"
            if one.go:
                hint = "set goTemplateOptions: [missingkey=error] to find the key"
                self._report(one, "CMD-ARGO-216", "warning", f"{of} says <no value>: a key is missing", hint)
            else:
                hint = _why_it_stays(text)
                self._report(one, "CMD-ARGO-215", "warning", f"{of} still holds {{{{: {text!r}", hint)

    def _report(self, one: ApplicationSet, code: str, severity: Severity, message: str, hint: str) -> None:
        family = "input" if severity == "error" else ""
        self._found.add(Diagnostic(code, message, severity, hint, family, Subject(set=one.name), (one.place,)))


def _why_it_stays(text: str) -> str:
    """A hint why the simple language has left templates as they are."""
    for name in _TEMPLATE.findall(text):
        if (value := boolean_of(name)) is not None:
            return f"write the name of the parameter {name} in quotes where it gets its value: {unquoted(value)}"
    return "the parameter has another name, or it is a Go template and goTemplate is not set"


def _asks_for_clusters(entry: Entry) -> bool:
    """Whether an entry has a generator of clusters, also within others."""
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


def _twice(first: Generated, second: Generated) -> str:
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
    """A generator's template, with what it leaves empty taken from the set's; lists are taken whole."""
    if isinstance(own, Mapping) and isinstance(base, Mapping):
        found = dict(own)
        for key, value in base.items():
            found[key] = filled(own[key], value) if key in own else value
        return found
    empty = own is None or own is False or own in ("", 0) or (isinstance(own, list | dict) and not own)
    return base if empty else own


def _application(
    one: ApplicationSet, template: Mapping[str, Any], params: Mapping[str, Any], texts: Texts, where: str
) -> dict[str, Any]:
    data: dict[str, Any] = {"apiVersion": API_VERSION, "kind": "Application"}
    if params:
        data |= texts.walk(template, params, f"{where}: spec.template")
        metadata = data["metadata"]
        if not metadata.get("finalizers") and not one.preserves:
            metadata["finalizers"] = [FINALIZER]
    else:
        data |= copy.deepcopy(dict(template))
    if one.patch:
        data |= _patched(one, data, params, texts, where)
    body = typed(data, TEMPLATE, "", one.place)
    body["metadata"]["namespace"] = one.namespace or "argocd"
    return {"apiVersion": API_VERSION, "kind": "Application", **body}


def _patched(
    one: ApplicationSet, data: Mapping[str, Any], params: Mapping[str, Any], texts: Texts, where: str
) -> dict[str, Any]:
    text = texts.render(one.patch, params, f"{where}: spec.templatePatch")
    try:
        patch: Any = next(read_documents(text, place="spec.templatePatch"), {})
    except CommodoreError as error:
        raise _bad_patch(one, where, f"is no YAML: {error.message}") from None
    if not isinstance(patch, Mapping):
        raise _bad_patch(one, where, "is no map")
    found: dict[str, Any] = patched(dict(data), patch)
    try:
        typed(found, TEMPLATE, "", one.place)
    except InputError as error:
        raise _bad_patch(one, where, f"does not fit an Application: {error.message}") from None
    spec = found.get("spec")
    if isinstance(spec, dict):
        spec["project"] = data["spec"].get("project", "")
    return found


def _bad_patch(one: ApplicationSet, where: str, why: str) -> InputError:
    return InputError(
        "CMD-ARGO-208",
        f"{where}: the rendered spec.templatePatch {why}",
        hint="render it by hand with the parameters that `argocd appsets -o json` shows",
        locations=[one.place],
    )


_DIRECTIVES = ("$patch", "$retainKeys")


def patched(value: Any, patch: Any, path: str = "") -> Any:
    """A value with a patch laid over it: maps join, null deletes, lists replace; finalizers join.

    Args:
        path: where the value is, with dots.
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
    found = dict(value)
    for key, item in patch.items():
        if key in _DIRECTIVES or key.startswith("$setElementOrder/"):
            continue
        if key.startswith("$deleteFromPrimitiveList/"):
            name = key.partition("/")[2]
            found[name] = [one for one in found.get(name) or [] if one not in (item or [])]
            continue
        if item is None:
            found.pop(key, None)
            continue
        found[key] = patched(found.get(key), item, f"{path}.{key}" if path else key)
    retained = patch.get("$retainKeys")
    return {key: item for key, item in found.items() if key in retained} if isinstance(retained, list) else found


def _plain(value: Any) -> Any:
    """What a patch adds as new: its nulls say nothing there."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not None and key not in _DIRECTIVES}
    return [_plain(item) for item in value] if isinstance(value, list) else value
