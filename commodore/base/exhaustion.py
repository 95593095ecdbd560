"""What to make of a full disk, an I/O error, too little memory: the machine's operator must act, wherever it happens.
And of names that no file can have, of what nests too deep, and of endless numbers: whoever wrote them must act.

It may happen at every call, of this program, of a library, of a tool. Callers need not expect it: exceptions are judged
where they would otherwise be reported as something else, at the edge of a worker and of the program.
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
    errno.ELOOP: "a symbolic link is where none should be, or links form a loop; remove it",
    errno.EISDIR: "a folder is in the way; move it away",
    errno.ENOTDIR: "a file is where a folder should be; move it away",
    errno.ENAMETOOLONG: f"names have at most {PATH_SEGMENT_BYTES} bytes, paths {PATH_BYTES}; choose a shorter one",
}
_SHOWN = 120  # letters of a path that is too long
_UNCHANGED = "what was there before is unchanged"
_NUMBERED = re.compile(r"\(os error (\d+)\)|\[Errno (\d+)\]")  # Rust's words, Python's words
# How tools end a line, or begin it; what a chart or a template says somewhere in a line is none of it.
_WORDS = [
    *(
        (re.compile(rf": {re.escape(os.strerror(number))}\W*$", re.IGNORECASE | re.MULTILINE), number)
        for number in _SCARCE
        if number != errno.EAGAIN  # which sockets say, too
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
    """What to do about what the operating system has refused."""
    return f"{_hint(error.errno or 0) or 'look at the reason'}; {_UNCHANGED}"


def find_exhaustion(error: BaseException, subject: str = "") -> EnvironmentFault | None:
    """The environment's fault that an exception, or what it was raised from, comes down to; None if it is none.

    Args:
        subject: begins the message: what was worked on.
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
    """The same of what a tool has said before it failed."""
    number = _number_in(text)
    return _fault(number, subject, []) if number else None


def judge(error: CommodoreError, subject: str = "") -> CommodoreError:
    """The error, or what it was raised from if that is a fault of the environment: a file that cannot be read because
    the disk fails is not for its author to correct.
    """
    if isinstance(error, Findings) or error.exit_code == EnvironmentFault.exit_code:
        return error
    return find_exhaustion(error, subject) or error


def is_exhaustion(code: str) -> bool:
    """Whether an error with this code says that the machine itself lacks something."""
    return code in ("CMD-WORK-003", "CMD-WORK-006")


def refusal(error: BaseException, subject: str = "") -> CommodoreError | None:
    """As `find_exhaustion`, and for unexpectedly missing permissions, and for what no program can work with."""
    found = find_exhaustion(error, subject)
    if found is None and isinstance(error, OSError) and error.errno in _REFUSED:
        return _fault(error.errno, subject, [os.fsdecode(error.filename)] if error.filename else [])
    return found or find_unusable(error, subject)


def find_unusable(error: BaseException, subject: str = "") -> InputError | None:
    """The error of the author of a name that no file can have, or of what nests too deep, if an exception, or what it
    was raised from, comes down to that. None of what other errors have explained.
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
            "something nests too deep to be worked on",
            hint="look for values in values, folders in folders, and what leads to itself; "
            "a hundred levels can be worked on",
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
    """The error number of what an exception says is scarce, or 0."""
    if isinstance(error, MemoryError):
        return errno.ENOMEM
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno if error.errno in _SCARCE else 0
    return 0 if isinstance(error, CommodoreError) else _number_in(str(error))


def _number_in(text: str) -> int:
    numbers = [int(found[1] or found[2]) for found in _NUMBERED.finditer(text)]
    numbers += [number for words, number in _WORDS if words.search(text)]
    return next((number for number in numbers if number in _SCARCE), 0)


def _causes(error: BaseException) -> list[BaseException]:
    """An exception with what it was raised from; for others' also with what was being handled."""
    chain: list[BaseException] = [error]
    while True:
        last = chain[-1]
        cause = last.__cause__
        if cause is None and not isinstance(last, CommodoreError) and not last.__suppress_context__:
            cause = last.__context__
        if cause is None or any(cause is known for known in chain):
            return chain
        chain.append(cause)
