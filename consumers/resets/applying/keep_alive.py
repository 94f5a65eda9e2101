"""Waits for the cluster longer than a worker may be silent, and renews the worker's heartbeat meanwhile."""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import datetime
from typing import TypeVar

from consumers.jobs.hold import Hold
from consumers.polling.wire import WireClosed

BEAT_SECONDS = 5.0
# Each call of a check has its own deadline; a check of ten thousand queues far away takes minutes.
LONGEST_SECONDS = 300.0

Answer = TypeVar("Answer")


class NoEnd(WireClosed):
    """The request did not end, and its wire did not end it either: another wire may be asked."""


def keep_alive(
    hold: Hold,
    clock: Callable[[], datetime],
    ask: Callable[[], Answer],
    *,
    beat_seconds: float = BEAT_SECONDS,
    longest_seconds: float = LONGEST_SECONDS,
) -> Answer:
    """What `ask` returns or raises. It runs in a thread, so it must not touch the database.

    Raises NotHeld; NoEnd where `ask` lasts too long. Its thread is not waited for: the wire
    bounds it too.
    """
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reset")
    asked = thread.submit(ask)
    thread.shutdown(wait=False)
    for _ in range(math.ceil(longest_seconds / beat_seconds)):
        if wait([asked], beat_seconds).done:
            return asked.result(timeout=0)
        hold.renew(clock())
    raise NoEnd(f"the cluster gave no result within {longest_seconds:.3g} s")
