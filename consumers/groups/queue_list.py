"""The queues of one group, under the overlay of their brokers."""

from datetime import datetime

from django.utils.translation import gettext

from consumers.models import Assignment, Client, ConsumerGroup, Queue, QueueSample, QueueSnapshot, QueueState
from consumers.ownership.shares.group_shares import ExpectedOwners, expected_owners
from consumers.ownership.unowned import no_owner_reason, why_nothing_is_read
from consumers.polling.flags import outside_reason, retired_topics
from consumers.queries.brokers import broker_ages
from consumers.queries.groups import NOBODY, LiveGroups, find_group, without_members
from consumers.queries.limits import limits
from consumers.queries.queues.lost_offsets import is_lost
from consumers.queries.queues.overlay import unjudged_reason
from consumers.queries.queues.starts import ReportedStart, Unacked, reported_start
from consumers.queries.reset_marks import RULES, Jump, causes
from consumers.vocabulary.groups import BROADCASTING

from .queue_rows import QueueContext, QueueRow, queue_row


def queue_list(
    cluster: str,
    group: str,
    *,
    topic: str | None = None,
    kind: str | None = None,
    with_lag: bool | None = None,
    now: datetime,
) -> list[QueueRow]:
    """The queues in order of topic, broker and id; empty where the group does not exist.

    `with_lag` True selects queues with a lag or an unknown lag, False those that are known to have none.
    """
    row = find_group(cluster, group)
    if row is None:
        return []
    rows = group_queues(row, now=now, topic=topic)
    if kind is not None:
        rows = [queue for queue in rows if queue.kind == kind]
    if with_lag is not None:
        rows = [queue for queue in rows if (queue.lag_messages != 0) is with_lag]
    return rows


def group_queues(group: ConsumerGroup, *, now: datetime, topic: str | None = None) -> list[QueueRow]:
    """All queues of a group, in a fixed number of queries however many there are."""
    snapshots = QueueSnapshot.objects.filter(group=group).select_related("queue__topic")
    if topic is not None:
        snapshots = snapshots.filter(queue__topic__name=topic)
    brokers = broker_ages([group.cluster_id])[group.cluster_id].brokers
    unread = why_nothing_is_read(brokers, now)
    owners, why_unowned = _owners(group, unread)
    states = {state.queue_id: state for state in QueueState.objects.filter(group=group)}
    judged = getattr(group, "judged", None)
    # No query for a group whose evaluation is in time.
    is_due = unjudged_reason(judged, now, limits()) is not None
    live = LiveGroups.at(now, limits(), pk=group.pk) if is_due else NOBODY
    ordered = list(snapshots.order_by("queue__topic__name", "queue__broker", "queue__queue_id"))
    facts = QueueContext(
        name=group.name,
        judged=judged,
        brokers={broker.name: broker for broker in brokers},
        owners=owners,
        no_owner_reason=why_unowned,
        now=now,
        limits=limits(),
        retired=retired_topics(group, now, limits().kinds),
        outside=outside_reason(group),
        unacked=Unacked.of(group),
        expected=expected_owners(group) if unread is None else ExpectedOwners(why=unread),
        samples={sample.queue_id: sample for sample in QueueSample.objects.filter(group=group)},
        causes=_causes(group, states),
        online=group.online,
        stopped_since=live.stopped.get(group.pk),
        without_members=without_members(group),
        is_excused=group.pk in live.excused,
        consume_from_where=group.consume_from_where,
        reported_start=_told_start(group) if any(map(is_lost, ordered)) else (None, None),
    )
    return [queue_row(snapshot, states.get(snapshot.queue_id), facts) for snapshot in ordered]


def _told_start(group: ConsumerGroup) -> ReportedStart:
    return reported_start(Client.objects.filter(group=group, gone_by=None).values("settings", "started_at"))


def _causes(group: ConsumerGroup, states: dict[int, QueueState]) -> dict[int, dict[str, str]]:
    """By queue. No query where no offset jumped."""
    jumped = [state.queue_id for state in states.values() if state.rule in RULES]
    if not jumped:
        return {}
    places = Queue.objects.filter(pk__in=jumped).values_list("pk", "topic__name", "broker", "queue_id")
    jumps = {
        pk: Jump(group.pk, topic, broker, queue_id, states[pk].rule, states[pk].since, states[pk].judged_at)
        for pk, topic, broker, queue_id in places
    }
    found = causes(jumps.values())
    return {pk: found[jump] for pk, jump in jumps.items()}


def _owners(group: ConsumerGroup, unread: str | None) -> tuple[dict[int, list[str]], str]:
    """The owner of each queue, by the queue's id, and why a queue that is not among them has no owner to show."""
    if unread is not None:
        return {}, unread
    if group.message_model == BROADCASTING:
        return {}, gettext("broadcasting: every member owns every queue")
    present = Client.objects.filter(group=group, gone_by=None).values_list("running_info_at", "running_info_error")
    answers = [at is not None and error is None for at, error in present]
    owners: dict[int, list[str]] = {}
    for queue, client in Assignment.objects.filter(group=group, gone_by=None).values_list("queue_id", "client_id"):
        owners.setdefault(queue, []).append(client)
    return owners, no_owner_reason(group, answers)
