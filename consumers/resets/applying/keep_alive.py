"""Waits for the cluster longer than a worker may be silent: its mark of life is renewed meanwhile."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import datetime
from typing import TypeVar

from consumers.errands.hold import Hold

BEAT_SECONDS = 5.0

Answer = TypeVar("Answer")


def keep_alive(
    hold: Hold, clock: Callable[[], datetime], ask: Callable[[], Answer], *, beat_seconds: float = BEAT_SECONDS
) -> Answer:
    """What `ask` returns or raises. It runs in a thread, so it must not touch the database. Raises NotHeld."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="reset") as thread:
        asked = thread.submit(ask)
        while not wait([asked], beat_seconds).done:
            hold.renew(clock())
        return asked.result()
