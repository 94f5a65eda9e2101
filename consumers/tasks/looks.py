"""One dead letter looked at: a page asks, the general worker answers through Redis."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from celery import shared_task
from django.utils import timezone

from consumers.dead_letters.looks.answers import PATIENCE, LookKey, put_answer, put_question
from consumers.dead_letters.looks.look import MessagePlace
from consumers.dead_letters.looks.look_at import LookFailed, look_at
from consumers.dead_letters.redis_client import redis_client


def ask_look(key: LookKey, place: MessagePlace, now: datetime) -> None:
    """Raises RedisDown. A worker that comes to it too late leaves it: nobody waits any more."""
    put_question(key, place, now)
    wanted = {"key": str(key), "place": asdict(place), "with_content": key.with_content}
    with redis_client():
        look_at_message.apply_async(
            kwargs=wanted, expires=PATIENCE.total_seconds(), queue="general", retry=False, ignore_result=True
        )


@shared_task(name="consumers.look_at_message")
def look_at_message(key: str, place: dict[str, Any], with_content: bool) -> None:
    look, reason = None, "The worker failed at it: its log says why."
    try:
        look = look_at(MessagePlace(**place), timezone.now(), with_content=with_content)
    except LookFailed as error:
        reason = str(error)
    finally:
        put_answer(key, look, None if look else reason)
