"""Which branches and paths may be written to."""

from __future__ import annotations

import re

from commodore.base.errors import Location, PolicyError
from commodore.base.printable import printable

_LONGEST_BRANCH = 200
_LONGEST_PATH = 2048
_LONGEST_SEGMENT = 255
# What git forbids in the name of a branch, but for the parts that are checked one by one.
_NO_BRANCH = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-/.]|[/.]$|^@$|^refs/|^HEAD$")
_GIT_FOLDER = re.compile(r"(?i)^(\.git|git~[0-9]+)[ .]*$")
# Characters that file systems of macOS leave out when they compare names.
_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_OWN = (".gitattributes", "hydrator.metadata")


def check_branch(branch: str, place: Location) -> str:
    """The name of a branch, if it is one that may be written to.

    Raises:
        PolicyError: CMD-HYD-008, it is none.
    """
    parts = branch.split("/")
    refused = not branch or len(branch) > _LONGEST_BRANCH or _NO_BRANCH.search(branch)
    if refused or any(part.startswith(".") or part.endswith(".lock") for part in parts):
        raise PolicyError(
            "CMD-HYD-008",
            f"{printable(branch[:_LONGEST_BRANCH])!r} is not the name of a branch",
            hint="name a branch as `git branch` takes it, without refs/heads/",
            locations=[place],
        )
    return branch


def output_path(path: str, place: Location) -> str:
    """An output path in its normal form: relative, without `.` and empty parts.

    Raises:
        PolicyError: CMD-HYD-007, it is the root, has the part `..`, or has a part that cannot be a folder everywhere.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/"):
        reason = "is absolute"
    elif not parts:
        reason = "is the root of the branch, which holds other files"
    elif len(path.encode("utf-8", "surrogatepass")) > _LONGEST_PATH:
        reason = f"is longer than {_LONGEST_PATH} bytes"
    else:
        reason = next(filter(None, map(_refusal, parts)), "")
        if not reason and parts[0] in _OWN:
            reason = f"has the name of the file {parts[0]}"
    if reason:
        raise PolicyError(
            "CMD-HYD-007",
            f"the output path {printable(path[:_LONGEST_SEGMENT])!r} {reason}",
            hint="name a folder of the Application's own, such as its name",
            locations=[place],
        )
    return "/".join(parts)


def _refusal(part: str) -> str:
    """Why a part of a path cannot be a folder; empty if it can."""
    if part == "..":
        return "has a part '..'"
    if _GIT_FOLDER.match(_IGNORED.sub("", part)):
        return "leads into git's own folder"
    if re.search(r"[\x00-\x1f\x7f\\]", part):
        return "has a control character or a backslash"
    if part.endswith((".", " ")):
        return "has a part that ends with a dot or a blank"
    if len(part.encode("utf-8", "surrogatepass")) > _LONGEST_SEGMENT:
        return f"has a part that is longer than {_LONGEST_SEGMENT} bytes"
    return ""
