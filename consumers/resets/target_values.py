"""Values of reset targets as forms and REST send them, checked and made what `Reset.value` stores, in JSON's own types.

Whole numbers may come as text. Each check raises ValueRefused, which says what is allowed.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _, gettext_lazy

from consumers.jobs.acts import ActRefused
from consumers.models import Broker, ConsumerGroup, Queue, QueueSnapshot, ResetKind, ResetQueue, Topic, TopicKind
from consumers.rocketmq.names import is_retry_topic_of, topic_kind
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import PlanReason
from consumers.words.marks import listed
from consumers.words.reasons import stored_words

# The request for a reset, and who makes it. Nothing here is checked against a cluster.


class ResetRefused(ActRefused):
    """A reset, or what is asked of one. `reason` is a stored one, or words for whoever asks now."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return stored_words(self.reason)


@dataclass(frozen=True, order=True)
class QueueKey:
    topic: str
    broker: str
    queue_id: int

    @classmethod
    def of(cls, row: ResetQueue) -> "QueueKey":
        return cls(row.topic, row.broker, row.queue_id)

    @classmethod
    def of_entry(cls, entry: Mapping[str, Any]) -> "QueueKey":
        """`entry` names the fields: JSON, or a row of the history store."""
        return cls(entry["topic"], entry["broker"], entry["queue_id"])

    def __str__(self) -> str:
        return f"{self.topic}/{self.broker}/{self.queue_id}"


@dataclass(frozen=True)
class ResetRequest:
    """`value` is as `ResetKind` tells, in JSON's own types. None for topics, brokers and queues: all (see `Reset`)."""

    kind: ResetKind
    value: Any
    reason: str
    topics: tuple[str, ...] | None = None
    brokers: tuple[str, ...] | None = None
    queues: tuple[QueueKey, ...] | None = None
    clip: bool = False


@dataclass(frozen=True)
class Asker:
    """The person who requests an action. `user` is the site's user; `address` where the request came from."""

    user: Any
    address: str | None
    via: str  # page or rest


# The topics that a reset of a group covers where nobody selected any.


def own_topics(group: ConsumerGroup) -> list[str]:
    """Those with offsets of the group, and those that its members subscribe to: normal ones, by name."""
    with_offsets = QueueSnapshot.objects.filter(group=group).order_by().values("queue__topic").distinct()
    subscribed = [subscription["topic"] for subscription in group.subscriptions]
    normal = Topic.objects.filter(cluster=group.cluster_id, kind=TopicKind.NORMAL)
    names = set(normal.filter(pk__in=with_offsets).values_list("name", flat=True))
    return sorted(names.union(normal.filter(name__in=subscribed).values_list("name", flat=True)))


NAMED = 3


def check_places(
    group: ConsumerGroup,
    topics: Sequence[str] | None,
    brokers: Sequence[str] | None,
    queues: Sequence[QueueKey] | None,
) -> None:
    """Raises ResetRefused. None is all. Whether each queue is there, only its broker can tell."""
    for chosen, what in ((topics, _("topics")), (brokers, _("brokers")), (queues, _("queues"))):
        _check_list(chosen, what)
    named = {*(topics or ()), *(key.topic for key in queues or ())}
    _check_topics(group, named)
    _check_brokers(group, {*(brokers or ()), *(key.broker for key in queues or ())})
    _check_agreement(topics, brokers, queues)
    _check_number(group, named or own_topics(group), brokers, queues)


def _check_list(chosen: Sequence[Hashable] | None, what: str) -> None:
    if chosen is None:
        return
    if not chosen:
        raise ResetRefused(_("No %s are chosen: choose at least one, or leave them out for all.") % what)
    if twice := [str(one) for one, times in Counter(chosen).items() if times > 1]:
        raise ResetRefused(_("Some %(what)s are chosen twice: %(named)s.") % {"what": what, "named": _few(twice)})


def _check_topics(group: ConsumerGroup, names: Collection[str]) -> None:
    kinds = dict(Topic.objects.filter(cluster=group.cluster_id, name__in=names).values_list("name", "kind"))
    if unseen := sorted(set(names) - set(kinds)):
        words = {"named": _few(unseen), "cluster": group.cluster.name}
        raise ResetRefused(_("No scrape of %(cluster)s has found the topic %(named)s: check its name.") % words)
    for name in sorted(names):
        if kinds[name] != TopicKind.NORMAL and (against := _why_not_chosen(group, name)):
            raise ResetRefused(against)


def _why_not_chosen(group: ConsumerGroup, topic: str) -> str | None:
    words = {"topic": topic, "group": group.name}
    if topic_kind(topic) == TopicKind.DLQ:
        return (
            _("%(topic)s is a dead-letter topic, which its group does not consume: resend its messages instead.")
            % words
        )
    normal = set(own_topics(group))
    if topic_kind(topic) == TopicKind.RETRY and is_retry_topic_of(topic, group.name, normal):
        return None
    if topic_kind(topic) == TopicKind.RETRY:
        return _("%(topic)s is the retry topic of another group than %(group)s.") % words
    return _("%(topic)s is a RocketMQ system topic: it cannot be reset here.") % words


def _check_brokers(group: ConsumerGroup, names: Collection[str]) -> None:
    known = set(Broker.objects.filter(cluster=group.cluster_id).values_list("name", flat=True))
    if unseen := sorted(set(names) - known):
        words = {"named": _few(unseen), "cluster": group.cluster.name}
        raise ResetRefused(_("No scrape of %(cluster)s has found the broker %(named)s: check its name.") % words)


def _check_agreement(
    topics: Sequence[str] | None, brokers: Sequence[str] | None, queues: Sequence[QueueKey] | None
) -> None:
    for key in queues or ():
        if (topics is not None and key.topic not in topics) or (brokers is not None and key.broker not in brokers):
            words = {"topic": key.topic, "broker": key.broker, "queue_id": key.queue_id}
            raise ResetRefused(
                _("The queue %(topic)s/%(broker)s/%(queue_id)s is not in the chosen topics and brokers.") % words
            )


def _check_number(
    group: ConsumerGroup,
    topics: Collection[str],
    brokers: Sequence[str] | None,
    queues: Sequence[QueueKey] | None,
) -> None:
    if not topics:
        raise ResetRefused(_("No poll has found offsets or subscriptions of the group: select the topics."))
    if queues is None:
        found = Queue.objects.filter(topic__cluster=group.cluster_id, topic__name__in=topics).exclude(readable=False)
        number = (found if brokers is None else found.filter(broker__in=brokers)).count()
    else:
        number = len(queues)
    check_number(number)


def check_number(queues: int) -> None:
    """Raises ResetRefused."""
    most = settings.RESET_QUEUES_MAX
    if queues > most:
        raise ResetRefused(stored_reason(PlanReason.TOO_MANY_QUEUES, n=queues, most=most))


def _few(names: Iterable[str]) -> str:
    given = list(names)
    more = len(given) - NAMED
    return listed(given[:NAMED]) + (_(" and %s more") % more if more > 0 else "")


DAY_SECONDS = 86_400
LONGEST_SECONDS = 3_650 * DAY_SECONDS
NOT_AN_OFFSET = gettext_lazy("%(said)s is not an offset: enter a whole number, 0 or more.")
# Longer ones do not fit into a broker's 64 bits.
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


class ValueRefused(ResetRefused):
    """What was typed is wrong in itself, whatever the cluster says. A list has a line for each of its faults."""

    @property
    def errors(self) -> dict[str, list[str]]:  # type: ignore[override]
        return {"target": str(self).split("\n")}


def whole(entered: Any) -> int | None:
    """Null for everything else: a truth, a fraction, words."""
    if isinstance(entered, str) and _WHOLE.fullmatch(entered.strip()):
        return int(entered)
    return entered if isinstance(entered, int) and not isinstance(entered, bool) else None


def is_offset(number: int) -> bool:
    return 0 <= number < 2**63


def moment_of(value: str) -> datetime:
    """The time that is stored as the value of TIME and MOMENT."""
    return datetime.fromisoformat(value)


def nothing(entered: Any, now: datetime) -> None:
    if entered not in (None, ""):
        raise ValueRefused(_("This target needs no value: leave it out."))


def time(entered: Any, now: datetime) -> str:
    at = _parsed_time(entered)
    if at > now:
        raise ValueRefused(_("The time %s is in the future: choose an earlier time.") % entered)
    if at < datetime(1970, 1, 2, tzinfo=UTC):
        raise ValueRefused(_("The time %s is before 1970: choose the earliest offset instead.") % entered)
    return at.isoformat()


def _parsed_time(entered: Any) -> datetime:
    wrong = _("%s is not a time: enter it as 2026-03-14T02:13:00Z, with a zone.") % (
        entered if entered else _("Nothing")
    )
    if not isinstance(entered, str):
        raise ValueRefused(wrong)
    try:
        at = datetime.fromisoformat(entered.strip())
        if at.tzinfo is None:
            raise ValueRefused(_("The time %s has no zone: add Z for UTC, or +02:00.") % entered)
        return at.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueRefused(wrong) from error


def offset(entered: Any, now: datetime) -> int:
    number = whole(entered)
    if number is None or not is_offset(number):
        raise ValueRefused(NOT_AN_OFFSET % {"said": entered})
    return number


def shift(entered: Any, now: datetime) -> int:
    number = whole(entered)
    if number is None or not is_offset(abs(number)):
        raise ValueRefused(_("%s is not a number of messages: enter a whole number, below 0 to go back.") % entered)
    if number == 0:
        raise ValueRefused(_("A shift by 0 messages moves nothing: enter a number, below 0 to go back."))
    return number


def skip_older(entered: Any, now: datetime) -> float:
    try:
        seconds = math.nan if isinstance(entered, bool) else float(entered)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 < seconds <= LONGEST_SECONDS:
        raise ValueRefused(
            _("%(said)s is not an age: enter seconds, more than 0 and at most %(most)s (ten years).")
            % {"said": entered, "most": LONGEST_SECONDS}
        )
    return seconds


def copy(entered: Any, now: datetime) -> str:
    if not isinstance(entered, str) or not entered:
        raise ValueRefused(_("Name the group of the same cluster whose offsets are to be copied."))
    return entered


def restore(entered: Any, now: datetime) -> str:
    try:
        return str(UUID(str(entered)))
    except ValueError as error:
        raise ValueRefused(_("%s is not the id of a reset.") % entered) from error


# A list of offsets, queue by queue.

FIELDS = frozenset({"topic", "broker", "queue_id", "offset"})
MOST_QUEUES = 2**31


def offset_list(entered: Any, now: datetime) -> list[dict[str, Any]]:
    """[{topic, broker, queue_id, offset}], as it came. Raises ValueRefused, naming the entry by its number from 1."""
    if not isinstance(entered, list) or not entered:
        raise ValueRefused(_("List at least one queue with its offset: topic, broker, queue_id and offset of each."))
    if len(entered) > settings.RESET_QUEUES_MAX:
        words = {"n": len(entered), "most": settings.RESET_QUEUES_MAX}
        raise ValueRefused(_("%(n)s queues are listed, and at most %(most)s may be (RESET_QUEUES_MAX).") % words)
    entries = [_entry(number, entry) for number, entry in enumerate(entered, start=1)]
    seen: dict[QueueKey, int] = {}
    for number, entry in enumerate(entries, start=1):
        if (first := seen.setdefault(QueueKey.of_entry(entry), number)) != number:
            raise ValueRefused(
                _("The entries %(first)s and %(second)s name the same queue, %(topic)s/%(broker)s/%(queue_id)s.")
                % {"first": first, "second": number, **entry}
            )
    return entries


def _entry(number: int, entered: Any) -> dict[str, Any]:
    if not isinstance(entered, dict) or set(entered) != FIELDS:
        raise ValueRefused(_("Entry %s must have topic, broker, queue_id and offset, and nothing else.") % number)
    queue_id, offset = whole(entered["queue_id"]), whole(entered["offset"])
    for name in ("topic", "broker"):
        if not isinstance(entered[name], str) or not entered[name]:
            raise ValueRefused(_("Entry %(number)s has no %(name)s.") % {"number": number, "name": name})
    if queue_id is None or not 0 <= queue_id < MOST_QUEUES:
        raise ValueRefused(
            _("Entry %(number)s: %(said)s is not a queue ID.") % {"number": number, "said": entered["queue_id"]}
        )
    if offset is None or not is_offset(offset):
        why = NOT_AN_OFFSET % {"said": entered["offset"]}
        raise ValueRefused(_("Entry %(number)s: %(why)s") % {"number": number, "why": why})
    return {"topic": entered["topic"], "broker": entered["broker"], "queue_id": queue_id, "offset": offset}
