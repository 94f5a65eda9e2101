"""Tag filters, popped messages without acknowledgement, and where a member would start."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext, gettext_lazy, ngettext

from consumers.models import Client, ConsumerGroup, QueueSample, TagSample
from consumers.polling.flags import EVERY_TAG
from consumers.polling.samples.first_stored import TAG_TYPES
from consumers.queries.declared import public
from consumers.queries.queues.overlay import Offsets
from consumers.stores.start import AT_END, Start, moved_to_min, would_start

# How much of what waits a group would take at all: the next messages of each topic that it filters.
NOT_TAGS = gettext_lazy("the filter uses message properties, which a consume queue does not hold")

NOT_LOOKED_AT = gettext_lazy("not sampled: the topic has no lag, or its turn has not come")


@dataclass(frozen=True)
class TagSampleRow:
    """Of the `looked_at` next messages of the topic's most lagging queue `matching` match; null has its reason.

    Matches are counted by the tags' hashes, as a broker does: another tag may share one, so there may be fewer.
    """

    topic: str
    expression: str
    expression_type: str
    looked_at: int | None = field(metadata=public("Messages of the topic's most lagging queue"))
    matching: int | None = field(metadata=public("By the hashes of their tags: at most so many"))
    asked_at: datetime | None
    sentence: str
    unknown_reason: str | None


def tag_samples(group: ConsumerGroup) -> list[TagSampleRow]:
    """One for each subscription that leaves something out, by topic. One query."""
    samples = {sample.topic: sample for sample in TagSample.objects.filter(group=group)}
    filtered = [one for one in group.subscriptions if one["topic"] and one["expression"] not in (*EVERY_TAG, None)]
    return [_row(one, samples.get(one["topic"])) for one in sorted(filtered, key=lambda one: str(one["topic"]))]


def _row(subscription: dict[str, str], sample: TagSample | None) -> TagSampleRow:
    topic, expression = subscription["topic"], subscription["expression"]
    kind = subscription.get("expression_type") or "TAG"
    if kind not in TAG_TYPES:
        return _unknown(topic, expression, kind, str(NOT_TAGS))
    if sample is None or sample.expression != expression:
        return _unknown(topic, expression, kind, str(NOT_LOOKED_AT))
    return TagSampleRow(
        topic=topic,
        expression=expression,
        expression_type=kind,
        looked_at=sample.looked_at,
        matching=sample.matching,
        asked_at=sample.asked_at,
        sentence=_sentence(sample),
        unknown_reason=None,
    )


def _sentence(sample: TagSample) -> str:
    words = {
        "matching": sample.matching,
        "messages": sample.looked_at,
        "topic": sample.topic,
        "expression": sample.expression,
    }
    template = ngettext(
        "%(matching)s of the next %(messages)s message of %(topic)s matches %(expression)s",
        "%(matching)s of the next %(messages)s messages of %(topic)s match %(expression)s",
        sample.looked_at,
    )
    return template % words


def _unknown(topic: str, expression: str, kind: str, reason: str) -> TagSampleRow:
    sentence = gettext("unknown how many messages of %(topic)s match %(expression)s: %(reason)s") % {
        "topic": topic,
        "expression": expression,
        "reason": reason,
    }
    return TagSampleRow(topic, expression, kind, None, None, None, sentence, reason)


# Messages that members have popped and not acknowledged. Offsets advance on pop, so a lag says nothing of them.
#
# Each member counts its own. What members that are gone have popped comes back later, and nobody counts it until
# then.
ANY_QUEUE = -1

NOBODY = gettext_lazy("no member is there to report popped messages")

NOT_REPORTED = gettext_lazy("not every member has reported its popped messages")

PULLS = gettext_lazy("the members do not pop")

WITH_ITS_TOPIC = gettext_lazy("counted with the topic of this retry topic")


@dataclass(frozen=True)
class Unacked:
    """`reason` says why nothing is known of any queue; else `counts` has them by topic, broker and queue id.

    A client that pops from any queue of a topic counts per broker, under the queue id -1.
    """

    reason: str | None
    counts: dict[tuple[str, str, int], int]

    @classmethod
    def of(cls, group: ConsumerGroup) -> "Unacked":
        """One query."""
        present = Client.objects.filter(group=group, gone_by=None)
        reported = [
            None if error else queues for queues, error in present.values_list("pop_queues", "running_info_error")
        ]
        if not reported:
            return cls(str(NOBODY), {})
        if any(queues is None for queues in reported):
            return cls(str(NOT_REPORTED), {})
        counts: dict[tuple[str, str, int], int] = {}
        for queue in (queue for queues in reported for queue in queues or ()):
            key = queue["topic"], queue["broker"], queue["queue_id"]
            counts[key] = counts.get(key, 0) + queue["wait_ack_count"]
        return cls(None if counts else str(PULLS), counts)

    def of_queue(self, topic: str, broker: str, queue_id: int, kind: str) -> tuple[int | None, str]:
        """The count, and why it is null where it is."""
        if self.reason is not None:
            return None, self.reason
        if kind == "retry":
            return None, str(WITH_ITS_TOPIC)
        own, shared = self.counts.get((topic, broker, queue_id)), self.counts.get((topic, broker, ANY_QUEUE))
        if shared:
            return None, gettext("%(shared)s of %(topic)s on %(broker)s, in any of its queues") % {
                "shared": shared,
                "topic": topic,
                "broker": broker,
            }
        if own is None and shared is None:
            return None, gettext("no member pops this queue")
        return own or 0, ""


# Where a member of a group would start on a queue without a committed offset, by the newest readings and answers.
ReportedStart = tuple[str | None, datetime | None]


def reported_start(clients: Iterable[Mapping[str, Any]]) -> ReportedStart:
    """consumeTimestamp, and the start of the member that says it: the newest one's. Of `settings`, `started_at`."""
    reporting = [client for client in clients if client["settings"] and client["started_at"]]
    newest = max(reporting, key=lambda client: client["started_at"], default=None)
    return (newest["settings"].get("consumeTimestamp"), newest["started_at"]) if newest else (None, None)


def start_without_offset(
    kind: str, consume_from_where: str | None, reported: ReportedStart, read: Offsets, sample: QueueSample | None
) -> Start:
    """`sample`: what the broker answered, asked as a starting member asks it; None: it was not asked."""
    if sample is not None and (sample.start_offset is not None or sample.start_error is not None):
        return _as_of_now(Start(sample.start_offset, sample.start_rule or "", sample.start_error), read)
    return would_start(kind, consume_from_where, *reported, read.min_offset, read.broker_offset, None)


def _as_of_now(start: Start, read: Offsets) -> Start:
    """The broker was asked a while ago: since then the queue has grown at one end, and may have lost the other."""
    if start.offset is None:
        return start
    if start.rule in AT_END:
        return Start(read.broker_offset, start.rule, None if read.broker_offset is not None else read.reason)
    if read.min_offset is not None and read.min_offset > start.offset:
        return Start(read.min_offset, moved_to_min(start.rule))
    return start
