"""Questions to the general worker as they wait in Redis: asked, then answered, gone after a while."""

import json
from datetime import datetime, timedelta
from typing import Any

from .redis_client import redis_client

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
