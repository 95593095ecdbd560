"""Commits on hydrated branches, made in a bare clone: no working copy, so no link, filter or hook has a say."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError, PolicyError
from commodore.base.events import Warned
from commodore.base.printable import printable
from commodore.core.sources.git import Author, Git, identity_environment, read_blobs, redact
from commodore.hydrate import layout, ownership
from commodore.hydrate.edits import NO_EDITS, Edit, PastCommit, as_text, past_of
from commodore.hydrate.model import CommitRequest, PathCounts, PathOutput, Writing
from commodore.hydrate.notes import NOTES

_FILE, _EXECUTABLE = "100644", "100755"
_KEPT = "refs/commodore/hydrate/"
_NEW_NOTES = "refs/notes/commodore-hydrate-building"
_UNSAFE = re.compile(r"[\x00-\x1f<>]")  # what ends a name or an address where git reads them


@dataclass(frozen=True, slots=True)
class Stamp:
    """Who commits, and when.

    Attributes:
        author, committer: `Name <mail> SECONDS OFFSET`, as git writes it.
    """

    author: str
    committer: str


@dataclass(frozen=True, slots=True)
class Built:
    """A commit that is ready to be pushed.

    Attributes:
        commit: the branch's new head; the old one if nothing changes, empty if there is no branch and nothing to write.
        base: the commit it stands on; empty for the first one.
        branches: what is to be pushed: the branch, and the one that is deployed if that is new.
        counts: of the objects at the output paths that are wanted.
        edited: output paths that stay as others have edited them, with the last commit at which they were as hydrated.
        warnings: what was announced meanwhile.
    """

    commit: str
    base: str
    branches: Mapping[str, str] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    counts: Mapping[str, PathCounts] = field(default_factory=dict)
    edited: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[Warned, ...] = ()

    @property
    def is_new(self) -> bool:
        """Whether there is a commit that was not there before."""
        return self.commit in self.branches.values() and self.commit != self.base


@dataclass(frozen=True, slots=True)
class _Entry:
    mode: str
    sha: str


@dataclass(frozen=True, slots=True)
class _Change:
    """What a commit is to do to its base.

    Attributes:
        edited: see `Built`.
    """

    paths: tuple[PathOutput, ...]
    removed: tuple[str, ...]
    edited: Mapping[str, str]


class Committer:
    """Makes commits in one bare clone.

    Args:
        bare: the clone of the destination; it has the heads that commits are made on.
        sign: the key to sign with, empty for git's own choice; None not to sign.
    """

    def __init__(self, bare: Path, context: Context, writing: Writing, sign: str | None = None) -> None:
        self.bare = bare
        self._git = Git(bare, context)
        self._context = context
        self._writing = writing
        self._sign = sign
        self._warned: list[Warned] = []

    def stamp(self, request: CommitRequest) -> Stamp:
        """The author at the time of the dry commit, in UTC; the committer now, or then if that is wanted."""
        identity = self._identity(request.author)
        name, mail = (_UNSAFE.sub("", identity[f"GIT_AUTHOR_{key}"]) for key in ("NAME", "EMAIL"))
        who = f"{name} <{mail}>"
        author = f"{who} {int(datetime.fromisoformat(request.commit.date).timestamp())} +0000"
        if self._writing.dated_dry:
            return Stamp(author, author)
        return Stamp(author, self._committer(identity))

    def stamp_now(self, author: Author | None) -> Stamp:
        """Author and committer now."""
        who = self._committer(self._identity(author))
        return Stamp(who, who)

    def _identity(self, author: Author | None) -> Mapping[str, str]:
        return identity_environment(self.bare, author, self._context)

    def _committer(self, identity: Mapping[str, str]) -> str:
        return self._git.run(["var", "GIT_COMMITTER_IDENT"], environment=identity).text

    def metadata_of(self, commit: str) -> dict[str, bytes]:
        """Each `hydrator.metadata` of a commit, by its folder; that of the root by an empty text."""
        entries = self._entries(commit)
        return {"": b""} | self._metadata(entries, root=True)

    def manifests_of(self, commit: str, paths: Iterable[str]) -> dict[str, bytes]:
        """The manifests of a commit at output paths, by these; without those that are not there."""
        found = self._read(self._entries(commit), [f"{path}/{layout.MANIFEST}" for path in paths])
        return {name.removesuffix(f"/{layout.MANIFEST}"): content for name, content in found.items()}

    def build(
        self, request: CommitRequest, heads: Mapping[str, str], stamp: Stamp, edits: Mapping[str, Edit] = NO_EDITS
    ) -> Built:
        """Make the commit that is wanted, on the head of its branch.

        Args:
            heads: the remote's branches.
            edits: files on the branch that others have changed since they were hydrated.

        Raises:
            PolicyError: CMD-HYD-007, something else than a folder is in the way; CMD-HYD-031, too much would go;
                CMD-HYD-047, edits of others would be lost.
            InputError: CMD-HYD-022, a path would become empty; CMD-HYD-028, a manifest would be too large.
            EnvironmentFault: git fails; CMD-HYD-052, the commit cannot be signed.
        """
        self._warned = []
        head = heads.get(request.branch, "")
        base = head or heads.get(request.sync_branch, "")
        entries = self._entries(base) if base else {}
        owned = ownership.examine(self._metadata(entries), request.scope, self._writing.adopt)
        self._report(owned, request)
        manifests = self._read(entries, [f"{one.path}/{layout.MANIFEST}" for one in request.paths])
        counts = {one.path: layout.count_changes(_manifest(one, manifests), one.objects) for one in request.paths}
        change = self._change(request, entries, owned, counts, edits)
        branches: dict[str, str] = {}
        if request.sync_branch != request.branch and request.sync_branch not in heads:
            branches[request.sync_branch] = self._begin(request, head, stamp)
            base = base or branches[request.sync_branch]
        commit = head
        if change.paths or change.removed:
            new = self._files(request, change.paths, entries)
            gone = [f"{folder}/{name}" for folder in change.removed for name in owned.ours[folder]]
            commit = branches[request.branch] = self._commit(request, base, new, gone, stamp)
            others = {path: entry for path, entry in entries.items() if path not in gone}
            self._check_written(commit, new, others)
        elif base and not head:
            commit = branches[request.branch] = base
        paths = tuple(one.path for one in change.paths)
        warned = tuple(self._warned)
        return Built(commit, base, branches, paths, change.removed, owned.stale, counts, change.edited, warned)

    def _change(
        self,
        request: CommitRequest,
        entries: Mapping[str, _Entry],
        owned: ownership.Owned,
        counts: Mapping[str, PathCounts],
        edits: Mapping[str, Edit],
    ) -> _Change:
        changed = [one for one in request.paths if self._is_changed(one, entries, owned, counts[one.path])]
        removed = owned.stale if self._writing.removal == "delete" else ()
        lost = {one.path for one in changed} | set(removed)
        # A manifest that was edited to what its sources render by now is settled; a README is nothing but what it was.
        lost |= {one.path for one in request.paths if one.path in edits and not edits[one.path].is_of_manifest}
        lost &= edits.keys()
        rendered = {one.path for one in request.paths}
        edited = {path: edit.base for path, edit in edits.items() if path not in rendered}
        if lost:
            self._judge_edits({path: edits[path] for path in sorted(lost)}, request)
            if self._writing.edited == "keep":
                edited |= {path: edits[path].base for path in lost}
                changed = [one for one in changed if one.path not in lost]
                removed = tuple(path for path in removed if path not in lost)
            else:
                lost |= {one.path for one in changed}
                changed = [one for one in request.paths if one.path in lost]
        if removed:
            ownership.check_removal(owned, removed, request, self._writing)
        return _Change(tuple(changed), tuple(removed), {path: edited[path] for path in edited if path not in removed})

    def _judge_edits(self, lost: Mapping[str, Edit], request: CommitRequest) -> None:
        """Refuse to write over edits of others, or say what is done with them."""
        shown = as_text(lost)
        branch = f"{request.branch} of {redact(request.url)}"
        if self._writing.edited == "refuse":
            raise PolicyError(
                "CMD-HYD-047",
                f"others have edited what is hydrated to the branch {branch}: {shown}",
                hint="move the edits to the sources, then add --edited overwrite, or add --edited keep to leave them",
            )
        if self._writing.edited == "keep":
            self._announce(kept_warning(lost, branch))
        else:
            self._warn(
                "CMD-HYD-032",
                f"--edited overwrite writes over edits of others on the branch {branch}: {shown}",
                "the edits are in the history of the branch; change the sources, not what is rendered of them",
            )

    def note(self, notes: Mapping[str, str], stamp: Stamp) -> str:
        """A commit of the notes in which commits (full ids) have these notes too. Returns its id."""
        if not notes:
            return self.notes_head()
        lines = [
            f"reset {_NEW_NOTES}",
            f"commit {_NEW_NOTES}",
            f"committer {stamp.committer}",
            *_data("Notes of hydrated commits\n"),
        ]
        if head := self.notes_head():
            lines.append(f"from {head}")
        for commit, text in sorted(notes.items()):
            lines += [f"N inline {commit}", *_data(text)]
        try:
            self._import(lines)
            return self._git.run(["rev-parse", "--verify", _NEW_NOTES]).text
        finally:
            self._git.run(["update-ref", "-d", _NEW_NOTES], check=False)

    def take_notes(self, commit: str) -> None:
        """Take notes that the remote has, too, for those of the clone."""
        self._git.run(["update-ref", NOTES, commit])

    def notes_head(self) -> str:
        """The head of the notes; empty if there are none."""
        arguments = ["rev-parse", "--verify", "--quiet", NOTES]
        return self._git.run(arguments, check=False).text

    def note_of(self, commit: str) -> bytes:
        """The note of a commit; empty without one."""
        return self._git.run(["log", "-1", f"--notes={NOTES}", "--format=%N", commit]).stdout.strip()

    def past(self, head: str) -> list[PastCommit]:
        """The commits of a branch with their notes, newest first."""
        return past_of(self._git, head)

    def blobs_at(self, places: Iterable[str]) -> dict[str, bytes]:
        """Files of commits by `COMMIT:PATH`, without those that are not there."""
        asked = [place for place in dict.fromkeys(places) if "\n" not in place]
        if not asked:
            return {}
        text = "".join(f"{place}\n" for place in asked)
        answer = self._git.run(["cat-file", "--batch"], input=text.encode("utf-8", "surrogateescape")).stdout
        contents: dict[str, bytes] = {}
        at = 0
        for place in asked:
            end = answer.index(b"\n", at)
            header = answer[at:end].decode("utf-8", "surrogateescape")
            at = end + 1
            if header.endswith((" missing", " ambiguous")):
                continue
            _, kind, size = header.split(" ")
            if kind == "blob":
                contents[place] = answer[at : at + int(size)]
            at += int(size) + 1
        return contents

    def keep(self, group: str, commit: str) -> str:
        """Keep a commit that could not be pushed. Returns its ref."""
        ref = _KEPT + group
        self._git.run(["update-ref", ref, commit])
        return ref

    def _entries(self, commit: str) -> dict[str, _Entry]:
        listed = self._git.run(["ls-tree", "-r", "-z", "--full-tree", commit]).stdout
        found = {}
        for line in listed.split(b"\0"):
            if line:
                about, _, path = line.partition(b"\t")
                mode, _, sha = about.decode().split(" ")
                found[path.decode("utf-8", "surrogateescape")] = _Entry(mode, sha)
        return found

    def _read(self, entries: Mapping[str, _Entry], paths: Iterable[str]) -> dict[str, bytes]:
        wanted = {path: entries[path].sha for path in paths if path in entries}
        contents = read_blobs(self.bare, sorted(set(wanted.values())), self._context)
        return {path: contents[sha] for path, sha in wanted.items()}

    def _metadata(self, entries: Mapping[str, _Entry], *, root: bool = False) -> dict[str, bytes]:
        name = f"/{layout.METADATA}"
        paths = [path for path, one in entries.items() if path.endswith(name) and one.mode in (_FILE, _EXECUTABLE)]
        paths += [layout.METADATA] if root else []
        contents = self._read(entries, paths)
        return {path.rpartition("/")[0]: content for path, content in contents.items()}

    def _is_changed(
        self,
        output: PathOutput,
        entries: Mapping[str, _Entry],
        owned: ownership.Owned,
        counts: PathCounts,
    ) -> bool:
        self._check_free(output.path, entries)
        if not output.objects:
            self._check_empty(output.path, counts)
        missing = not all(f"{output.path}/{name}" in entries for name in layout.FILES)
        if self._writing.rewrite or missing or output.path in self._writing.adopt:
            return True
        dropped = set(owned.ours.get(output.path, ())) - set(layout.FILES)
        return bool(dropped) or counts.differs

    def _check_free(self, path: str, entries: Mapping[str, _Entry]) -> None:
        folders = [path, *(str(one) for one in PurePosixPath(path).parents if str(one) != ".")]
        blocked = [folder for folder in folders if folder in entries]
        files = [f"{path}/{name}" for name in layout.FILES] + [layout.METADATA, layout.ATTRIBUTES]
        blocked += [file for file in files if file in entries and entries[file].mode not in (_FILE, _EXECUTABLE)]
        blocked += [file for file in files if any(other.startswith(f"{file}/") for other in entries)]
        if blocked:
            raise PolicyError(
                "CMD-HYD-007",
                f"{printable(blocked[0])} is in the way of what is hydrated to {printable(path)}",
                hint="it is a link, a submodule, a file or a folder of others; remove it, or hydrate to another path",
            )

    def _check_empty(self, path: str, counts: PathCounts) -> None:
        if counts.removed and not self._writing.allow_empty:
            raise InputError(
                "CMD-HYD-022",
                f"nothing is rendered for {path} any more, where objects were before",
                hint="see whether the source is still right; if that is meant, add --allow-empty",
            )
        self._warn("CMD-HYD-021", f"nothing is rendered for {path}", "see whether the source is the right one")

    def _files(
        self, request: CommitRequest, changed: Sequence[PathOutput], entries: Mapping[str, _Entry]
    ) -> dict[str, bytes]:
        root = layout.root_data(request.scope.dry_url, request.commit)
        files = {layout.METADATA: layout.metadata(root)}
        for one in changed:
            files |= layout.path_files(one, root)
            self._check_size(one.path, len(files[f"{one.path}/{layout.MANIFEST}"]))
        old = self._read(entries, [layout.ATTRIBUTES]).get(layout.ATTRIBUTES)
        lines = layout.attributes(old)
        if lines != old:
            files[layout.ATTRIBUTES] = lines
        return files

    def _check_size(self, path: str, size: int) -> None:
        most = self._context.limits.hydrate_manifest_bytes
        if size > most:
            raise InputError(
                "CMD-HYD-028",
                f"{path}/{layout.MANIFEST} has {size} bytes, which is more than {most}",
                hint="hydrate fewer objects to one path",
            )

    def _begin(self, request: CommitRequest, head: str, stamp: Stamp) -> str:
        """An empty first commit for the branch that is deployed: programs that promote expect one.

        Args:
            head: of the branch that is written to; where that began with an empty commit, it is the same one.
        """
        empty = self._empty_tree()
        if head:
            roots = self._git.run(["log", "--max-parents=0", "--first-parent", "--format=%H %T", head]).text.split("\n")
            for commit, tree in (line.split(" ") for line in roots if line):
                if tree == empty:
                    return commit
        dated = Stamp(stamp.author, stamp.author)
        message, sign = f"Start of {request.sync_branch}\n", self._sign is not None
        return self._commit_tree(empty, "", message, dated, sign=sign)

    def _empty_tree(self) -> str:
        arguments = ["hash-object", "-t", "tree", "-w", "--stdin"]
        return self._git.run(arguments, input=b"").text

    def _commit(
        self, request: CommitRequest, base: str, new: Mapping[str, bytes], gone: Sequence[str], stamp: Stamp
    ) -> str:
        ref = f"{_KEPT}building-{request.group}-{time.monotonic_ns()}"
        lines: list[str | bytes] = [f"commit {ref}", f"author {stamp.author}", f"committer {stamp.committer}"]
        lines += _data(f"{request.message}\n")
        if base:
            lines.append(f"from {base}")
        lines += [f"D {_quoted(path)}" for path in gone]
        for path, content in sorted(new.items()):
            lines += [f"M {_FILE} inline {_quoted(path)}", *_data(content)]
        try:
            self._import(lines)
            commit = self._git.run(["rev-parse", "--verify", ref]).text
        finally:
            self._git.run(["update-ref", "-d", ref], check=False)
        if self._sign is None:
            return commit
        tree = self._git.run(["rev-parse", f"{commit}^{{tree}}"]).text
        return self._commit_tree(tree, base, f"{request.message}\n", stamp, sign=True)

    def _commit_tree(self, tree: str, parent: str, message: str, stamp: Stamp, *, sign: bool = False) -> str:
        arguments = ["commit-tree", tree, *(["-p", parent] if parent else []), *([f"-S{self._sign}"] if sign else [])]
        environment = {**_identity("AUTHOR", stamp.author), **_identity("COMMITTER", stamp.committer)}
        answer = self._git.run(
            arguments,
            input=message.encode("utf-8", "replace"),
            environment=environment,
            check=not sign,
        )
        if sign and (answer.returncode != 0 or not self._verifies(answer.text)):
            raise EnvironmentFault(
                "CMD-HYD-052",
                f"the commit cannot be signed: {answer.stderr.strip().splitlines()[-1:] or 'it does not verify'}",
                hint="check git's user.signingKey and gpg.format, and gpg.ssh.allowedSignersFile for ssh",
            )
        return answer.text

    def _verifies(self, commit: str) -> bool:
        return self._git.run(["verify-commit", commit], check=False).returncode == 0

    def _import(self, lines: Sequence[str | bytes]) -> None:
        stream = b"".join(
            (line.encode("utf-8", "surrogateescape") if isinstance(line, str) else line) + b"\n" for line in lines
        )
        arguments = ["fast-import", "--quiet", "--force", "--date-format=raw"]
        self._git.run(arguments, input=stream + b"done\n", settings=("core.ignoreCase=false",))

    def _check_written(self, commit: str, new: Mapping[str, bytes], others: Mapping[str, _Entry]) -> None:
        """See that the commit has exactly what was meant: git follows rules of its own about names.

        Args:
            others: what it has of its base.
        """
        entries = self._entries(commit)
        wrong = [path for path in new if path not in entries or entries[path].mode != _FILE]
        left = {path: entry for path, entry in entries.items() if path not in new}
        kept = {path: entry for path, entry in others.items() if path not in new}
        wrong += sorted(path for path in {*left, *kept} if left.get(path) != kept.get(path))
        if wrong or self._read(entries, new) != dict(new):
            raise PolicyError(
                "CMD-HYD-007",
                f"git has not written {printable(wrong[0]) if wrong else 'the files'} as they were meant",
                hint="hydrate to a path without special characters",
            )

    def _report(self, owned: ownership.Owned, request: CommitRequest) -> None:
        branch = f"{request.branch} of {redact(request.url)}"
        if owned.stale and self._writing.removal == "report":
            self._announce(stale_warning(owned.stale, branch))
        foreign = [path for path in owned.foreign if path in {one.path for one in request.paths}]
        if foreign and self._writing.removal != "keep":
            self._warn(
                "CMD-HYD-034",
                f"another program has hydrated {', '.join(foreign)} of the branch {branch}",
                f"add {' '.join(f'--adopt {path}' for path in foreign)} to take over its files",
            )

    def _warn(self, code: str, message: str, hint: str) -> None:
        self._announce(Warned(code, message, hint=hint))

    def _announce(self, warned: Warned) -> None:
        self._warned.append(warned)
        self._context.announce(warned)


def stale_warning(paths: Iterable[str], branch: str) -> Warned:
    """The warning about output paths that no Application writes any more."""
    return Warned(
        "CMD-HYD-030",
        f"no Application writes any more to {', '.join(paths)} of the branch {branch}",
        hint="add --removed delete to remove what was written there, or --removed keep to keep it silently",
    )


def kept_warning(edits: Mapping[str, Edit], branch: str) -> Warned:
    """The warning about edits of others that stay."""
    return Warned(
        "CMD-HYD-048",
        f"edits of others stay on the branch {branch}, which is not what its sources render: {as_text(edits)}",
        hint="move them to the sources, then run with --edited overwrite",
    )


def _manifest(output: PathOutput, manifests: Mapping[str, bytes]) -> bytes | None:
    return manifests.get(f"{output.path}/{layout.MANIFEST}")


def _data(content: str | bytes) -> list[str | bytes]:
    raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return [f"data {len(raw)}", raw]


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _identity(who: str, stamp: str) -> dict[str, Any]:
    name, _, rest = stamp.rpartition(" <")
    mail, _, date = rest.partition("> ")
    return {f"GIT_{who}_NAME": name, f"GIT_{who}_EMAIL": mail, f"GIT_{who}_DATE": date}
