"""Script of the process in which reclass-rs renders: see `_reclass_process`.

A message is its length in eight bytes and a value of `marshal`. A request has the folders of a hierarchy, as keywords
of `reclass_rs.Reclass`, and the name of a target, or None for all targets. The response is a message for each node,
then one with the result.

The script does not import its package: that would take longer than most renderings.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import struct
import sys

TYPE_CHECKING = False  # importing `typing` takes longer than all the rest
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, BinaryIO

LENGTH = struct.Struct("<Q")
NODE, DONE, WRONG, PANIC, LARGE = range(5)
"""Kinds of messages: a node, the end, an error of a target, a bug in reclass-rs, a node that is too large."""


def serve(memory: int, threads: int, most: int) -> None:
    """Answer requests on standard input until it is closed.

    Args:
        memory: the maximum bytes of this process.
        threads: the number of rendering threads.
        most: the maximum bytes of one node.
    """
    from commodore.base.programs.child_processes import bound_memory

    bound_memory(memory)
    import reclass_rs

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    reclass_rs.Reclass.set_thread_count(threads)
    opened: dict[str, Any] = {}
    while (request := _receive(sys.stdin.buffer)) is not None:
        try:
            for name, node in _render(opened, *request):
                content = marshal.dumps((NODE, name, node), 2)
                if len(content) > most:
                    _send(answers, marshal.dumps((LARGE, name, ""), 2))
                    break
                _send(answers, content)
            else:
                _send(answers, marshal.dumps((DONE, "", ""), 2))
        except MemoryError:
            os.abort()  # like reclass-rs itself
        except _TargetError as error:
            _send(answers, marshal.dumps((WRONG, error.target, str(error)), 2))
        except BaseException as error:  # pyo3 does not export PanicException, which is not an Exception
            _send(answers, marshal.dumps((PANIC, "", str(error)), 2))


class _TargetError(Exception):
    """An error of reclass-rs about a target, or about the hierarchy."""

    def __init__(self, text: str, target: str) -> None:
        super().__init__(text)
        self.target = target


def _render(
    opened: dict[str, Any], hierarchy: Mapping[str, Any], target: str | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    key = repr(hierarchy)
    try:
        if key not in opened:
            import reclass_rs

            opened.clear()
            opened[key] = reclass_rs.Reclass(**hierarchy)
        reclass = opened[key]
        if target is not None:
            yield target, reclass.nodeinfo(target).as_dict()
            return
        nodes = reclass.inventory().as_dict()["nodes"]
    except ValueError as error:
        if target is None and key in opened:
            for name in sorted(opened[key].nodes):  # of several errors reclass-rs returns any
                try:
                    opened[key].nodeinfo(name)
                except ValueError as first:
                    raise _TargetError(str(first), name) from None
        raise _TargetError(str(error), target or "") from None
    for name in sorted(nodes):
        yield name, nodes.pop(name)


def _receive(stream: BinaryIO) -> Any:
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    return marshal.loads(stream.read(LENGTH.unpack(head)[0]))  # noqa: S302 - from the parent process


def _send(stream: BinaryIO, content: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):  # the parent process has ended, and standard input ends, too
        stream.write(LENGTH.pack(len(content)))
        stream.write(content)
        stream.flush()


if __name__ == "__main__":
    _, _memory, _threads, _most, *sys.path[:] = sys.argv
    serve(int(_memory), int(_threads), int(_most))
