"""The asyncio edge of polling: an event loop in its own thread, and a cluster's connections, kept between polls."""

import asyncio
import logging
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from consumers.polling.registration import Access
from consumers.rocketmq.wire.errors import RocketMQError
from consumers.rocketmq.wire.pool import ConnectionPool

logger = logging.getLogger(__name__)

T = TypeVar("T")

# Every call inside has its own deadline. This limit bounds a sum of calls that would not end, or a stuck loop.
LONGEST_SECONDS = 600.0
# A close waits this long for connections to end, and then abandons them.
CLOSE_SECONDS = 5.0
CLOSED = "its connections were closed, as the cluster was registered again or its worker ends"


class WireClosed(RocketMQError):
    """The wire was closed or abandoned before the result was there. Another wire may be asked."""


class Wire:
    """Connections to one cluster. `run` may be called from any thread, one reading at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="rocketmq-wire", daemon=True)
        self._thread.start()
        self._guard = threading.Lock()
        self._gone: str | None = None
        self._is_closing = False
        self._asked: set[Future[Any]] = set()
        self._using = threading.Lock()
        self._access = Access()
        self.pool = ConnectionPool()

    @property
    def usable(self) -> bool:
        """False after the wire was closed, or did not answer in time: it takes no more work, and a new wire is
        needed.
        """
        return self._gone is None

    def use(self, access: Access) -> None:
        """Sets the access for connections opened from now on. Raises NoAccess, WireClosed."""
        with self._using:
            if access == self._access:
                return
            pool = ConnectionPool(credentials=access.credentials, tls=access.context())
            self.run(self.pool.close())
            self.pool, self._access = pool, access

    def run(self, work: Coroutine[Any, Any, T], *, longest_seconds: float = LONGEST_SECONDS) -> T:
        """Returns or raises what `work` does. Raises WireClosed if the wire is closed, or if `work` lasts too long.

        With `never_sent` set on that error, `work` was not started.
        """
        asked = self._begin(work)
        try:
            return self._result(asked, longest_seconds)
        except CancelledError:
            raise WireClosed(self._gone or CLOSED) from None
        finally:
            with self._guard:
                self._asked.discard(asked)

    def close(self) -> None:
        """Running calls fail with WireClosed. Returns within some seconds, even if a connection does not end.

        May be called more than once, from any thread.
        """
        self._leave(CLOSED)
        with self._guard:
            if self._is_closing:
                return
            self._is_closing = True
        self._loop.call_soon_threadsafe(self._loop.create_task, self._end())
        self._thread.join(CLOSE_SECONDS)
        if self._thread.is_alive():
            logger.error("Connections to a cluster did not end within %s s, and were left.", CLOSE_SECONDS)

    def _begin(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        with self._guard:
            if self._gone is None:
                asked = asyncio.run_coroutine_threadsafe(work, self._loop)
                self._asked.add(asked)
                return asked
        work.close()
        refused = WireClosed(self._gone)
        refused.never_sent = True
        raise refused

    def _result(self, asked: "Future[T]", longest_seconds: float) -> T:
        try:
            return asked.result(longest_seconds)
        except TimeoutError:
            if not asked.done():
                self._leave(f"the work there gave no result within {longest_seconds:.3g} s")
            # The work has ended by now, or was cancelled: the result is available at once.
            return asked.result(0)

    def _leave(self, reason: str) -> None:
        """Refuses further work and ends running work: its callers continue at once."""
        with self._guard:
            if self._gone is None:
                self._gone = reason
            under_way = list(self._asked)
        for asked in under_way:
            asked.cancel()

    def _serve(self) -> None:
        """Runs until the wire is closed. The closing thread may have ended by then, if the loop was stuck."""
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    async def _end(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.pool.close()
                await asyncio.gather(*others, return_exceptions=True)
        except TimeoutError:
            logger.error("Connections to a cluster did not end within %s s, and were left.", CLOSE_SECONDS)
        finally:
            self._loop.stop()
