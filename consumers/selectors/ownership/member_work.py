"""How much each member of a group consumes: of how many queues, of which most, and what share of the whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from consumers.models import Assignment, ConsumerGroup, QueueSnapshot
from consumers.selectors.brokers import broker_ages
from consumers.selectors.limits import limits
from consumers.selectors.overlay import unread_reason
from consumers.vocabulary.unknown import UnknownReason
from consumers.words.unknown import reason_words

from .rates import QueueKey, Rates, group_rates
from .rows import QueuePlace, QueueShare
from .sharing import why_ownerless

FIELDS = ("messages_per_second", "share", "busiest_queue", "never_written")
NO_QUEUE = "it owns no queue"
NOTHING = "nothing was consumed of its queues"
NOTHING_AT_ALL = "nothing was consumed by the group"

Told = tuple[dict[str, Any], dict[str, str]]  # values by field, and reasons of those that are null


@dataclass(frozen=True)
class MemberWork:
    """`held` by client id; `written`: whether anything was ever written into a queue, null for a reason in `unread`."""

    held: Mapping[str, Sequence[QueueKey]]
    rates: Rates
    written: Mapping[QueueKey, bool | None]
    unread: Mapping[QueueKey, str]
    ownerless: str | None

    @classmethod
    def of(cls, group: ConsumerGroup, now: datetime) -> "MemberWork":
        """Six queries, and the newest windows of the lake."""
        held: dict[str, list[QueueKey]] = {}
        present = Assignment.objects.filter(group=group, gone_by=None).order_by()
        for client_id, *queue in present.values_list("client_id", *_key("queue")):
            held.setdefault(client_id, []).append((queue[0], queue[1], queue[2]))
        written, unread = _written(group, now)
        return cls(held, group_rates(group, now), written, unread, why_ownerless(group))

    def of_member(self, client_id: str) -> Told:
        """Of one that answered."""
        queues = self.held.get(client_id, ())
        if not queues and self.ownerless is not None:
            return dict.fromkeys(FIELDS), dict.fromkeys(FIELDS, self.ownerless)
        rate, why = self.rates.of(queues) if queues else (0.0, "")
        share, why_no_share = self._share(rate, why)
        busiest, why_none = self._busiest(queues, why)
        never_written, why_unread = self._never_written(queues)
        return dict(zip(FIELDS, (rate, share, busiest, never_written), strict=True)), dict(
            zip(FIELDS, (why, why_no_share, why_none, why_unread), strict=True)
        )

    def _share(self, rate: float | None, why: str) -> tuple[float | None, str]:
        total, why_no_total = self.rates.total
        if rate is None or total is None:
            return None, why if rate is None else why_no_total
        return (rate / total, "") if total else (None, NOTHING_AT_ALL)

    def _busiest(self, queues: Sequence[QueueKey], why: str) -> tuple[QueueShare | None, str]:
        if why or not queues:
            return None, why or NO_QUEUE
        rate, queue = max((self.rates.consumed[queue] or 0.0, queue) for queue in queues)
        return (QueueShare(*queue, rate, self._share(rate, "")[0]), "") if rate else (None, NOTHING)

    def _never_written(self, queues: Sequence[QueueKey]) -> tuple[list[QueuePlace] | None, str]:
        for queue in queues:
            if self.written.get(queue) is None:
                return None, self.unread.get(queue, "the broker offset was not read")
        return [QueuePlace(*queue) for queue in sorted(queues) if not self.written[queue]], ""


def _written(group: ConsumerGroup, now: datetime) -> tuple[dict[QueueKey, bool | None], dict[QueueKey, str]]:
    """A broker offset of 0 proves that no message was ever written, while the broker is read."""
    brokers = {broker.name: broker for broker in broker_ages([group.cluster_id])[group.cluster_id].brokers}
    written: dict[QueueKey, bool | None] = {}
    unread: dict[QueueKey, str] = {}
    rows = QueueSnapshot.objects.filter(group=group).values_list(*_key("queue"), "broker_offset", "unknown_reason")
    reasons = {name: unread_reason(name, broker, now, limits()) for name, broker in brokers.items()}
    for topic, name, queue_id, offset, unknown_reason in rows.order_by():
        key = topic, name, queue_id
        why = reasons.get(name, f"{name} is not among the cluster's brokers")
        written[key] = None if why or offset is None else offset > 0
        if written[key] is None:
            unread[key] = why or reason_words(unknown_reason or UnknownReason.BROKER_OFFSET_UNREAD)
    return written, unread


def _key(queue: str) -> tuple[str, str, str]:
    return f"{queue}__topic__name", f"{queue}__broker", f"{queue}__queue_id"
