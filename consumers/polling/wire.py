"""The asyncio edge of polling: an event loop in its own thread, and a cluster's connections, kept between polls."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from consumers.polling.registration.access import Access
from consumers.rocketmq.pool import ConnectionPool

T = TypeVar("T")


class Wire:
    """Connections to one cluster. `run` may be called from any thread, one reading at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="rocketmq-wire", daemon=True)
        self._thread.start()
        self._access = Access()
        self.pool = ConnectionPool()

    def use(self, access: Access) -> None:
        """What connections opened from here on are made with. Raises NoAccess."""
        if access == self._access:
            return
        pool = ConnectionPool(credentials=access.credentials, tls=access.context())
        self.run(self.pool.close())
        self.pool, self._access = pool, access

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        self.run(self.pool.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
