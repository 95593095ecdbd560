"""Working in several threads, whose programs end together with the work."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from commodore.base.context import Context


@contextlib.contextmanager
def threads(number: int, context: Context, name: str) -> Iterator[tuple[ThreadPoolExecutor, Context]]:
    """Threads, and the context of what they do.

    If an exception leaves the block, the programs of this context are ended, and nothing new begins: the block never
    waits for a program that nobody needs any more. An interruption ends those of the given context, too, which is the
    whole run's.

    Args:
        name: how the names of the threads begin.
    """
    part = context.nested()
    with ThreadPoolExecutor(number, thread_name_prefix=name) as pool:
        try:
            yield pool, part
            pool.shutdown(wait=True)  # here, so that an interruption meanwhile is seen
        except BaseException as error:
            part.cancellation.cancel()
            if not isinstance(error, Exception | GeneratorExit):
                context.cancellation.cancel()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
