"""Filters of dead-letter messages for a list, an export or a resend: as SQL, in Python, and as a query string."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Concat, StrIndex
from django.utils.translation import gettext

from consumers.models import ConsumerGroup, DeadLetter, ResendItem, ResendOutcome
from consumers.words.marks import listed
from consumers.words.times import read_time

# Both forms give the same result for every message. Texts are compared as they are, case-sensitively.
# These outcomes may have reached the target: such a message counts as resent, so that nothing is silently sent twice.
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
    """Null does not filter. Stored in [since, until); `key` is one complete key, `key_part` a part of any.

    `message_id` is any of its ids: the producer's, the original message's, or the stored one.
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

    def matches(self, message: Letter, *, was_resent: bool) -> bool:
        keys = message.keys or ""
        ids = (message.message_id, message.origin_message_id, message.stored_id)
        return (
            (self.since is None or message.stored_at >= self.since)
            and (self.until is None or message.stored_at < self.until)
            and (self.key is None or (message.keys is not None and _spaced(self.key) in _spaced(keys)))
            and (self.key_part is None or self.key_part in keys)
            and (self.tag is None or message.tags == self.tag)
            and (self.message_id is None or self.message_id in ids)
            and (self.origin_topic is None or message.origin_topic == self.origin_topic)
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
    """Resend items of the message; a recreated topic may have another message at the same offset, with another stored
    id.
    """
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


# Filters as a query string and back: pages, exports and resends select messages by the same parameters.
TEXTS = ("key", "key_part", "tag", "message_id", "origin_topic")

TIMES = {"from": "since", "to": "until"}

NAMES = (*TIMES, *TEXTS, "resent")

TRUTHS = {"true": True, "false": False}


class WrongFilter(ValueError):
    """`name` is the parameter; str() is one sentence."""

    def __init__(self, name: str, sentence: str) -> None:
        super().__init__(sentence)
        self.name = name


def filters_of(query: Mapping[str, str]) -> DeadLetterFilters:
    """Other parameters are ignored, and an empty value does not filter. A time without a zone is UTC. Raises
    WrongFilter.
    """
    given = {name: query[name] for name in NAMES if query.get(name)}
    for name, text in given.items():
        if "\x00" in text:
            raise WrongFilter(
                name, gettext("“%(name)s” contains a character that no message can contain.") % {"name": name}
            )
    times = {field: _time(name, given[name]) for name, field in TIMES.items() if name in given}
    if "resent" in given and given["resent"] not in TRUTHS:
        raise WrongFilter("resent", gettext("“%(value)s” is neither true nor false.") % {"value": given["resent"]})
    filters = DeadLetterFilters(
        since=times.get("since"),
        until=times.get("until"),
        resent=TRUTHS[given["resent"]] if "resent" in given else None,
        **{name: given[name] for name in TEXTS if name in given},
    )
    if filters.since and filters.until and filters.since >= filters.until:
        raise WrongFilter("from", gettext("The range is empty: “from” must be before “to”."))
    return filters


def all_filters_of(query: Mapping[str, str]) -> DeadLetterFilters:
    """For actions on messages: an unknown parameter or an empty value is refused, because ignoring it would select
    more.
    """
    for name, text in query.items():
        if name not in NAMES:
            raise WrongFilter(
                name,
                gettext("“%(name)s” is not a filter. Allowed: %(allowed)s.") % {"name": name, "allowed": listed(NAMES)},
            )
        if not text:
            raise WrongFilter(
                name, gettext("The filter “%(name)s” is empty. Leave it out, or give it a value.") % {"name": name}
            )
    return filters_of(query)


def words_of(filters: DeadLetterFilters) -> dict[str, str]:
    """The parameters from which `filters_of` makes the same filters."""
    words = {name: getattr(filters, name) for name in TEXTS}
    words |= {name: time.isoformat() for name, field in TIMES.items() if (time := getattr(filters, field))}
    if filters.resent is not None:
        words["resent"] = "true" if filters.resent else "false"
    return {name: words[name] for name in NAMES if words.get(name)}


def query_of(filters: DeadLetterFilters) -> str:
    return urlencode(words_of(filters))


def _time(name: str, text: str) -> datetime:
    time = read_time(text)
    if time is None:
        raise WrongFilter(
            name,
            gettext("“%(text)s” is not a time. Use the form 2026-01-31T14:05 or 2026-01-31T14:05:00Z.")
            % {"text": text},
        )
    return time
