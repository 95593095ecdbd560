"""The process in which reclass-rs renders: see `_reclass_process`.

A message is its length in eight bytes and a value of `marshal`. A request is the folders of a hierarchy, as keywords of
`reclass_rs.Reclass`, with the name of a target, or None for all of them. What comes back are the nodes, one message
for each, then how it ended.

It runs as a script, without importing the package that it is in: that would take longer than most renderings.
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
        memory: the bytes that this process may have.
        threads: how many render at the same time.
        most: the bytes of one node.
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
            os.abort()  # as reclass-rs ends the process itself
        except _WrongError as error:
            _send(answers, marshal.dumps((WRONG, error.target, str(error)), 2))
        except BaseException as error:  # pyo3 does not export PanicException, which is no Exception
            _send(answers, marshal.dumps((PANIC, "", str(error)), 2))


class _WrongError(Exception):
    """What reclass-rs says of a target, or of all."""

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
            for name in sorted(opened[key].nodes):  # of several errors it gives any; here the first target's counts
                try:
                    opened[key].nodeinfo(name)
                except ValueError as first:
                    raise _WrongError(str(first), name) from None
        raise _WrongError(str(error), target or "") from None
    for name in sorted(nodes):
        yield name, nodes.pop(name)


def _receive(stream: BinaryIO) -> Any:
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    return marshal.loads(stream.read(LENGTH.unpack(head)[0]))  # noqa: S302 - of who has started this process


def _send(stream: BinaryIO, content: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):  # who asked has gone, and standard input ends
        stream.write(LENGTH.pack(len(content)))
        stream.write(content)
        stream.flush()


if __name__ == "__main__":
    _, _memory, _threads, _most, *sys.path[:] = sys.argv
    serve(int(_memory), int(_threads), int(_most))
