"""One group with everything that its page and its REST resource show, but history."""

from collections.abc import Container, Iterable, Sequence
from datetime import datetime

from consumers.models import ConsumerGroup, TopicKind
from consumers.polling.flags import retired_topics
from consumers.selectors.anomalies.named import group_anomalies
from consumers.selectors.ownership.members import member_list
from consumers.selectors.queues.queue_rows import QueueRow
from consumers.selectors.queues.queues import group_queues
from consumers.selectors.queues.tag_samples import tag_samples
from consumers.selectors.queues.topics import topic_rows
from consumers.vocabulary.unknown import NO_LAG_REASONS

from .health import looked_up
from .listing import shown_groups
from .overlay import Overlay
from .row import NOT_ASKED, row_fields
from .rows import GroupDetail
from .shown import NOT_READ_YET, ShownGroup


def group_detail(cluster: str, group: str, *, now: datetime) -> GroupDetail | None:
    """None when there is no such group."""
    found = ConsumerGroup.objects.filter(cluster__name=cluster, name=group).values_list("pk", flat=True).first()
    if found is None:
        return None
    shown = looked_up(shown_groups(Overlay.at(now), [found])[0])
    row, verdict = shown.group, shown.verdict
    retired = retired_topics(row, now, shown.overlay.limits.kinds)
    queues = group_queues(row, now=now)
    fields = row_fields(shown, lag_of_queues(queues, retired))
    return GroupDetail(
        **(fields | {"unknown": fields["unknown"] | _reasons(shown, queues)}),
        rule=verdict.rule_words,
        rule_code=verdict.rule,
        detail=verdict.detail,
        worst_queue=verdict.worst,
        queue_rows=queues,
        topics=topic_rows(queues, retired),
        anomalies=group_anomalies(row, queues, online=fields["online"], flags=fields["flags"]),
        tag_samples=tag_samples(row),
        subscriptions=row.subscriptions,
        clients=member_list(row, now=now),
        membership_at=row.membership_at,
        consume_from_where=row.consume_from_where,
        retry_max_times=row.retry_max_times,
        retry_queue_nums=row.retry_queue_nums,
    )


def lag_of_queues(queues: Iterable[QueueRow], retired: Container[str]) -> int | None:
    """The sum of the queues that count, so that the parts on a page add up to their whole: its total is stored a moment
    after they are. Null where one of them is not known, or none counts."""
    counted = [
        queue.lag_messages
        for queue in queues
        if queue.kind != TopicKind.DLQ
        and queue.topic not in retired
        and queue.unknown_reason_code not in NO_LAG_REASONS
    ]
    known = [lag for lag in counted if lag is not None]
    return sum(known) if known and len(known) == len(counted) else None


def _reasons(shown: ShownGroup, queues: Sequence[QueueRow]) -> dict[str, str]:
    """Why what brokers say of the group as such is not known. Without an answer an empty list is no list."""
    group = shown.group
    membership = group.membership_error or NOT_ASKED
    configured = "the group's configuration was not read, or no broker has one"
    fields = dict.fromkeys(("membership_at", "consume_from_where"), membership)
    fields |= dict.fromkeys(("retry_max_times", "retry_queue_nums"), configured)
    reasons = {name: reason for name, reason in fields.items() if getattr(group, name) is None}
    if group.membership_at is None:
        reasons |= dict.fromkeys(("subscriptions", "clients"), membership)
    if shown.unread_reason is not None:
        # The last full answer of who is in it is from before: who is in it at this moment is not known.
        reasons |= dict.fromkeys(("subscriptions", "clients", "anomalies"), shown.unread_reason)
    if shown.verdict.rule is None:
        reasons["rule_code"] = shown.verdict.sentence
    if not queues:
        reasons["topics"] = shown.lag_reason or NOT_READ_YET
    return reasons
