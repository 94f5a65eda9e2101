"""Plans a re-send: every message that would be sent has a row, and so has one that is left out. Nothing is sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from consumers.errands.audit import note
from consumers.models import (
    ConsumerGroup,
    DeadLetter,
    Destination,
    Resend,
    ResendItem,
    ResendOutcome,
    ResendStatus,
    Topic,
)
from consumers.rocketmq.names import retry_topic

from .preview import preview
from .selection import Selection
from .sent_before import before_in_words, place_of, sent_before

VALID_FOR = timedelta(minutes=15)
LEAST_RATE, MOST_RATE, USUAL_RATE = 1.0, 500.0, 50.0
ROWS_AT_ONCE = 5_000
NAMED = 3


class PlanRefused(Exception):
    """str() is one sentence or several: what is wrong, and what to do."""


@dataclass(frozen=True)
class Wish:
    """`again`: messages that were re-sent before are sent once more."""

    selection: Selection
    destination: Destination
    reason: str
    again: bool = False
    rate_per_second: float = USUAL_RATE


def plan(group: ConsumerGroup, wish: Wish, by: Any, now: datetime) -> Resend:
    """Raises PlanRefused. `by`: a user."""
    _check(wish)
    if against := preview(group, wish.destination, set(), now).refusals:
        raise PlanRefused(" ".join(against))
    letters = _letters(group, wish.selection)
    with transaction.atomic():
        resend = Resend.objects.create(
            group=group,
            by=by,
            by_name=by.get_username(),
            reason=wish.reason.strip(),
            destination=wish.destination,
            again=wish.again,
            selection=wish.selection.stored(),
            rate_per_second=wish.rate_per_second,
            status=ResendStatus.PLANNED,
            created_at=now,
            expires_at=now + VALID_FOR,
        )
        ResendItem.objects.bulk_create(_items(resend, letters), batch_size=ROWS_AT_ONCE)
        note(resend, resend.title, by, f"Planned a re-send of {len(letters)} dead letters.", now)
    return resend


def _check(wish: Wish) -> None:
    if not wish.reason.strip():
        raise PlanRefused(_("A re-send needs a reason: say why these messages may be consumed once more."))
    if not LEAST_RATE <= wish.rate_per_second <= MOST_RATE:
        words = {"least": f"{LEAST_RATE:g}", "most": f"{MOST_RATE:g}"}
        raise PlanRefused(_("The rate must be from %(least)s to %(most)s messages a second.") % words)


def _letters(group: ConsumerGroup, selection: Selection) -> list[DeadLetter]:
    most = settings.RESEND_MESSAGES_MAX
    if selection.messages is not None and len(selection.messages) > most:
        raise PlanRefused(_too_many(most))
    letters = selection.letters(group, most)
    if missing := selection.missing(letters):
        named = ", ".join(f"{broker}/{queue_id}/{offset}" for broker, queue_id, offset in missing[:NAMED])
        words = {"n": len(missing), "named": named}
        raise PlanRefused(
            _("%(n)s of the chosen messages are not listed (any more), %(named)s among them: choose anew.") % words
        )
    if not letters:
        raise PlanRefused(_("No message is chosen."))
    if len(letters) > most:
        raise PlanRefused(_too_many(most))
    return letters


def _too_many(most: int) -> str:
    return _("More than %(most)s messages are chosen (RESEND_MESSAGES_MAX): narrow the filters.") % {"most": most}


def _items(resend: Resend, letters: Sequence[DeadLetter]) -> list[ResendItem]:
    items = [_item(resend, letter) for letter in letters]
    before = {} if resend.again else sent_before(resend.group, items)
    topics = {item.target_topic for item in items if item.target_topic}
    there = set(Topic.objects.filter(cluster=resend.group.cluster, name__in=topics).values_list("name", flat=True))
    for item in items:
        earlier = before.get(place_of(item))
        why = before_in_words(earlier) if earlier is not None else _why_not(item, there)
        if why is not None:
            item.outcome, item.error = ResendOutcome.SKIPPED, why
    return items


def _item(resend: Resend, letter: DeadLetter) -> ResendItem:
    to_group = resend.destination == Destination.GROUP
    return ResendItem(
        resend=resend,
        broker=letter.broker,
        queue_id=letter.queue_id,
        offset=letter.offset,
        stored_id=letter.stored_id,
        message_id=letter.message_id,
        outcome=ResendOutcome.PLANNED,
        target_topic=retry_topic(resend.group.name) if to_group else letter.origin_topic,
    )


def _why_not(item: ResendItem, there: set[str]) -> str | None:
    if item.target_topic is None:
        return "it does not say which topic it came from"
    if item.target_topic not in there:
        return f"no reading has seen the topic {item.target_topic}"
    return None
