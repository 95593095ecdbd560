"""Writing rendered Applications to a stream or to files of a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from commodore.argocd.operations.rendered import RenderedApplication
from commodore.argocd.trees import Tree
from commodore.base.errors import PolicyError, UsageError
from commodore.base.files.staging import staging
from commodore.base.files.workspace import exchange_tree, guard_disk, is_inside
from commodore.base.kubernetes import ObjectKey, key_of
from commodore.base.printable import printable
from commodore.base.yaml.kube_yaml import write_documents

Layout = Literal["app", "object"]
MARKER = ".commodore-rendered"
"""The file that marks a folder as written by this program, so that it may be replaced."""


def stream(applications: Iterable[RenderedApplication]) -> str:
    """Return objects as a YAML stream, each with a comment that names its Application, source and file."""
    return "---\n".join(_documents(applications))


def _documents(applications: Iterable[RenderedApplication]) -> Iterator[str]:
    for application in applications:
        for rendered in application.objects:
            marks = (rendered.origin, "partial: another source fails" if application.partial else "")
            label = ", ".join((application.name, f"source {rendered.source}", *filter(None, marks)))
            yield f"# {printable(label)}\n{write_documents([rendered.data])}"


def write_layout(
    applications: Iterable[RenderedApplication], folder: Path, layout: Layout, own: Mapping[str, Tree]
) -> int:
    """Replace a folder by the objects of Applications. Return the number of files.

    Args:
        layout: `app` for a file per Application; `object` for a file per object.
        own: the rendered tree, by the repositories that it replaces; the folder must not be in it.

    Raises:
        PolicyError: CMD-ARGO-012, the folder is in the tree, or contains it.
        UsageError: CMD-ARGO-031, the folder has files of others.
        EnvironmentFault: it cannot be written.
    """
    for tree in own.values():
        if is_inside(folder, tree.root) or is_inside(tree.root, folder):
            raise PolicyError(
                "CMD-ARGO-012",
                f"the folder {folder} is in the rendered tree, or contains it",
                hint="choose a folder elsewhere",
            )
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / MARKER).is_file())):
        raise UsageError(
            "CMD-ARGO-031",
            f"{folder} has files that this command did not write",
            hint="name an empty or new folder",
        )
    # The new folder is written next to the old one and exchanged as a whole: an error leaves the old one unchanged.
    files = dict(_files(applications, layout))
    with staging(folder.absolute().parent, f".{folder.name}-", None) as scratch:
        made = scratch / "new"
        with guard_disk(folder):
            made.mkdir()
            (made / MARKER).write_text("made by commodore argocd render\n", encoding="utf-8")
            for name, text in files.items():
                place = made / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text, encoding="utf-8")
        exchange_tree(made, folder.absolute())
    return len(files)


def _files(applications: Iterable[RenderedApplication], layout: Layout) -> Iterator[tuple[str, str]]:
    """Yield paths and contents. Names that differ only in case get a number."""
    taken: dict[str, int] = {}
    for application in applications:
        if layout == "app":
            if application.objects:
                yield f"{application.instance}.yaml", stream([application])
            continue
        for rendered in application.objects:
            path = f"{application.instance}/{_name(key_of(rendered.data), rendered.data)}"
            number = taken[path] = taken.get(path, 0) + 1
            yield f"{path}{f'~{number}' if number > 1 else ''}.yaml", write_documents([rendered.data])


def _name(key: ObjectKey, data: Mapping[str, object]) -> str:
    metadata = data.get("metadata")
    generated = metadata.get("generateName") if isinstance(metadata, Mapping) else ""
    kind = f"{key.kind}.{key.group}" if key.group else key.kind
    return f"{_part(key.namespace) or '_cluster'}/{_part(f'{kind}-{key.name or generated}')}"


def _part(text: str) -> str:
    """Return a text as a file name, in lower case."""
    safe = "".join(character if character.isalnum() or character in "-._" else "~" for character in text.lower())
    return safe[:200].lstrip(".")
