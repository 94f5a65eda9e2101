"""Counts in windows of time, shared by all processes over Redis; while it does not answer, each process counts alone.

Whoever is counted must not fail, nor wait for long, because Redis is down.
"""

import logging
from collections import Counter
from functools import lru_cache
from threading import Lock

import redis
from django.conf import settings

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 0.2
# After it did not answer, it is left alone for so long.
AWAY_SECONDS = 10.0


class Counts:
    def __init__(self, url: str) -> None:
        self._redis = redis.Redis.from_url(url, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS)
        self._away_until: float | None = None
        self._window = 0
        self._here: Counter[str] = Counter()
        self._lock = Lock()

    def add(self, name: str, *, now: float, seconds: int) -> int:
        """One more of `name` in the window of `seconds` that holds `now` (Unix time): how many that makes."""
        window = int(now // seconds)
        if self._away_until is None or now >= self._away_until:
            try:
                return self._add_there(f"consumerscope:count:{name}:{window}", 2 * seconds)
            except redis.exceptions.RedisError as error:
                self._away_until = now + AWAY_SECONDS
                logger.warning("Redis does not answer (%s): each process counts requests for itself.", error)
        return self._add_here(name, window)

    def _add_there(self, key: str, kept_seconds: int) -> int:
        with self._redis.pipeline(transaction=False) as calls:
            calls.incr(key)
            calls.expire(key, kept_seconds)
            counted, _ = calls.execute()
        self._away_until = None
        return int(counted)

    def _add_here(self, name: str, window: int) -> int:
        with self._lock:
            if window != self._window:
                self._window = window
                self._here.clear()
            self._here[name] += 1
            return self._here[name]


def counts() -> Counts:
    return of_this_process(settings.REDIS_URL)


@lru_cache(maxsize=1)
def of_this_process(url: str) -> Counts:
    return Counts(url)
