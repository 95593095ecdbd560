"""Work in several threads, whose programs are terminated together with the work."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from commodore.base.context import Context


@contextlib.contextmanager
def threads(number: int, context: Context, name: str) -> Iterator[tuple[ThreadPoolExecutor, Context]]:
    """A thread pool, and the context for its work.

    If an exception leaves the block, the programs of this context are terminated, and nothing new begins: the block
    does not wait for programs whose results are discarded. An interruption also cancels the given context, which
    belongs to the whole run.

    Args:
        name: the prefix of the threads' names.
    """
    part = context.nested()
    with ThreadPoolExecutor(number, thread_name_prefix=name) as pool:
        try:
            yield pool, part
            pool.shutdown(wait=True)  # here, so that an interruption meanwhile is handled
        except BaseException as error:
            part.cancellation.cancel()
            if not isinstance(error, Exception | GeneratorExit):
                context.cancellation.cancel()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
