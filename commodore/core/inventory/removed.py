"""Check for removed reclass variables; a hierarchy that still uses them is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from commodore.base.errors import CommodoreError, InputError, Location
from commodore.base.files.workspace import guard_disk
from commodore.core.inventory.files import class_files


def find_removed_variables(targets: Iterable[Path]) -> list[CommodoreError]:
    """Return an error per removed variable and string value in the class files of the given folders and files.

    These are the findings of the linter `deprecated-parameters`. Files that are not a YAML mapping are left to reclass,
    which reports them if they are used.
    """
    return [error for target in targets for path in class_files(target) for error in _check(path)]


def _check(path: Path) -> Iterator[CommodoreError]:
    # PyYAML is slow to import.
    from commodore.core.inventory.lint.class_file import ClassFile, parse_class_file
    from commodore.core.inventory.lint.deprecated import DeprecatedParameters, may_use_removed

    if not path.is_file():  # a dangling link, a pipe: reclass reports it if it is used
        return
    with guard_disk(path):
        content = path.read_bytes()
    if not may_use_removed(content):
        return
    file = parse_class_file(path, str(path), content)
    if not isinstance(file, ClassFile):
        return
    for finding in DeprecatedParameters().read(file):
        line = Location(file.name, finding.locations[0].line)
        yield InputError("CMD-INV-008", finding.message, hint=finding.hint, locations=[line])
