"""Read YAML 1.1 as Kapitan does, through libyaml, with the places of errors.

YAML 1.1 is part of the contract: `yes` is true, `012` is ten, `<<` merges, and a lone `=` is text.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from commodore.base.errors import InputError

if TYPE_CHECKING:
    from yaml import Node


def load_all(text: str | bytes, *, place: str) -> list[Any]:
    """Return all documents of a YAML stream, empty ones as None; an empty list for an empty stream.

    Args:
        text: the stream; bytes are UTF-8, or UTF-16 with a byte order mark.
        place: the name of the stream in errors: a file's path, as the user knows it.

    Raises:
        InputError: CMD-YAML-001, the text is not valid YAML or has a tag or value that cannot be read, with line and
            column; CMD-YAML-003, nested too deeply; CMD-YAML-004, too many values after resolving aliases.
    """
    from commodore.base.yaml._loader import Loader, explain  # importing PyYAML is slow
    from commodore.base.yaml._quick import NotPlainError, load_plain

    with contextlib.suppress(NotPlainError):
        return load_plain(text)
    documents = []
    loader = None
    try:
        loader = Loader(text)
        while loader.check_data():  # type: ignore[no-untyped-call]
            documents.append(loader.get_data())
    except Exception as error:
        raise explain(error, text, place) from error
    finally:
        if loader is not None:
            loader.dispose()
    return documents


def load_rendered(text: str | bytes, *, place: str) -> list[Any]:
    """Return all documents printed by helm: numbers that it leaves unquoted are numbers, such as `1e21`, and `<<` is a
    text.

    Args and errors as for `load_all`.
    """
    from commodore.base.yaml._loader import RenderedLoader, explain

    loader = None
    try:
        loader = RenderedLoader(text)
        documents = []
        while loader.check_data():  # type: ignore[no-untyped-call]
            documents.append(loader.get_data())
        return documents
    except Exception as error:
        raise explain(error, text, place) from error
    finally:
        if loader is not None:
            loader.dispose()


def load(text: str | bytes, *, place: str) -> Any:
    """Return the document of a YAML text; None for an empty text.

    Args and errors as for `load_all`. More than one document is CMD-YAML-001 too.
    """
    from commodore.base.yaml._loader import Loader, explain
    from commodore.base.yaml._quick import NotPlainError, load_plain

    with contextlib.suppress(NotPlainError):
        documents = load_plain(text)
        if len(documents) < 2:
            return documents[0] if documents else None
    loader = None
    try:
        loader = Loader(text)
        return loader.get_single_data()
    except Exception as error:
        raise explain(error, text, place) from error
    finally:
        if loader is not None:
            loader.dispose()


def compose(text: str | bytes, *, place: str) -> list[Node]:
    """Return the root nodes of the first two documents of a YAML stream: PyYAML's nodes with their lines.

    A single document is valid for `load`; merge keys (`<<`) are ordinary nodes. With two documents, which indicate a
    wrong file, the contents are not checked.

    Args and errors as for `load_all`.
    """
    from commodore.base.yaml._loader import Loader, explain

    loader = None
    try:
        loader = Loader(text)
        nodes: list[Node] = []
        while len(nodes) < 2 and (node := loader.get_node() if loader.check_node() else None) is not None:
            nodes.append(node)
        if len(nodes) == 1:
            # Construction replaces merge keys in the nodes, so it gets nodes of its own.
            if "<<" in text if isinstance(text, str) else b"<<" in text:
                load(text, place=place)
            else:
                loader.construct_document(nodes[0])
        return nodes
    except InputError:
        raise
    except Exception as error:
        raise explain(error, text, place) from error
    finally:
        if loader is not None:
            loader.dispose()


def compose_all(text: str | bytes, *, place: str) -> list[Node]:
    """Return the root nodes of all documents of a YAML stream; empty documents are nodes of the value null.

    Args and errors as for `load_all`. Values are not checked.
    """
    from commodore.base.yaml._loader import Loader, explain

    loader = None
    try:
        loader = Loader(text)
        nodes: list[Node] = []
        while loader.check_node():
            node = loader.get_node()
            if node is not None:
                loader.bound(node)
                nodes.append(node)
        return nodes
    except Exception as error:
        raise explain(error, text, place) from error
    finally:
        if loader is not None:
            loader.dispose()
