"""The fields of generated Applications and of generators. Other fields are dropped, as by Argo CD's types.

A value of another type is converted only where Kubernetes does so: a number or a boolean where text is expected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from commodore.argocd.model.fields import Fields
from commodore.base.errors import Location, did_you_mean
from commodore.base.yaml.kube_scalars import scalar_text


class FieldType:
    """The type of a field."""


@dataclass(frozen=True, slots=True)
class Scalar(FieldType):
    """A text, a number or a boolean; with `keeps` zero values are written, as those of pointers are."""

    type: str
    keeps: bool = False


@dataclass(frozen=True, slots=True)
class ListOf(FieldType):
    """A list."""

    items: FieldType


@dataclass(frozen=True, slots=True)
class MapOf(FieldType):
    """A map with any keys."""

    values: FieldType


@dataclass(frozen=True, slots=True)
class Struct(FieldType):
    """A map with known keys.

    Attributes:
        fields: the fields with their types.
        always: fields that are written even if they are empty.
        optional: True if an empty map is left out.
    """

    fields: Mapping[str, FieldType]
    always: frozenset[str] = frozenset()
    optional: bool = False


class Raw(FieldType):
    """A value of any type."""


TEXT: Final = Scalar("text")
FLAG: Final = Scalar("flag")
POINTED_FLAG: Final = Scalar("flag", keeps=True)
NUMBER: Final = Scalar("number")
POINTED_NUMBER: Final = Scalar("number", keeps=True)
TEXTS: Final = ListOf(TEXT)
TEXT_MAP: Final = MapOf(TEXT)
RAW: Final = Raw()


def _struct(
    texts: str = "",
    *,
    always: str = "",
    flags: str = "",
    more: Mapping[str, FieldType] | None = None,
    **fields: FieldType,
) -> Struct:
    types: dict[str, FieldType] = dict.fromkeys(texts.split(), TEXT)
    types.update(dict.fromkeys(flags.split(), FLAG))
    types.update(more or {})
    types.update(fields)
    return Struct(types, frozenset(always.split()))


_HELM: Final = _struct(
    "releaseName values version namespace kubeVersion",
    flags="passCredentials ignoreMissingValueFiles skipCrds skipTests skipSchemaValidation",
    valueFiles=TEXTS,
    parameters=ListOf(_struct("name value", flags="forceString")),
    fileParameters=ListOf(_struct("name path")),
    valuesObject=RAW,
    apiVersions=TEXTS,
)
_TARGET: Final = _struct("group version kind name namespace annotationSelector labelSelector")
_KUSTOMIZE: Final = _struct(
    "namePrefix nameSuffix version namespace kubeVersion",
    flags="forceCommonLabels forceCommonAnnotations commonAnnotationsEnvsubst ignoreMissingComponents "
    "labelWithoutSelector labelIncludeTemplates",
    images=TEXTS,
    commonLabels=TEXT_MAP,
    commonAnnotations=TEXT_MAP,
    replicas=ListOf(_struct("name", always="name count", count=RAW)),
    patches=ListOf(_struct("path patch", target=_TARGET, options=MapOf(Scalar("flag", keeps=True)))),
    components=TEXTS,
    apiVersions=TEXTS,
)
_VARIABLE: Final = _struct("name value", always="name value", flags="code")
_DIRECTORY: Final = _struct(
    "exclude include",
    flags="recurse",
    jsonnet=Struct({"extVars": ListOf(_VARIABLE), "tlas": ListOf(_VARIABLE), "libs": TEXTS}, optional=True),
)
_PLUGIN: Final = _struct(
    "name",
    env=ListOf(_struct("name value", always="name value")),
    parameters=ListOf(_struct("name", string=Scalar("text", keeps=True), map=TEXT_MAP, array=TEXTS)),
)
_TOOLS: Final[dict[str, FieldType]] = {
    "helm": _HELM,
    "kustomize": _KUSTOMIZE,
    "directory": _DIRECTORY,
    "plugin": _PLUGIN,
}
_SOURCE: Final = _struct("repoURL path targetRevision chart ref name tagPrefix", always="repoURL", more=_TOOLS)
_HYDRATOR: Final = _struct(
    always="drySource syncSource",
    drySource=_struct("repoURL targetRevision path", always="repoURL targetRevision path", more=_TOOLS),
    syncSource=_struct("repoURL targetBranch path", always="targetBranch path"),
    hydrateTo=_struct("targetBranch", always="targetBranch"),
)
_SYNC_POLICY: Final = _struct(
    automated=_struct(prune=POINTED_FLAG, selfHeal=POINTED_FLAG, allowEmpty=POINTED_FLAG, enabled=POINTED_FLAG),
    syncOptions=TEXTS,
    retry=_struct(flags="refresh", limit=NUMBER, backoff=_struct("duration maxDuration", factor=POINTED_NUMBER)),
    managedNamespaceMetadata=_struct(labels=TEXT_MAP, annotations=TEXT_MAP),
)
_IGNORED: Final = _struct(
    "group kind name namespace",
    always="kind",
    jsonPointers=TEXTS,
    jqPathExpressions=TEXTS,
    managedFieldsManagers=TEXTS,
)
SPEC: Final = _struct(
    "project",
    always="destination project",
    destination=_struct("server namespace name"),
    source=_SOURCE,
    sources=ListOf(_SOURCE),
    sourceHydrator=_HYDRATOR,
    syncPolicy=_SYNC_POLICY,
    ignoreDifferences=ListOf(_IGNORED),
    info=ListOf(_struct("name value", always="name value")),
    revisionHistoryLimit=POINTED_NUMBER,
)
_METADATA: Final = _struct("name namespace", labels=TEXT_MAP, annotations=TEXT_MAP, finalizers=TEXTS)
TEMPLATE: Final = Struct({"metadata": _METADATA, "spec": SPEC}, frozenset(["metadata", "spec"]))

SELECTOR: Final = _struct(matchLabels=TEXT_MAP, matchExpressions=ListOf(_struct("key operator", values=TEXTS)))
_PATHS: Final = ListOf(_struct("path", flags="exclude"))
_REFERENCE: Final = _struct("name")
_OWN: Final[dict[str, FieldType]] = {"template": RAW, "values": TEXT_MAP, "requeueAfterSeconds": RAW}
GENERATORS: Final[dict[str, Struct]] = {
    "list": _struct("elementsYaml", elements=ListOf(RAW), template=RAW),
    "clusters": _struct(flags="flatList", selector=SELECTOR, more=_OWN),
    "git": _struct("repoURL revision pathParamPrefix", directories=_PATHS, files=_PATHS, more=_OWN),
    "scmProvider": Struct(
        {
            **dict.fromkeys(
                ("github", "gitlab", "gitea", "bitbucket", "bitbucketServer", "azureDevOps", "awsCodeCommit"), RAW
            ),
            "cloneProtocol": TEXT,
            "filters": ListOf(RAW),
            **_OWN,
        }
    ),
    "clusterDecisionResource": _struct("configMapRef name", labelSelector=SELECTOR, more=_OWN),
    "pullRequest": Struct(
        {
            **dict.fromkeys(("github", "gitlab", "gitea", "bitbucket", "bitbucketServer", "azuredevops"), RAW),
            "filters": ListOf(RAW),
            "continueOnRepoNotFoundError": FLAG,
            **_OWN,
        }
    ),
    "matrix": _struct(generators=ListOf(RAW), template=RAW),
    "merge": _struct(generators=ListOf(RAW), mergeKeys=TEXTS, template=RAW),
    "plugin": _struct(configMapRef=_REFERENCE, input=_struct(parameters=MapOf(RAW)), more=_OWN),
}
"""All generators with their fields, in the order in which several generators of an entry run."""


_NEWER: Final = frozenset(("disableExtensionFilter",))
"""Fields of versions of Argo CD that are newer than the reference."""


def unknown_fields(value: Any, kind: FieldType, path: str) -> Iterator[tuple[str, str]]:
    """Yield the paths of fields that a type does not have, with hints. Values of other types are skipped."""
    if isinstance(kind, ListOf) and isinstance(value, list):
        for at, item in enumerate(value):
            yield from unknown_fields(item, kind.items, f"{path}[{at}]")
    elif isinstance(kind, Struct) and isinstance(value, Mapping):
        for key, item in value.items():
            if key in kind.fields:
                yield from unknown_fields(item, kind.fields[key], f"{path}.{key}")
            elif key not in _NEWER:
                yield f"{path}.{key}", did_you_mean(key, kind.fields)


def typed(value: Any, kind: FieldType, path: str, place: Location) -> Any:
    """Return a value converted to a type: unknown and empty fields dropped, scalars converted to text.

    Args:
        path: the path of the value, for errors.

    Raises:
        InputError: CMD-ARGO-103, it has another type.
    """
    if isinstance(kind, Raw) or value is None:
        return value
    if isinstance(kind, Scalar):
        return _scalar(value, kind.type, path, place)
    if isinstance(kind, ListOf):
        if not isinstance(value, list):
            raise Fields.wrong_type(path, "a list", value, place)
        return [_filled(typed(item, kind.items, f"{path}[{at}]", place), kind.items) for at, item in enumerate(value)]
    if not isinstance(value, Mapping):
        raise Fields.wrong_type(path, "a map", value, place)
    if isinstance(kind, MapOf):
        result = {key: typed(item, kind.values, f"{path}.{key}", place) for key, item in value.items()}
        return {key: _filled(item, kind.values) for key, item in result.items()}
    assert isinstance(kind, Struct)
    return _struct_of(value, kind, path, place)


def _struct_of(value: Mapping[str, Any], kind: Struct, path: str, place: Location) -> dict[str, Any]:
    result = {}
    for key, inner in kind.fields.items():
        item = typed(value.get(key), inner, f"{path}.{key}" if path else key, place)
        keeps = inner.keeps if isinstance(inner, Scalar) else isinstance(inner, Struct | Raw)
        keeps = keeps and not (isinstance(inner, Struct) and inner.optional)
        if key in kind.always:
            result[key] = _filled(item, inner)
        elif item is not None and (keeps or not _is_zero(item)):
            result[key] = item
    return result


def _is_zero(value: Any) -> bool:
    return value is False or value in ("", 0) or (isinstance(value, list | dict) and not value)


def _filled(value: Any, kind: FieldType) -> Any:
    """Return a value, or the zero value of its type."""
    if value is not None or isinstance(kind, Raw):
        return value
    if isinstance(kind, Scalar):
        return {"text": "", "flag": False, "number": 0}[kind.type]
    return [] if isinstance(kind, ListOf) else {}


def _scalar(value: Any, expected: str, path: str, place: Location) -> Any:
    if expected == "text":
        if not isinstance(value, str | int | float):
            raise Fields.wrong_type(path, "text", value, place)
        return scalar_text(value)
    if expected == "flag":
        if not isinstance(value, bool):
            raise Fields.wrong_type(path, "true or false", value, place)
    elif isinstance(value, bool) or not isinstance(value, int):
        raise Fields.wrong_type(path, "a whole number", value, place)
    return value
