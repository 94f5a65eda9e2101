"""A real Redis, the one that a launch starts."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
import redis as redis_package

from dashboard.celery import app
from dashboard.launch.launcher import answers, redis_program
from dashboard.launch.supervisor import Supervisor


@pytest.fixture(scope="session")
def _redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("redis")
    url = f"unix://{folder / 'redis.sock'}"
    supervisor = Supervisor(folder / "logs", print)
    supervisor.start(redis_program(folder / "redis.sock", os.environ))
    try:
        supervisor.wait_until(lambda: answers(url), seconds=60, otherwise="Redis did not start")
        yield url
    finally:
        supervisor.stop()


@pytest.fixture
def redis(_redis_url: str, settings: Any) -> Iterator[redis_package.Redis]:
    """An empty one, which the site is set to. No worker serves it."""
    settings.REDIS_URL = _redis_url
    settings.CELERY_BROKER_URL = _redis_url.replace("unix://", "redis+socket://", 1)
    with redis_package.Redis.from_url(_redis_url) as client:
        client.flushall()
        yield client


@pytest.fixture
def redis_is_down(settings: Any, tmp_path: Any) -> None:
    settings.REDIS_URL = f"unix://{tmp_path / 'nobody-listens.sock'}"


@pytest.fixture
def tasks_at_once(redis: redis_package.Redis) -> Iterator[None]:
    """Who asks for a task finds it done."""
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = False
