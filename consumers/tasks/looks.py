"""One dead letter looked at: a page asks, the general worker answers through Redis."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from celery import shared_task
from django.utils import timezone

from consumers.dead_letters.looks.answers import LookKey, put_answer, put_question
from consumers.dead_letters.looks.look import MessagePlace
from consumers.dead_letters.looks.look_at import LookFailed, look_at
from consumers.dead_letters.may_see import LOST, may_see
from consumers.errands.publishing import publish
from consumers.errands.questions import PATIENCE


def ask_look(key: LookKey, place: MessagePlace, now: datetime) -> None:
    """Raises RedisDown."""
    put_question(key, place, now)
    publish(
        look_at_message,
        expires_seconds=PATIENCE.total_seconds(),
        key=str(key),
        place=asdict(place),
        with_content=key.with_content,
    )


@shared_task(name="consumers.look_at_message")
def look_at_message(key: str, place: dict[str, Any], with_content: bool) -> None:
    look, reason = None, "The worker failed at it: its log says why."
    try:
        asked = LookKey.of(key)
        if with_content and not (asked.with_content and may_see(asked.user_id)):
            raise LookFailed(LOST)
        look = look_at(MessagePlace(**place), timezone.now(), with_content=with_content)
    except LookFailed as error:
        reason = str(error)
    finally:
        put_answer(key, look, None if look else reason)
