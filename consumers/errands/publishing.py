"""Asks a worker for something that a person waits for: at once or not at all."""

from typing import Any

from celery import Task, current_app
from django.conf import settings

from .redis_client import ANSWER_SECONDS, redis_client

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
