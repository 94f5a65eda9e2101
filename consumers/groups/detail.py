"""One group: its head, detail, topics, and the small stable answer for alert rules."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import F
from django.utils.translation import gettext

from consumers.models import (
    Client,
    ConsumerGroup,
    Queue,
    QueueSample,
    QueueSnapshot,
    QueueState,
    State,
    TimeLagKind,
    TopicKind,
)
from consumers.ownership.assignments import answers_of, no_owner_reason, owners_now, why_nothing_is_read
from consumers.ownership.group_shares import ExpectedOwners, expected_owners
from consumers.ownership.members import member_list
from consumers.ownership.segments import newest_claims
from consumers.polling.flags import outside_reason, retired_topics
from consumers.queries.declared import answer, public
from consumers.queries.groups import NOBODY, LiveGroups, find_group, without_members
from consumers.queries.limits import broker_ages, limits
from consumers.queries.queues.lost_offsets import is_lost
from consumers.queries.queues.overlay import NOT_JUDGED_YET, unjudged_reason
from consumers.queries.queues.starts import ReportedStart, TagSampleRow, Unacked, reported_start, tag_samples
from consumers.queries.reset_marks import RULES, Jump, causes
from consumers.vocabulary.states import BROADCASTING, NO_LAG_REASONS, UnknownReason
from consumers.words.reasons import membership_reason, stored_words

from .anomalies import group_anomalies
from .health_checks import looked_up
from .listing import shown_groups
from .overlay import Overlay
from .queue_rows import STALE, QueueContext, QueueRow, queue_row
from .row import row_fields, time_lag_kind
from .rows import GroupDetail, GroupRow, IncidentCounts, TopicRow, WorstQueue
from .shown import NOT_READ_YET, ShownGroup


def queue_list(
    cluster: str,
    group: str,
    *,
    topic: str | None = None,
    kind: str | None = None,
    with_lag: bool | None = None,
    owner: str | None = None,
    now: datetime,
) -> list[QueueRow]:
    """The queues in order of topic, broker and id; empty where the group does not exist.

    `with_lag` True selects queues with a lag or an unknown lag, False those that are known to have none. `owner`: of
    those with this client, others perhaps beside it.
    """
    row = find_group(cluster, group)
    if row is None:
        return []
    rows = group_queues(row, now=now, topic=topic)
    if kind is not None:
        rows = [queue for queue in rows if queue.kind == kind]
    if with_lag is not None:
        rows = [queue for queue in rows if (queue.lag_messages != 0) is with_lag]
    if owner is not None:
        rows = [queue for queue in rows if owner in queue.owners]
    return rows


def group_queues(group: ConsumerGroup, *, now: datetime, topic: str | None = None) -> list[QueueRow]:
    """All queues of a group, in a fixed number of queries however many there are."""
    snapshots = QueueSnapshot.objects.filter(group=group).select_related("queue__topic")
    if topic is not None:
        snapshots = snapshots.filter(queue__topic__name=topic)
    brokers = broker_ages([group.cluster_id])[group.cluster_id].brokers
    unread = why_nothing_is_read(brokers, now)
    owners, lapsed, why_unowned = _owners(group, unread, now)
    states = {state.queue_id: state for state in QueueState.objects.filter(group=group)}
    judged = getattr(group, "judged", None)
    # No query for a group whose evaluation is in time.
    is_due = unjudged_reason(judged, now, limits()) is not None
    live = LiveGroups.at(now, limits(), pk=group.pk) if is_due else NOBODY
    ordered = list(snapshots.order_by("queue__topic__name", "queue__broker", "queue__queue_id"))
    context = QueueContext(
        name=group.name,
        judged=judged,
        brokers={broker.name: broker for broker in brokers},
        owners=owners,
        lapsed=lapsed,
        no_owner_reason=why_unowned,
        now=now,
        limits=limits(),
        retired=retired_topics(group, now, limits().kinds),
        outside=stored_words(outside_reason(group)),
        unacked=Unacked.of(group),
        expected=expected_owners(group) if unread is None else ExpectedOwners(why=unread),
        samples={sample.queue_id: sample for sample in QueueSample.objects.filter(group=group)},
        causes=_causes(group, states),
        online=group.online,
        stopped_since=live.stopped.get(group.pk),
        without_members=without_members(group),
        is_excused=group.pk in live.excused,
        consume_from_where=group.consume_from_where,
        reported_start=_reported_start(group) if any(map(is_lost, ordered)) else (None, None),
    )
    return [queue_row(snapshot, states.get(snapshot.queue_id), context) for snapshot in ordered]


def _reported_start(group: ConsumerGroup) -> ReportedStart:
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


def _owners(
    group: ConsumerGroup, unread: str | None, now: datetime
) -> tuple[dict[int, list[str]], dict[int, str], str]:
    """By the queue's id, its owners, or why those who owned it need not any more; and why another queue has none."""
    if unread is not None:
        return {}, {}, unread
    if group.message_model == BROADCASTING:
        return {}, {}, gettext("broadcasting: every member owns every queue")
    answers, patience = answers_of(group)
    owners: dict[int, list[str]] = {}
    lapsed: dict[int, str] = {}
    for queue, claims in newest_claims(group).items():
        held, why = owners_now(claims, patience, now)
        if held:
            owners[queue] = [claim.owner for claim in held]
        else:
            lapsed[queue] = why
    return owners, lapsed, no_owner_reason(group, answers)


# The head of each page of a group: cheaper than the full detail, which also needs queues and members.
@dataclass(frozen=True)
class RetiredTopic:
    topic: str
    retired_since: datetime


@dataclass(frozen=True, kw_only=True)
class GroupHead(GroupRow):
    """`topics`: those that no member subscribes to any more. `membership_at`: when all brokers last said who is in."""

    topics: list[RetiredTopic]
    tag_samples: list[TagSampleRow]
    membership_at: datetime | None


def group_head(group: ConsumerGroup, *, now: datetime) -> GroupHead:
    shown = looked_up(shown_groups(Overlay.at(now, [group.pk]), [group.pk])[0])
    retired = retired_topics(shown.group, now, shown.overlay.limits.kinds)
    return GroupHead(
        **row_fields(shown),
        topics=[RetiredTopic(topic, since) for topic, since in sorted(retired.items())],
        tag_samples=tag_samples(shown.group),
        membership_at=shown.group.membership_at,
    )


# The queues of a group, summed by topic.
def topic_rows(queues: Iterable[QueueRow], retired: Mapping[str, datetime]) -> list[TopicRow]:
    """One row per topic, in the order of the queues. Never-committed queues are counted apart from the sums."""
    by_topic: dict[str, list[QueueRow]] = {}
    for queue in queues:
        by_topic.setdefault(queue.topic, []).append(queue)
    return [_topic_row(topic, rows, retired.get(topic)) for topic, rows in by_topic.items()]


def _topic_row(topic: str, queues: list[QueueRow], retired_since: datetime | None) -> TopicRow:
    # A queue that has no lag by its nature (never committed, deleted) leaves the sum of the others complete.
    committed = [queue for queue in queues if queue.unknown_reason_code not in NO_LAG_REASONS]
    known = [queue.lag_messages_at_least for queue in committed if queue.lag_messages_at_least is not None]
    unread = [queue.unknown_reason for queue in committed if queue.lag_messages is None]
    reason = unread[0] if unread else None if committed else queues[0].unknown_reason
    codes = [queue.unknown_reason_code for queue in committed if queue.lag_messages is None]
    code = codes[0] if codes else None if committed else queues[0].unknown_reason_code
    times = [queue.time_lag_seconds for queue in committed]
    whole = [seconds for seconds in times if seconds is not None]
    time_lag = max(whole) if whole and len(whole) == len(times) else None
    at_least = sum(known) if known else None
    lag = at_least if reason is None else None
    waits = next((queue.unknown["time_lag_seconds"] for queue in committed if queue.time_lag_seconds is None), None)
    values: dict[str, Any] = {
        "never_committed_queues": None
        if unread
        else sum(queue.unknown_reason_code == UnknownReason.NEVER_COMMITTED for queue in queues),
        "lag_messages_at_least": at_least,
        "time_lag_seconds": time_lag,
        "time_lag_kind": _time_lag_kind(committed, lag, time_lag),
        # The earliest time: the longest time lag may be from then.
        "time_lag_at": min(ats) if time_lag is not None and (ats := _known_at(committed)) else None,
    }
    reasons = {
        "never_committed_queues": reason,
        "lag_messages_at_least": reason,
        "time_lag_seconds": waits or reason or str(NOT_JUDGED_YET),
        "time_lag_at": waits or reason or str(NOT_JUDGED_YET),
    }
    in_use = {} if retired_since else {"retired_since": gettext("in use, as far as members have reported")}
    return TopicRow(
        topic=topic,
        kind=queues[0].kind,
        queues=len(queues),
        retired_since=retired_since,
        lag_messages=lag,
        unknown_reason=reason,
        unknown_reason_code=code,
        unknown={name: reasons[name] or "" for name, value in values.items() if value is None} | in_use,
        **values,
    )


def _time_lag_kind(queues: Iterable[QueueRow], lag: int | None, time_lag: float | None) -> TimeLagKind:
    """Of the longest time lag of these queues."""
    kinds = {queue.time_lag_kind for queue in queues if queue.time_lag_seconds}
    kind = next((one for one in (TimeLagKind.AT_LEAST, TimeLagKind.INTERPOLATED) if one in kinds), TimeLagKind.EXACT)
    return time_lag_kind(lag, time_lag, kind, time_lag)


def _known_at(queues: Iterable[QueueRow]) -> list[datetime]:
    return [queue.time_lag_at for queue in queues if queue.time_lag_at is not None]


# One group with everything that its page and its REST resource show, except history.
def group_detail(cluster: str, group: str, *, now: datetime) -> GroupDetail | None:
    """None when there is no such group."""
    found = ConsumerGroup.objects.filter(cluster__name=cluster, name=group).values_list("pk", flat=True).first()
    if found is None:
        return None
    shown = looked_up(shown_groups(Overlay.at(now, [found]), [found])[0])
    row, shown_state = shown.group, shown.verdict
    retired = retired_topics(row, now, shown.overlay.limits.kinds)
    queues = group_queues(row, now=now)
    fields = row_fields(shown, lag_of_queues(queues, retired))
    return GroupDetail(
        **(fields | {"unknown": fields["unknown"] | _reasons(shown, queues)}),
        rule=shown_state.rule_words,
        rule_code=shown_state.rule,
        detail=shown_state.detail,
        worst_queue=shown_state.worst,
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
    """The sum over the queues that count, so that the parts on a page add up to their total: the stored total is
    written a moment after its parts. Null where one queue is unknown, or none counts.
    """
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
    """Why the brokers' data about the group itself is unknown. Without an answer, an empty list means nothing."""
    group = shown.group
    membership = membership_reason(group.membership_error)
    configured = gettext("the group's configuration was not read, or no broker has one")
    fields = dict.fromkeys(("membership_at", "consume_from_where"), membership)
    fields |= dict.fromkeys(("retry_max_times", "retry_queue_nums"), configured)
    reasons = {name: reason for name, reason in fields.items() if getattr(group, name) is None}
    if group.membership_at is None:
        reasons |= dict.fromkeys(("subscriptions", "clients"), membership)
    if shown.unread_reason is not None:
        # The last complete member list is older: the present members are unknown.
        reasons |= dict.fromkeys(("subscriptions", "clients", "anomalies"), shown.unread_reason)
    if shown.verdict.rule is None:
        reasons["rule_code"] = shown.verdict.sentence
    if not queues:
        reasons["topics"] = shown.lag_reason or str(NOT_READ_YET)
    return reasons


# The small and stable answer for alert rules.
@answer(name="Status")
@dataclass(frozen=True)
class GroupStatus:
    """`worst_queue` is null where no single queue decided; other nulls have their reason in `unknown`."""

    state: State
    stale: bool = field(metadata=public(STALE))
    since: datetime | None
    completeness: float | None
    lag_messages: int | None
    time_lag_seconds: float | None
    worst_queue: WorstQueue | None
    open_incidents: IncidentCounts | None
    taken_at: datetime | None
    judged_at: datetime | None
    unknown_reason: str | None
    unknown_reason_code: UnknownReason | None
    unknown: dict[str, str]


FIELDS = (
    *(
        "state",
        "stale",
        "since",
        "completeness",
        "lag_messages",
        "time_lag_seconds",
        "open_incidents",
        "taken_at",
        "judged_at",
    ),
)


def group_status(cluster: str, group: str, *, now: datetime) -> GroupStatus | None:
    """None when there is no such group."""
    found = ConsumerGroup.objects.filter(cluster__name=cluster, name=group).values_list("pk", flat=True).first()
    if found is None:
        return None
    [shown] = shown_groups(Overlay.at(now, [found]), [found])
    fields, shown_state = row_fields(shown), shown.verdict
    return GroupStatus(
        **{name: fields[name] for name in FIELDS},
        worst_queue=shown_state.worst,
        unknown_reason=fields["unknown_reason"],
        unknown_reason_code=fields["unknown_reason_code"],
        unknown={name: reason for name, reason in fields["unknown"].items() if name in FIELDS},
    )


# The current lag of one group, as its page shows it, and when it was read.
class LiveLag(NamedTuple):
    at: datetime
    lag_messages: int


def live_lag(cluster: str, group: str, now: datetime) -> LiveLag | None:
    """Null where the lag is unknown. Three queries."""
    found = Overlay.at(now).groups.filter(cluster__name=cluster, name=group)
    row = (
        found.annotate(of_lag=F("shown_lag_messages"), of_at=F("shown_taken_at")).values_list("of_at", "of_lag").first()
    )
    return None if row is None or None in row else LiveLag(*row)
