"""Bill of materials of a catalog: its sources and images, from the working directory of a compile."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from commodore.base.context import Context
from commodore.base.errors import InputError
from commodore.base.files.workspace import Workspace
from commodore.base.kubernetes.images import ImageReference
from commodore.base.names import BOOTSTRAP_TARGET, DISTRIBUTION
from commodore.base.printable import only_printable
from commodore.catalog import list_images, objects_of, read_folder
from commodore.catalog.stages.explaining.model import ComponentCheckout, ExplainedChart
from commodore.catalog.stages.explaining.producers import charts_for, repository_of
from commodore.core.engine import read_record
from commodore.core.inventory import compiled_targets, read_cluster_params, render_inventory
from commodore.core.sources.git import redact
from commodore.core.tools import core_libraries, find_tools
from commodore.version import __version__

Part = dict[str, Any]
_PREFIX = "commodore:"  # of properties, as CycloneDX requires
_ROOT = "catalog"


def bill_of_materials(workspace: Workspace, context: Context) -> dict[str, Any]:
    """Return the components, charts, images and Jsonnet libraries of the catalog in a working directory, and the tools
    that created it, as a CycloneDX 1.6 document in JSON. It has no time, so the same catalog has the same document.

    It works without network access.

    Raises:
        InputError: nothing was compiled there; or the hierarchy is invalid now.
        EnvironmentFault: git or the disk refused.
    """
    cluster = read_cluster_params(workspace)["cluster"]["name"]
    nodes = render_inventory(workspace.inventory, context).nodes
    parts: dict[str, Part] = {}
    uses: dict[str, set[str]] = {_ROOT: set()}
    for instance in sorted(set(compiled_targets(workspace)) - {BOOTSTRAP_TARGET}):
        node = nodes.get(instance)
        parameters = node.parameters if node is not None else {}
        part = _component(workspace, instance, parameters, context)
        _add(parts, part)
        uses[_ROOT].add(part["bom-ref"])
        for chart in charts_for(parameters, workspace):
            used = _chart(chart)
            _add(parts, used)
            uses.setdefault(part["bom-ref"], set()).add(used["bom-ref"])
    for image in list_images(objects_of(read_folder(workspace.catalog, context), {})):
        used = _image(image.image, sorted({place.object.instance for place in image.places if place.object.instance}))
        _add(parts, used)
        uses[_ROOT].add(used["bom-ref"])
    for library in _libraries(workspace):
        _add(parts, library)
        uses[_ROOT].add(library["bom-ref"])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "tools": {"components": list(_tools(context))},
            "component": {"type": "application", "bom-ref": _ROOT, "name": str(cluster)},
        },
        "components": [parts[ref] for ref in sorted(parts)],
        "dependencies": [{"ref": ref, "dependsOn": sorted(uses[ref])} for ref in sorted(uses)],
    }


def _add(parts: dict[str, Part], part: Part) -> None:
    """Add a part; if it exists, add only its new properties, such as instances."""
    known = parts.setdefault(part["bom-ref"], part)
    if known is not part:
        known["properties"] += [property_ for property_ in part["properties"] if property_ not in known["properties"]]


def _part(kind: str, type_: str, name: str, version: str, purl: str, **properties: Iterable[str] | str) -> Part:
    part: Part = {
        "type": type_,
        "bom-ref": f"{kind}:{purl or name}",
        "name": only_printable(name, "?"),
        "version": only_printable(version, "?"),
        "properties": [{"name": f"{_PREFIX}kind", "value": kind}],
    }
    if purl:
        part["purl"] = purl
    for key, values in properties.items():
        for value in [values] if isinstance(values, str) else values:
            part["properties"].append({"name": f"{_PREFIX}{key}", "value": only_printable(value, "?")})
    return part


def _component(workspace: Workspace, instance: str, parameters: Mapping[str, Any], context: Context) -> Part:
    record = read_record(workspace.root, instance)
    component = record.component if record is not None else instance
    directory = Path(str(parameters.get("_base_directory") or workspace.component(instance)))
    repository = repository_of(directory, parameters.get("components"), instance, component, context)
    if repository is None:
        return _part("component", "application", component, "", "", instance=instance)
    changed = {"changed": "true"} if repository.changed else {}
    part = _part(
        "component",
        "application",
        component,
        repository.version or repository.commit,
        _git_purl(component, repository),
        instance=instance,
        commit=[repository.commit] if repository.commit else [],
        **changed,
    )
    if _is_url(repository.url):
        part["externalReferences"] = [{"type": "vcs", "url": repository.url}]
    return part


def _git_purl(name: str, repository: ComponentCheckout) -> str:
    url = urlsplit(repository.url)
    place = url.path.strip("/").removesuffix(".git")
    version = f"@{repository.commit}" if repository.commit else ""
    inner = f"#{_quoted(repository.path)}" if repository.path else ""
    if url.hostname == "github.com" and place.count("/") == 1:
        return f"pkg:github/{_quoted(place.lower())}{version}{inner}"
    where = f"?vcs_url={quote(f'git+{repository.url}', safe='')}" if repository.url else ""
    return f"pkg:generic/{quote(name, safe='')}{version}{where}{inner}"


def _quoted(path: str) -> str:
    return quote(path, safe="/")


def _is_url(text: str) -> bool:
    return text.startswith(("https://", "http://", "ssh://")) and text.isprintable() and " " not in text


def _chart(chart: ExplainedChart) -> Part:
    name, version = chart.name or chart.path.rpartition("/")[2], chart.version
    where = f"?repository_url={quote(chart.source, safe='')}" if chart.source else ""
    purl = f"pkg:helm/{quote(name, safe='')}{f'@{quote(version, safe=chr(46))}' if version else ''}{where}"
    return _part("chart", "application", name, version, purl)


def _image(image: ImageReference, instances: list[str]) -> Part:
    name = image.repository.rpartition("/")[2]
    if image.digest:
        tag = f"&tag={quote(image.tag, safe='')}" if image.tag else ""
        purl = f"pkg:oci/{quote(name.lower(), safe='')}@{quote(image.digest, safe='')}"
        purl += f"?repository_url={quote(image.name, safe='')}{tag}"
    else:
        version = f"@{quote(image.tag, safe='')}" if image.tag else ""
        purl = f"pkg:docker/{_quoted(image.repository)}{version}?repository_url={quote(image.registry, safe='')}"
    return _part("image", "container", image.name, image.tag or image.digest, purl, instance=instances)


def _libraries(workspace: Workspace) -> Iterator[Part]:
    """Yield the Jsonnet libraries of the lock file."""
    try:
        locked = json.loads(workspace.jsonnetfile_lock.read_bytes())
    except FileNotFoundError:
        return
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            "CMD-CAT-031",
            f"{workspace.jsonnetfile_lock} cannot be read",
            hint="compile once more; that writes it again",
        ) from error
    listed = locked.get("dependencies") if isinstance(locked, dict) else None
    for entry in listed if isinstance(listed, list) else ():
        source = entry.get("source") if isinstance(entry, dict) else None
        git = source.get("git") if isinstance(source, dict) else None
        if isinstance(git, dict) and isinstance(git.get("remote"), str):
            url, inner = redact(git["remote"]), str(git.get("subdir") or "")
            commit = str(entry.get("version") or "")
            name = str(entry.get("name") or inner.rpartition("/")[2] or url.rpartition("/")[2].removesuffix(".git"))
            purl = _git_purl(name, ComponentCheckout(url, commit, commit, inner.strip("/"), changed=False))
            yield _part("jsonnet-library", "library", name, commit, purl)


def _tools(context: Context) -> Iterator[Part]:
    yield {"type": "application", "name": DISTRIBUTION, "version": __version__}
    for library in core_libraries():
        yield {"type": "library", "name": library.name, "version": library.version or "unknown"}
    for name, tool in find_tools(context).items():
        if tool is not None:
            yield {"type": "application", "name": name, "version": tool.version or "unknown"}
