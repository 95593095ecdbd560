"""YAML in: YAML 1.1 as Kapitan reads it, through libyaml, with errors that say where.

YAML 1.1 is part of the contract (spec c 6.1): `yes` is true, `012` is ten, `<<` merges, and a lone `=` is text.
"""

from __future__ import annotations

from typing import Any


def load_all(text: str | bytes, *, place: str) -> list[Any]:
    """All documents of a YAML stream, empty ones as None; an empty list for an empty stream.

    Args:
        text: the stream; bytes are UTF-8, or UTF-16 with a byte order mark.
        place: what errors call the stream: a file's path, as the user knows it.

    Raises:
        InputError: CMD-YAML-001, the text is not valid YAML or has a tag or value that cannot be read, with line and
            column; CMD-YAML-003, nested too deeply.
    """
    from commodore.manifests._loader import Loader, explain  # PyYAML takes its time to import

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


def load(text: str | bytes, *, place: str) -> Any:
    """The one document of a YAML text; None for an empty text.

    Args and errors as for `load_all`. More than one document is CMD-YAML-001 too.
    """
    from commodore.manifests._loader import Loader, explain

    loader = None
    try:
        loader = Loader(text)
        return loader.get_single_data()
    except Exception as error:
        raise explain(error, text, place) from error
    finally:
        if loader is not None:
            loader.dispose()
