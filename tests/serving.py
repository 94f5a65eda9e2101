"""Fake brokers on a loop of their own, in a thread beside the test."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager


@contextmanager
def beside(serve: Callable[[], AbstractAsyncContextManager[None]]) -> Iterator[None]:
    """Within the block what `serve` begins is up."""
    loop = asyncio.new_event_loop()
    is_up, is_over = threading.Event(), asyncio.Event()

    async def until_over() -> None:
        async with serve():
            is_up.set()
            await is_over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(until_over(),))
    thread.start()
    try:
        assert is_up.wait(40)
        yield
    finally:
        loop.call_soon_threadsafe(is_over.set)
        thread.join()
        loop.close()
