"""Redis between pages and the general worker: what is asked and answered there lives for minutes, and in memory."""

from collections.abc import Iterator
from contextlib import contextmanager

import redis
from django.conf import settings
from kombu.exceptions import OperationalError

ANSWER_SECONDS = 2.0


class RedisDown(Exception):
    """str() is one sentence for whoever asked."""


@contextmanager
def redis_client(*, longest_wait_seconds: float = 0.0) -> Iterator[redis.Redis]:
    """Raises RedisDown from the block too. `longest_wait_seconds`: how long a blocking call of it may take."""
    client = redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=ANSWER_SECONDS + longest_wait_seconds,
        socket_connect_timeout=ANSWER_SECONDS,
    )
    try:
        yield client
    except (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError, OperationalError) as error:
        raise RedisDown(
            f"Redis does not answer ({error}), so the worker cannot be asked: see that it runs, and try again."
        ) from error
    finally:
        client.close()
