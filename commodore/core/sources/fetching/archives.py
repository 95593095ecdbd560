"""Unpack archives without letting their members leave the folder, and pack folders the same way."""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from commodore.base.errors import InputError, PolicyError
from commodore.base.files.tree import size_of, walk
from commodore.base.limits import Limits

_TAR = frozenset({"application/x-tar"})
_GZIP = frozenset(
    {
        "application/gzip",
        "application/octet-stream",
        "application/x-gzip",
        "application/x-compressed",
        "application/x-compressed-tar",
    }
)
_ZIP_MAGIC = b"PK\x03\x04"
_ENCRYPTED = 1
_CHUNK = 1 << 20
_QUICK = 3  # of gzip's levels
_DAMAGED = (
    tarfile.TarError,
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    KeyError,  # a link to a missing member
    ValueError,  # an invalid name or number
    NotImplementedError,  # a compression that Python does not know
)
_NAMES = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP)


def unpack(file: Path, folder: Path, content_type: str | None, limits: Limits) -> bool:
    """Unpack `file` into `folder` if it is a tar or zip archive by Kapitan's rules: content type, then name.
    Members of `.git` are left out, as they are of git dependencies.

    Returns True if it was an archive. Any other file is left alone.

    Raises:
        PolicyError: a member would land outside of the folder or is a device, or the archive is too large.
        InputError: the archive is damaged.
    """
    kind = (content_type or "").partition(";")[0].strip() or None
    if kind in (None, "application/octet-stream"):
        with file.open("rb") as start:
            if start.read(len(_ZIP_MAGIC)) == _ZIP_MAGIC:
                kind = "application/zip"
    try:
        if kind == "application/zip":
            _unzip(file, folder, limits)
        elif kind in _TAR or (kind in _GZIP and file.name.endswith((".tar.gz", ".tgz"))):
            _untar(file, folder, limits)
        else:
            return False
    except tarfile.FilterError as error:
        raise PolicyError("CMD-ENG-030", f"the archive is refused: {error}", hint=_TRUST) from error
    except (MemoryError, OverflowError) as error:  # a header with a huge length
        raise _too_much(limits) from error
    except _DAMAGED as error:
        raise _damaged(str(error)) from error
    except OSError as error:
        if error.errno not in _NAMES:
            raise
        raise _damaged(f"{error.strerror}: a name in it is too long, or names a file and a folder") from error
    return True


def pack(folder: Path, most: int) -> bytes | None:
    """Return a folder as a compressed tar archive that `unpack` accepts; None if it holds more than `most` bytes.

    Raises:
        OSError: something in it cannot be read.
    """
    if size_of(folder) > most:
        return None
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=_QUICK, format=tarfile.PAX_FORMAT) as archive:
        for name, entry in walk(folder):
            archive.add(entry.path, name, recursive=False, filter=_without_owner)
    return packed.getvalue()


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid, member.gid, member.uname, member.gname = 0, 0, "", ""
    return member


def _damaged(reason: str) -> InputError:
    return InputError(
        "CMD-ENG-031",
        f"the archive cannot be unpacked: {reason}",
        hint="is it complete? download it by another program and look; --no-cache fetches it again",
    )


_TRUST = "ask the archive's publisher; its members must be files and folders below the archive's root"


def _check_size(count: int, size: int, limits: Limits) -> None:
    if count > limits.archive_members or size > limits.archive_bytes:
        raise _too_much(limits)


def _too_much(limits: Limits) -> PolicyError:
    return PolicyError(
        "CMD-ENG-032",
        f"the archive holds more than {limits.archive_members} members or {limits.archive_bytes} bytes",
        hint="fetch a smaller archive, or just the files that the component needs",
    )


def _untar(file: Path, folder: Path, limits: Limits) -> None:
    with tarfile.open(file) as archive:
        members: list[tarfile.TarInfo] = []
        links: set[PurePosixPath] = set()
        size = 0
        for member in archive:
            members.append(member)
            size += member.size
            _check_size(len(members), size, limits)
            _check_member(member, links)  # all members before the first one is written
            tarfile.data_filter(member, str(folder))
        _check_end(archive, size, limits)
        selected = [member for member in members if not _is_git_file(member.name)]
        archive.extractall(folder, selected, filter="data")


def _check_end(archive: tarfile.TarFile, size: int, limits: Limits) -> None:
    """Read the rest of the archive after the last member, which ends with the checksum of the compressed data."""
    assert archive.fileobj is not None, "it is open"
    while part := archive.fileobj.read(_CHUNK):
        size += len(part)
        _check_size(0, size, limits)


def _is_git_file(name: str) -> bool:
    """Check if a member belongs to a `.git` folder. Git would trust its configuration, which can name programs."""
    return any(part.lower() == ".git" for part in PurePosixPath(name.replace("\\", "/")).parts)


def _check_member(member: tarfile.TarInfo, links: set[PurePosixPath]) -> None:
    """Refuse a member that leads out of the folder, by names alone.

    The filter of the standard library resolves links on the disk, where Pythons before 3.11.13 follow very long ones
    out of the folder (CVE-2025-4517).

    Args:
        links: the links seen so far; nothing may be placed through one of them.
    """
    name = PurePosixPath(member.name)
    leads_out = name.is_absolute() or ".." in name.parts or any(parent in links for parent in name.parents)
    if member.issym():
        leads_out = leads_out or _climbs(member.linkname, len(name.parent.parts))
        links.add(name)
    elif member.islnk():
        leads_out = leads_out or _climbs(member.linkname, 0)
    if leads_out:
        raise PolicyError("CMD-ENG-030", f"the archive is refused: {member.name!r} leaves it", hint=_TRUST)


def _climbs(target: str, depth: int) -> bool:
    """Check if a link's target is absolute, climbs more than `depth` folders, or climbs after it has descended."""
    parts = PurePosixPath(target).parts
    leading = next((index for index, part in enumerate(parts) if part != ".."), len(parts))
    return target.startswith("/") or leading > depth or ".." in parts[leading:]


def _unzip(file: Path, folder: Path, limits: Limits) -> None:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        _check_size(len(members), sum(member.file_size for member in members), limits)
        for member in members:
            path = PurePosixPath(member.filename.replace("\\", "/"))
            if path.is_absolute() or ".." in path.parts:
                raise PolicyError("CMD-ENG-030", f"the archive is refused: {member.filename!r} leaves it", hint=_TRUST)
            if member.flag_bits & _ENCRYPTED:
                raise _damaged(f"{member.filename!r} is encrypted")
        selected = [member for member in members if not _is_git_file(member.filename)]
        archive.extractall(folder, selected)  # noqa: S202 - every member was checked
