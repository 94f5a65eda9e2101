"""Questions of pages to the general worker: asked through Redis and answered there, or refused at once."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import redis
from celery import Task, current_app
from django.conf import settings
from django.utils.translation import gettext
from kombu.exceptions import OperationalError

# Redis between pages and the general worker: what is asked and answered there lives for minutes, and in memory.
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
            gettext(
                "Redis does not answer (%(error)s), so the worker cannot be asked. Check that Redis runs, "
                "and try again."
            )
            % {"error": error}
        ) from error
    finally:
        client.close()


# Questions to the general worker as they wait in Redis: asked, then answered, gone after a while.
# A worker that has not answered by then does not run, or has too much to do.
PATIENCE = timedelta(seconds=10)


def put_question(key: str, question: dict[str, Any], now: datetime, kept_seconds: int) -> None:
    """Raises RedisDown."""
    with redis_client() as client:
        client.set(key, json.dumps({**question, "asked_at": now.isoformat()}), ex=kept_seconds)


def put_answer(key: str, answer: dict[str, Any], kept_seconds: int) -> None:
    """Beside the question. Nothing where that is gone: nobody waits for it. Raises RedisDown."""
    with redis_client() as client:
        asked = client.get(key)
        if asked is not None:
            client.set(key, json.dumps(json.loads(asked) | answer), ex=kept_seconds, xx=True)


def what_is_said(key: str) -> dict[str, Any] | None:
    """The question with `asked_at` and, once there is one, its answer. Raises RedisDown."""
    with redis_client() as client:
        text = client.get(key)
    return None if text is None else dict(json.loads(text))


# Asks a worker for something that a person waits for: at once or not at all.
# Celery would try to connect a hundred times.
ONCE = {"max_retries": 0, "interval_start": 0, "interval_step": 0, "interval_max": 0}


def publish(task: Task[Any, Any], *, expires_seconds: float, **wanted: Any) -> None:
    """A worker of the task's queue that comes to it after `expires_seconds` leaves it. Raises RedisDown."""
    with (
        redis_client(),
        current_app.connection_for_write(url=settings.CELERY_BROKER_URL, connect_timeout=ANSWER_SECONDS) as connection,
    ):
        connection.transport_options = {**(connection.transport_options or {}), **ONCE}
        over: dict[str, Any] = {"connection": connection}
        task.apply_async(kwargs=wanted, expires=expires_seconds, retry=False, **over)
