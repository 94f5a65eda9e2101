"""Which dead letters a list, an export or a re-send is of: in SQL for rows, in Python for messages as they stream.

Both say the same of every letter. Texts are compared as they are, capitals and all.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from django.db.models import Exists, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Concat, StrIndex

from consumers.models import ConsumerGroup, DeadLetter, ResendItem, ResendOutcome

# What may have reached its target: such a letter counts as re-sent, so that nothing is sent twice in silence.
MAYBE_SENT = (ResendOutcome.SENDING, ResendOutcome.SENT, ResendOutcome.UNKNOWN)
KEY_SEPARATOR = " "  # RocketMQ 5.4.0, MessageConst


class Letter(Protocol):
    """A row, or a message that was just read."""

    @property
    def stored_at(self) -> datetime: ...
    @property
    def stored_id(self) -> str: ...
    @property
    def message_id(self) -> str | None: ...
    @property
    def origin_message_id(self) -> str | None: ...
    @property
    def origin_topic(self) -> str | None: ...
    @property
    def keys(self) -> str | None: ...
    @property
    def tags(self) -> str | None: ...


@dataclass(frozen=True)
class DeadLetterFilters:
    """Null does not filter. Stored in [since, until); `key` is one whole key, `key_part` a part of any.

    `message_id` is any of its ids: its producer's, the first message's, or the place where it is stored.
    """

    since: datetime | None = None
    until: datetime | None = None
    key: str | None = None
    key_part: str | None = None
    tag: str | None = None
    message_id: str | None = None
    origin_topic: str | None = None
    resent: bool | None = None

    def letters_of(self, group: ConsumerGroup) -> QuerySet[DeadLetter]:
        """Newest first."""
        found = DeadLetter.objects.filter(group=group)
        found = found.alias(was_resent=Exists(_items_of_letter().filter(outcome__in=MAYBE_SENT)))
        if self.key is not None:
            keys = Concat(_text(KEY_SEPARATOR), "keys", _text(KEY_SEPARATOR), output_field=TextField())
            found = found.alias(at_key=StrIndex(keys, _text(_spaced(self.key)))).filter(at_key__gt=0)
        if self.key_part is not None:
            found = found.alias(at_part=StrIndex("keys", _text(self.key_part))).filter(at_part__gt=0)
        return found.filter(self._plain()).order_by("-stored_at", "broker", "queue_id", "-offset")

    def matches(self, letter: Letter, *, was_resent: bool) -> bool:
        keys = letter.keys or ""
        ids = (letter.message_id, letter.origin_message_id, letter.stored_id)
        return (
            (self.since is None or letter.stored_at >= self.since)
            and (self.until is None or letter.stored_at < self.until)
            and (self.key is None or (letter.keys is not None and _spaced(self.key) in _spaced(keys)))
            and (self.key_part is None or self.key_part in keys)
            and (self.tag is None or letter.tags == self.tag)
            and (self.message_id is None or self.message_id in ids)
            and (self.origin_topic is None or letter.origin_topic == self.origin_topic)
            and (self.resent is None or was_resent is self.resent)
        )

    def _plain(self) -> Q:
        wanted: dict[str, Any] = {
            "stored_at__gte": self.since,
            "stored_at__lt": self.until,
            "tags": self.tag,
            "origin_topic": self.origin_topic,
            "was_resent": self.resent,
        }
        chosen = Q(**{name: value for name, value in wanted.items() if value is not None})
        if self.message_id is None:
            return chosen
        ids = ("message_id", "origin_message_id", "stored_id")
        of_id = Q()
        for name in ids:
            of_id |= Q(**{name: self.message_id})
        return chosen & of_id


def _items_of_letter() -> QuerySet[ResendItem]:
    """Of a re-send of the letter at hand; another message at its place, of a topic made anew, is stored elsewhere."""
    return ResendItem.objects.filter(
        resend__group=OuterRef("group"),
        broker=OuterRef("broker"),
        queue_id=OuterRef("queue_id"),
        offset=OuterRef("offset"),
        stored_id=OuterRef("stored_id"),
    )


def _text(text: str) -> Value:
    return Value(text, output_field=TextField())


def _spaced(text: str) -> str:
    return f"{KEY_SEPARATOR}{text}{KEY_SEPARATOR}"
