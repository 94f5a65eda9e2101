"""Messages that come at an even pace for as long as a `with` block, from a thread that alone speaks to its producer."""

import threading
from collections.abc import Sequence

from tests.plugins.calling import JavaCallFailed
from tests.plugins.java_admin import JavaAdmin

PAUSE_SECONDS = 0.25


class Traffic:
    def __init__(
        self, admin: JavaAdmin, topics: Sequence[str], broker: str, queues: int, each: int, *, outages: bool = False
    ) -> None:
        """`each` messages into each queue at a time. `outages`: while nobody answers the producer none come."""
        self._outages = outages
        self._admin, self._topics, self._broker, self._queues, self._each = admin, topics, broker, queues, each
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._flow)

    def __enter__(self) -> "Traffic":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(120)

    def _flow(self) -> None:
        while not self._stop.wait(PAUSE_SECONDS):
            for topic in self._topics:
                for queue in range(self._queues):
                    self._send(topic, queue)

    def _send(self, topic: str, queue: int) -> None:
        try:
            self._admin.send(topic, self._broker, queue, self._each)
        except JavaCallFailed:
            if not self._outages:
                raise
