"""Explain a manifest from the files of the last compile in the working directory, without network access."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.files.workspace import Workspace, guard_disk
from commodore.catalog.stages.explaining.inputs import Reader, Readings, candidates
from commodore.catalog.stages.explaining.locate import find_manifest
from commodore.catalog.stages.explaining.model import FieldPlace, ManifestExplanation, ObjectPlace
from commodore.catalog.stages.explaining.objects import find_object
from commodore.catalog.stages.explaining.producers import entries_for, filters_for, repository_of
from commodore.core.engine import read_record
from commodore.core.inventory import compiled_preview, compiled_targets, linked_component


def explain_manifest(workspace: Workspace, target: str, here: Path, context: Context) -> ManifestExplanation:
    """Return the instance that wrote a manifest, its sources, and the parameters and files that were read for it.

    Args:
        target: the file, see `find_manifest`; after a `#` an object in it and a field, see `find_object`.
        here: the folder that relative paths are resolved against first.

    Raises:
        InputError: no such manifest, object or field; or the hierarchy is invalid now.
        UsageError: CMD-INV-040, the field is not a path.
        EnvironmentFault: git or the disk refused.
    """
    name, hash_, fragment = target.partition("#")
    manifest = find_manifest(workspace, name, here)
    instance = manifest.instance
    node = compiled_preview(workspace, instance).render(context).raw
    parameters: dict[str, Any] = node["parameters"]
    place: ObjectPlace | None = None
    field: FieldPlace | None = None
    path = f"manifests/{manifest.path}"
    if hash_ and fragment:
        with guard_disk(manifest.file):
            text = manifest.file.read_bytes()
        place, field = find_object(text, fragment, path)
    directory = Path(str(parameters.get("_base_directory") or workspace.component(instance)))
    record = read_record(workspace.root, instance)
    readings = Reader(workspace, record, directory, node).read(context) if record is not None else Readings()
    component = record.component if record is not None else linked_component(workspace, instance)
    entries, filters = entries_for(parameters, manifest.path, workspace), filters_for(parameters, manifest.path)
    if field is not None:
        made_by = (instance, node, entries, filters)
        matches, omitted = candidates(field.value, readings.parameters, made_by, compiled_targets(workspace), context)
        field = replace(field, candidates=matches, omitted=omitted)
    return ManifestExplanation(
        path=path,
        file=manifest.file,
        edited=manifest.edited,
        instance=instance,
        component=component,
        repository=repository_of(directory, parameters.get("components"), instance, component, context),
        reused=record.reused if record is not None else None,
        refusal=record.refusal if record is not None else "",
        entries=entries,
        filters=filters,
        parameters=readings.parameters,
        names=readings.names,
        files=readings.files,
        sources=readings.sources,
        tools=readings.tools,
        all_targets=readings.all_targets,
        object=place,
        field=field,
    )
