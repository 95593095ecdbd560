"""Sources of Applications: a repository, a path in it, and options of rendering."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from commodore.argocd.model.fields import Fields
from commodore.base.errors import InputError, Location

SourceType = Literal["Helm", "Kustomize", "Directory", "Plugin"]


@dataclass(frozen=True, slots=True)
class HelmParameter:
    name: str
    value: str
    force_string: bool = False


@dataclass(frozen=True, slots=True)
class HelmOptions:
    """`helm` of a source. `values_object` is None if it is not set; an empty map overrides `values`, too."""

    release_name: str = ""
    namespace: str = ""
    kube_version: str = ""
    api_versions: tuple[str, ...] = ()
    parameters: tuple[HelmParameter, ...] = ()
    file_parameters: tuple[tuple[str, str], ...] = ()
    value_files: tuple[str, ...] = ()
    values: str = ""
    values_object: Mapping[str, Any] | None = None
    ignore_missing_value_files: bool = False
    skip_crds: bool = False
    skip_tests: bool = False
    skip_schema_validation: bool = False
    version: str = ""
    pass_credentials: bool = False


@dataclass(frozen=True, slots=True)
class KustomizePatch:
    """A patch as added to the kustomization."""

    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class KustomizeOptions:
    """`kustomize` of a source."""

    version: str = ""
    name_prefix: str = ""
    name_suffix: str = ""
    namespace: str = ""
    images: tuple[str, ...] = ()
    replicas: tuple[tuple[str, int], ...] = ()
    common_labels: tuple[tuple[str, str], ...] = ()
    common_annotations: tuple[tuple[str, str], ...] = ()
    force_labels: bool = False
    force_annotations: bool = False
    label_without_selector: bool = False
    label_include_templates: bool = False
    substitute_annotations: bool = False
    patches: tuple[KustomizePatch, ...] = ()
    components: tuple[str, ...] = ()
    ignore_missing_components: bool = False
    kube_version: str = ""
    api_versions: tuple[str, ...] = ()

    @property
    def edits(self) -> bool:
        """True if the kustomization is edited before the build."""
        return bool(
            self.name_prefix
            or self.name_suffix
            or self.namespace
            or self.images
            or self.replicas
            or self.common_labels
            or self.common_annotations
            or self.patches
            or self.components
        )


@dataclass(frozen=True, slots=True)
class JsonnetVariable:
    name: str
    value: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class DirectoryOptions:
    """`directory` of a source.

    Attributes:
        every_name: True to include files with any extension, in versions of Argo CD that support it.
    """

    recurse: bool = False
    include: str = ""
    exclude: str = ""
    arguments: tuple[JsonnetVariable, ...] = ()
    variables: tuple[JsonnetVariable, ...] = ()
    libraries: tuple[str, ...] = ()
    every_name: bool = False


@dataclass(frozen=True, slots=True)
class PluginOptions:
    """`plugin` of a source."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A source of an Application. Blocks with only zero values are None.

    Attributes:
        data: the source as written, to which overrides are applied.
        tag_prefix: the prefix of tags that are versions.
    """

    repo_url: str
    path: str
    chart: str
    revision: str
    ref: str
    name: str
    data: Mapping[str, Any]
    place: Location
    field: str
    helm: HelmOptions | None = None
    kustomize: KustomizeOptions | None = None
    directory: DirectoryOptions | None = None
    plugin: PluginOptions | None = None
    tag_prefix: str = ""

    def explicit_type(self) -> SourceType | None:
        """Return the type of the block that is set; None without a block.

        Raises:
            InputError: CMD-ARGO-302, several blocks are set.
        """
        blocks: dict[SourceType, object] = {
            "Kustomize": self.kustomize,
            "Helm": self.helm,
            "Directory": self.directory,
            "Plugin": self.plugin,
        }
        types = [name for name, block in blocks.items() if block is not None]
        if len(types) > 1:
            raise InputError(
                "CMD-ARGO-302",
                f"{self.field} has several types: {', '.join(types)}",
                hint="keep one of helm, kustomize, directory and plugin",
                locations=[self.place],
            )
        return types[0] if types else None


_NO_CONTENT = frozenset(
    (
        "forceCommonLabels",
        "forceCommonAnnotations",
        "labelWithoutSelector",
        "labelIncludeTemplates",
        "commonAnnotationsEnvsubst",
    )
)
SOURCE_FIELDS = frozenset(
    (
        "repoURL",
        "path",
        "targetRevision",
        "helm",
        "kustomize",
        "directory",
        "plugin",
        "chart",
        "ref",
        "name",
        "tagPrefix",
    )
)


def read_source(fields: Fields) -> Source:
    """Read a source of an Application, or the `drySource` of a hydrated Application.

    Raises:
        InputError: CMD-ARGO-103, a field has a wrong type.
    """
    helm = fields.optional("helm")
    kustomize = fields.optional("kustomize")
    directory = fields.optional("directory")
    plugin = fields.optional("plugin")
    return Source(
        repo_url=fields.required("repoURL") if "repoURL" in fields else "",
        path=fields.text("path"),
        chart=fields.text("chart"),
        revision=fields.text("targetRevision"),
        ref=fields.text("ref"),
        name=fields.text("name"),
        data=fields.data,
        place=fields.place,
        field=fields.path or "source",
        helm=_helm(helm) if helm is not None and _has_values(helm.data) else None,
        kustomize=_kustomize(kustomize) if kustomize is not None and _has_values(kustomize.data, _NO_CONTENT) else None,
        directory=_directory(directory) if directory is not None and _has_values(directory.data) else None,
        plugin=PluginOptions(plugin.text("name")) if plugin is not None else None,
        tag_prefix=fields.text("tagPrefix"),
    )


def _has_values(data: Mapping[str, Any], uncounted: Collection[str] = ()) -> bool:
    """Check if a block has a value that is not a zero value."""
    return any(not _zero(key, value) for key, value in data.items() if key not in uncounted)


def _zero(key: str, value: Any) -> bool:
    if key == "jsonnet" and isinstance(value, Mapping):
        return not any(value.values())
    if key == "valuesObject":
        return value is None
    return not value


def _helm(fields: Fields) -> HelmOptions:
    parameters: dict[tuple[str, bool], HelmParameter] = {}  # a name may be set with and without forceString
    for entry in fields.items("parameters"):
        parameter = HelmParameter(entry.required("name"), entry.text("value"), entry.flag("forceString"))
        parameters[parameter.name, parameter.force_string] = parameter
    values = fields.optional("valuesObject")
    return HelmOptions(
        release_name=fields.text("releaseName"),
        namespace=fields.text("namespace"),
        kube_version=fields.text("kubeVersion"),
        api_versions=fields.texts("apiVersions"),
        parameters=tuple(parameters.values()),
        file_parameters=tuple((entry.required("name"), entry.text("path")) for entry in fields.items("fileParameters")),
        value_files=fields.texts("valueFiles"),
        values=fields.text("values"),
        values_object=values.data if values is not None else None,
        ignore_missing_value_files=fields.flag("ignoreMissingValueFiles"),
        skip_crds=fields.flag("skipCrds"),
        skip_tests=fields.flag("skipTests"),
        skip_schema_validation=fields.flag("skipSchemaValidation"),
        version=_helm_version(fields),
        pass_credentials=fields.flag("passCredentials"),
    )


def _helm_version(fields: Fields) -> str:
    version = fields.text("version")
    if version not in ("", "v3", "v4"):
        raise InputError(
            "CMD-ARGO-103",
            f"{fields.at('version')} is {version!r}, which is not a version of helm that Argo CD supports",
            hint="leave it out, or write v3 or v4",
            locations=[fields.place],
        )
    return version


def _kustomize(fields: Fields) -> KustomizeOptions:
    return KustomizeOptions(
        version=fields.text("version"),
        name_prefix=fields.text("namePrefix"),
        name_suffix=fields.text("nameSuffix"),
        namespace=fields.text("namespace"),
        images=fields.texts("images"),
        replicas=tuple((entry.text("name"), _count(entry)) for entry in fields.items("replicas")),
        common_labels=tuple(sorted(fields.text_map("commonLabels").items())),
        common_annotations=tuple(sorted(fields.text_map("commonAnnotations").items())),
        force_labels=fields.flag("forceCommonLabels"),
        force_annotations=fields.flag("forceCommonAnnotations"),
        label_without_selector=fields.flag("labelWithoutSelector"),
        label_include_templates=fields.flag("labelIncludeTemplates"),
        substitute_annotations=fields.flag("commonAnnotationsEnvsubst"),
        patches=tuple(KustomizePatch(_without_empty(entry.data)) for entry in fields.items("patches")),
        components=fields.texts("components"),
        ignore_missing_components=fields.flag("ignoreMissingComponents"),
        kube_version=fields.text("kubeVersion"),
        api_versions=fields.texts("apiVersions"),
    )


def _count(fields: Fields) -> int:
    count = fields.raw("count")
    if isinstance(count, int) and not isinstance(count, bool):
        return count
    if isinstance(count, str):
        try:
            return int(count)
        except ValueError:
            pass
    raise Fields.wrong_type(fields.at("count"), "a whole number", count, fields.place)


def _without_empty(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return data without empty fields, as Argo CD writes it."""
    result: dict[str, Any] = {}
    for key, value in data.items():
        kept = _without_empty(value) if isinstance(value, Mapping) and key == "target" else value
        if kept not in (None, "", [], {}):
            result[key] = kept
    return result


def _directory(fields: Fields) -> DirectoryOptions:
    jsonnet = fields.fields("jsonnet")
    return DirectoryOptions(
        recurse=fields.flag("recurse"),
        include=fields.text("include"),
        exclude=fields.text("exclude"),
        arguments=_variables(jsonnet, "tlas"),
        variables=_variables(jsonnet, "extVars"),
        libraries=jsonnet.texts("libs"),
        every_name=fields.flag("disableExtensionFilter"),
    )


def _variables(fields: Fields, key: str) -> tuple[JsonnetVariable, ...]:
    return tuple(
        JsonnetVariable(entry.required("name"), entry.text("value"), entry.flag("code")) for entry in fields.items(key)
    )
