"""Explain errors of exhausted resources: full disk, I/O errors, lack of memory. The machine's operator must act. And
errors of unusable values: impossible file names, too deep nesting, endless numbers. Their author must act.

They may occur at every call of this program, a library or a tool. Callers need not expect them: exceptions are
classified at the edge of a worker and of the program, where they would otherwise be reported as something else.
"""

from __future__ import annotations

import errno
import os
import re
import sys

from commodore.base.errors import CommodoreError, EnvironmentFault, Findings, InputError
from commodore.base.names import PATH_BYTES, PATH_SEGMENT_BYTES
from commodore.base.printable import shortened

_SCARCE = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "the quota is used up: free some space",
    errno.EFBIG: "the limit for the size of files is reached (ulimit -f)",
    errno.EIO: "look at the disk and the messages of the operating system",
    errno.EMFILE: "too many files are open at once; raise the limit (ulimit -n)",
    errno.ENFILE: "too many files are open at once on this machine",
    errno.ENOMEM: "give it more memory, or fewer processes (--processes 1)",
    errno.EAGAIN: "too many processes run at once; raise the limit (ulimit -u), or use fewer (--processes 1)",
    errno.EROFS: "the file system is read-only; choose another folder",
}
_REFUSED = {
    errno.EACCES: "check the permissions",
    errno.EPERM: "check the permissions",
    errno.ESTALE: "a network file system has lost the file; run again",
}
_IN_THE_WAY = {
    errno.ELOOP: "remove a misplaced symbolic link, or a loop of links",
    errno.EISDIR: "a folder is in the way; move it away",
    errno.ENOTDIR: "a file is where a folder should be; move it away",
    errno.ENAMETOOLONG: f"names have at most {PATH_SEGMENT_BYTES} bytes, paths {PATH_BYTES}; choose a shorter one",
}
_SHOWN = 120  # characters shown of a path that is too long
_UNCHANGED = "what was there before is unchanged"
_NUMBERED = re.compile(r"\(os error (\d+)\)|\[Errno (\d+)\]")  # written by Rust, written by Python
# Patterns at the end or beginning of lines of tools; texts of charts and templates inside lines do not match.
_WORDS = [
    *(
        (re.compile(rf": {re.escape(os.strerror(number))}\W*$", re.IGNORECASE | re.MULTILINE), number)
        for number in _SCARCE
        if number != errno.EAGAIN  # also an error of sockets
    ),
    (
        re.compile(
            r"^(fatal|error|fatal error|runtime)\b.*: out of memory\b|^fatal: out of memory\b",
            re.IGNORECASE | re.MULTILINE,
        ),
        errno.ENOMEM,
    ),
    (re.compile(r"^MemoryError\b|failed to map segment from shared object", re.MULTILINE), errno.ENOMEM),
    (
        re.compile(
            r"\bfork\b.*resource temporarily unavailable|^can't start new thread$", re.IGNORECASE | re.MULTILINE
        ),
        errno.EAGAIN,
    ),
]


def hint_for(error: OSError) -> str:
    """Return advice for an error of the operating system."""
    return f"{_hint(error.errno or 0) or 'look at the reason'}; {_UNCHANGED}"


def find_exhaustion(error: BaseException, subject: str = "") -> EnvironmentFault | None:
    """Return the environment's fault that an exception or its causes report; None for other exceptions.

    Args:
        subject: the beginning of the message.
    """
    for cause in _causes(error):
        if isinstance(cause, EnvironmentFault):
            return None
        number = _number(cause)
        if number:
            named = [cause.filename2, cause.filename] if isinstance(cause, OSError) else []
            return _fault(number, subject, [os.fsdecode(name) for name in named if isinstance(name, (str, bytes))])
    return None


def find_in_output(text: str, subject: str = "") -> EnvironmentFault | None:
    """Return the environment's fault that the output of a failed tool reports; None for other failures."""
    number = _number_in(text)
    return _fault(number, subject, []) if number else None


def judge(error: CommodoreError, subject: str = "") -> CommodoreError:
    """Return an error's cause if that is a fault of the environment, else the error: a file that is unreadable due to a
    failing disk is not to be corrected by its author.
    """
    if isinstance(error, Findings) or error.exit_code == EnvironmentFault.exit_code:
        return error
    return find_exhaustion(error, subject) or error


def is_exhaustion(code: str) -> bool:
    """Return True for codes of exhausted resources."""
    return code in ("CMD-WORK-003", "CMD-WORK-006")


def refusal(error: BaseException, subject: str = "") -> CommodoreError | None:
    """Return the error for exhausted resources, missing permissions, or values that no program can handle."""
    exhaustion = find_exhaustion(error, subject)
    if exhaustion is None and isinstance(error, OSError) and error.errno in _REFUSED:
        return _fault(error.errno, subject, [os.fsdecode(error.filename)] if error.filename else [])
    return exhaustion or find_unusable(error, subject)


def find_unusable(error: BaseException, subject: str = "") -> InputError | None:
    """Return the error for an impossible file name or too deep nesting, if an exception or its causes report that. None
    if another error has explained it.
    """
    for cause in _causes(error):
        if isinstance(cause, CommodoreError):
            return None
        if unusable := _unusable(cause):
            return InputError(unusable.code, _about(subject, unusable.message), hint=unusable.hint)
    return None


def _unusable(cause: BaseException) -> InputError | None:
    hint = f"names of files have at most {PATH_SEGMENT_BYTES} bytes, paths {PATH_BYTES}, without NUL in them"
    if isinstance(cause, RecursionError):
        return InputError(
            "CMD-WORK-009",
            "too deep nesting",
            hint="look for deeply nested values or folders, and for references to themselves; "
            "a hundred levels are supported",
        )
    if isinstance(cause, ValueError) and str(cause).startswith("Exceeds the limit ("):
        digits = sys.get_int_max_str_digits()
        return InputError(
            "CMD-WORK-010",
            f"a number has more than {digits:,} digits",
            hint="put it into quotes if it is text, or correct it",
        )
    if isinstance(cause, OSError) and cause.errno == errno.ENAMETOOLONG:
        name = repr(shortened(os.fsdecode(cause.filename or ""), _SHOWN))
        return InputError("CMD-WORK-008", f"{name} is too long for the name of a file", hint=hint)
    if isinstance(cause, UnicodeEncodeError) and "surrogates" in cause.reason:
        name = repr(shortened(cause.object, _SHOWN))
        return InputError("CMD-WORK-008", f"{name} has a half of a character, and cannot be written", hint=hint)
    if isinstance(cause, ValueError) and str(cause).startswith("embedded null"):
        return InputError("CMD-WORK-008", "the name of a file has a NUL character", hint=hint)
    return None


def _about(subject: str, said: str) -> str:
    return f"{subject}: {said}" if subject else said


def _fault(number: int, subject: str, places: list[str]) -> EnvironmentFault:
    what = f"cannot use {places[0]}: " if places else ""
    said = f"{what}{os.strerror(number)}"
    code = "CMD-WORK-006" if number in (errno.ENOMEM, errno.EAGAIN) else "CMD-WORK-003"
    message = _about(subject, said)
    return EnvironmentFault(code, message, hint=f"{_hint(number)}; {_UNCHANGED}", locations=places)


def _hint(number: int) -> str:
    return {**_SCARCE, **_REFUSED, **_IN_THE_WAY}.get(number, "")


def _number(error: BaseException) -> int:
    """Return the error number of an exception about exhausted resources, or 0."""
    if isinstance(error, MemoryError):
        return errno.ENOMEM
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno if error.errno in _SCARCE else 0
    return 0 if isinstance(error, CommodoreError) else _number_in(str(error))


def _number_in(text: str) -> int:
    numbers = [int(match[1] or match[2]) for match in _NUMBERED.finditer(text)]
    numbers += [number for words, number in _WORDS if words.search(text)]
    return next((number for number in numbers if number in _SCARCE), 0)


def _causes(error: BaseException) -> list[BaseException]:
    """Return an exception with its causes; for foreign exceptions also those being handled when it was raised."""
    chain: list[BaseException] = [error]
    while True:
        last = chain[-1]
        cause = last.__cause__
        if cause is None and not isinstance(last, CommodoreError) and not last.__suppress_context__:
            cause = last.__context__
        if cause is None or any(cause is known for known in chain):
            return chain
        chain.append(cause)
