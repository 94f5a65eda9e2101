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
        # By length of the window: its number, and what it counted.
        self._here: dict[int, tuple[int, Counter[str]]] = {}
        self._lock = Lock()

    def add(self, name: str, *, now: float, seconds: int, more: int = 1) -> int:
        """`more` of `name` in the window of `seconds` that holds `now` (Unix time): how many that makes."""
        return self._add(name, more, now, seconds)

    def take_back(self, name: str, *, now: float, seconds: int) -> None:
        """One less of it: what was counted shall not count."""
        self._add(name, -1, now, seconds)

    def forget(self, name: str, *, now: float, seconds: int) -> None:
        """None of it any more."""
        self._add(name, None, now, seconds)

    def _add(self, name: str, more: int | None, now: float, seconds: int) -> int:
        """`more` null: what was counted is forgotten."""
        window = int(now // seconds)
        if self._away_until is None or now >= self._away_until:
            try:
                return self._add_there(f"consumerscope:count:{name}:{window}", more, 2 * seconds)
            except redis.exceptions.RedisError as error:
                self._away_until = now + AWAY_SECONDS
                logger.warning("Redis does not answer (%s): each process counts requests for itself.", error)
        return self._add_here(name, more, window, seconds)

    def _add_there(self, key: str, more: int | None, kept_seconds: int) -> int:
        with self._redis.pipeline(transaction=False) as calls:
            if more is None:
                calls.delete(key)
            else:
                calls.incrby(key, more)
                calls.expire(key, kept_seconds)
            counted = calls.execute()[0]
        self._away_until = None
        return 0 if more is None else int(counted)

    def _add_here(self, name: str, more: int | None, window: int, seconds: int) -> int:
        with self._lock:
            counted, here = self._here.get(seconds, (window, Counter()))
            if counted != window:
                here = Counter()
            self._here[seconds] = window, here
            here[name] = 0 if more is None else here[name] + more
            return here[name]


def counts() -> Counts:
    return of_this_process(settings.REDIS_URL)


@lru_cache(maxsize=1)
def of_this_process(url: str) -> Counts:
    return Counts(url)
