"""The files that differ between two trees."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from commodore.argocd.appsets import PathPatterns
from commodore.argocd.trees import is_git
from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import InputError, UsageError
from commodore.base.files.tree import walk


@dataclass(frozen=True, slots=True)
class ChangedFileFilter:
    """Options: a filter for changed paths.

    Attributes:
        changed_include: patterns, one of which a path must match, if any.
        changed_ignore: patterns of paths that are ignored.
        changed_file: a file that lists the changed paths, a line each, instead of a comparison of the trees.
    """

    changed_include: tuple[str, ...] = ()
    changed_ignore: tuple[str, ...] = ()
    changed_file: Path | None = None

    def paths(self, old: Path, new: Path, ignored: Collection[str] = ()) -> list[str]:
        """Return the filtered changed paths, sorted, relative to the roots of the trees.

        Args:
            ignored: absolute paths that git ignores in the trees.

        Raises:
            UsageError: CMD-ARGO-025, a pattern is invalid.
            InputError: CMD-ARGO-024, the list cannot be read.
        """
        include, ignore = map(PathPatterns, (self.changed_include, self.changed_ignore))
        paths = changed_paths(old, new, ignored) if self.changed_file is None else _listed(self.changed_file)
        return sorted(
            path for path in paths if (not self.changed_include or include.fit(path)) and not ignore.fit(path)
        )

    def check(self, old: Path, new: Path, ignored: Collection[str], diagnostics: Diagnostics) -> None:
        """Refuse include patterns that match no file, changed or not, and warn of such ignore patterns.

        Raises:
            UsageError: CMD-ARGO-025, a pattern is invalid; CMD-ARGO-037, a pattern matches no file.
        """
        if not self.changed_include and not self.changed_ignore:
            return
        paths = {
            *_files(old, ignored),
            *_files(new, ignored),
            *(_listed(self.changed_file) if self.changed_file else ()),
        }
        for option, patterns in (
            ("changed-include", self.changed_include),
            ("changed-ignore", self.changed_ignore),
        ):
            for text in patterns:
                fits = PathPatterns((text,)).fit
                if not any(map(fits, paths)):
                    self._report_unmatched(option, text, diagnostics)

    def _report_unmatched(self, option: str, text: str, diagnostics: Diagnostics) -> None:
        message = f"{option} {text!r} matches no file of either tree"
        hint = "paths begin at the root of the repository; '**' stands for folders"
        if text in self.changed_include:
            raise UsageError("CMD-ARGO-037", message, hint=hint)
        diagnostics.add(Diagnostic("CMD-ARGO-037", message, "warning", hint))


def _listed(file: Path) -> Iterator[str]:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise InputError(
            "CMD-ARGO-024", f"the list of changed paths {file} cannot be read: {error.strerror}", hint="check its path"
        ) from error
    yield from (line.strip().removeprefix("./") for line in lines if line.strip())


def changed_paths(old: Path, new: Path, ignored: Collection[str] = ()) -> Iterator[str]:
    """Yield the files and links that are on one side only, or differ in content or target, except those of git and
    ignored ones.
    """
    before, after = _files(old, ignored), _files(new, ignored)
    yield from before.keys() ^ after.keys()
    for path in before.keys() & after.keys():
        old_path, new_path = before[path], after[path]
        if os.path.islink(old_path) or os.path.islink(new_path):
            if not (os.path.islink(old_path) and os.path.islink(new_path)) or os.readlink(old_path) != os.readlink(
                new_path
            ):
                yield path
        elif not filecmp.cmp(old_path, new_path, shallow=False):
            yield path


def _files(root: Path, ignored: Collection[str]) -> dict[str, str]:
    return {
        name: entry.path
        for name, entry in walk(root, skip=lambda entry: is_git(entry) or entry.path in ignored)
        if entry.is_symlink() or entry.is_file(follow_symlinks=False)
    }
