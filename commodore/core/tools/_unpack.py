"""Taking one executable out of a downloaded archive. Nothing else of the archive reaches the disk."""

from __future__ import annotations

import os
import tarfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO

from commodore.base.errors import PolicyError
from commodore.base.limits import Limits

_CHUNK = 1 << 20


def unpack_executable(archive: IO[bytes], name: str, member: str, target: Path, limits: Limits) -> None:
    """Write the member to `target`, which must not exist, as an executable.

    Args:
        archive: a gzipped tar archive whose digest has been checked.
        name: what the archive is, for messages.
        member: the member's path.

    Raises:
        PolicyError: CMD-TOOL-019, the archive is damaged, or has no such regular file; 015, it is too large.
    """
    archive.seek(0)
    try:
        with tarfile.open(fileobj=archive, mode="r:gz") as opened:
            found = _find(opened, name, PurePosixPath(member), limits)
            content = opened.extractfile(found)
            assert content is not None
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
            with content, os.fdopen(os.open(target, flags, 0o700), "wb") as file:
                while chunk := content.read(_CHUNK):
                    file.write(chunk)
                file.flush()
                os.fchmod(file.fileno(), 0o755)  # whatever the umask
                os.fsync(file.fileno())  # a tool that is there after a power cut must be whole
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise _refused(name, f"it is damaged ({error})") from error


def _find(archive: tarfile.TarFile, name: str, wanted: PurePosixPath, limits: Limits) -> tarfile.TarInfo:
    size = 0
    for count, member in enumerate(archive, start=1):
        size += member.size
        if count > limits.tool_archive_members or size > limits.tool_binary_bytes:
            raise PolicyError(
                "CMD-TOOL-015",
                f"{name} holds more than {limits.tool_archive_members} members or {limits.tool_binary_bytes} bytes",
                hint="is it the right file?",
            )
        if PurePosixPath(member.name) == wanted:
            if not member.isreg():
                raise _refused(name, f"its {wanted} is no regular file")
            return member
    raise _refused(name, f"it has no {wanted}")


def _refused(name: str, reason: str) -> PolicyError:
    return PolicyError(
        "CMD-TOOL-019",
        f"{name} cannot be used: {reason}",
        hint="the mirror may hold something else under this name; nothing was changed",
    )
