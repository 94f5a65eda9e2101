"""The rows of a plan: each selected queue with its target, or with the stored reason of its exclusion; and the effects
of the plan, as stored reasons: the person who applies it has read their words.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from consumers.models import (
    ConsumerGroup,
    GroupBroker,
    Queue,
    Resend,
    ResendStatus,
    Reset,
    ResetKind,
    ResetMethod,
    ResetQueue,
    TopicKind,
)
from consumers.resets.target_values import QueueKey, moment_of, own_topics
from consumers.rocketmq.names import is_retry_topic_of, retry_topic
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import PlanReason, ResetWarning, RowReason
from consumers.vocabulary.times import iso
from consumers.words.spans import age

# Facts about a group whose offsets are to be reset, read from the cluster's masters at one time and never estimated.


@dataclass(frozen=True)
class BrokerSetup:
    """A master. `server_side`: it moves offsets itself (its useServerSideResetOffset); null where it did not report it.

    `permission` is a sum of 4 (read) and 2 (write). `error`: why it, or its configuration, could not be read.
    """

    name: str
    version: str | None
    server_side: bool | None
    permission: int | None
    error: str | None = None
    address: str | None = None


@dataclass(frozen=True)
class QueueOffsets:
    """`now_offset` null and no `error`: nothing was ever committed there. With an `error` all three may be null."""

    key: QueueKey
    min_offset: int | None
    max_offset: int | None
    now_offset: int | None
    error: str | None = None


@dataclass(frozen=True)
class GroupSetup:
    """`members` are client ids, united over all masters; null, with `members_error`, unless each of them answered.

    `message_model` and `consume_type` are RocketMQ's words (CLUSTERING, CONSUME_PASSIVELY); null for a group without
    members. `orderly` is null where no member reported it. `pop_topics`: topics that the group pops; null: unknown.
    """

    taken_at: datetime
    members: tuple[str, ...] | None
    members_error: str | None
    message_model: str | None
    consume_type: str | None
    orderly: bool | None
    languages: tuple[str, ...]
    pop_topics: frozenset[str] | None
    brokers: Mapping[str, BrokerSetup]
    queues: Mapping[QueueKey, QueueOffsets]

    @property
    def online(self) -> bool | None:
        return None if self.members is None else bool(self.members)


# Targets within the range of a queue: clipped to the nearer end where the request allows it, else refused.


@dataclass(frozen=True)
class Aim:
    """One queue with its target; `wanted` is the target before clipping. All its offsets but the consumer's
    are known.
    """

    key: QueueKey
    now: int | None
    least: int
    most: int
    wanted: int

    @property
    def target(self) -> int:
        return min(max(self.wanted, self.least), self.most)

    @property
    def clipped(self) -> bool:
        return self.target != self.wanted


def aim(queue: QueueOffsets, wanted: int) -> Aim:
    if queue.min_offset is None or queue.max_offset is None:
        raise ValueError(f"{queue.key} was not read, so that it has no target")
    return Aim(queue.key, queue.now_offset, queue.min_offset, queue.max_offset, wanted)


def why_not_clipped(aims: Sequence[Aim]) -> str | None:
    """The refusal of a request that does not allow clipping. Null where every target is within its queue."""
    outside = [one for one in aims if one.clipped]
    if not outside:
        return None
    worst = max(outside, key=lambda one: abs(one.target - one.wanted))
    return stored_reason(
        PlanReason.OUTSIDE_RANGE,
        n=len(outside),
        all=len(aims),
        queue=str(worst.key),
        wanted=worst.wanted,
        least=worst.least,
        most=worst.most,
    )


# How many messages a moved offset makes a group consume again, or skip.


@dataclass(frozen=True)
class Amounts:
    """Both are null where the group never committed: its members choose where to start."""

    replayed: int | None
    skipped: int | None


def amounts_of(aim: Aim) -> Amounts:
    """Only messages that the queue holds count: expired ones cannot be redelivered, and are already lost. One of the
    two numbers is always 0.
    """
    if aim.now is None:
        return Amounts(None, None)
    now = min(max(aim.now, aim.least), aim.most)
    return Amounts(max(now - aim.target, 0), max(aim.target - now, 0))


NEVER_COMMITTED = stored_reason(RowReason.NOTHING_COMMITTED)
NO_AMOUNT = stored_reason(RowReason.START_IS_MEMBERS)


@dataclass(frozen=True)
class Planned:
    """A queue that is to move, or that stands at its target. `at`: its message's time, or why that is not known."""

    aim: Aim
    method: ResetMethod
    at: datetime | str


def planned_row(reset_id: UUID, planned: Planned) -> ResetQueue:
    aim, amounts = planned.aim, amounts_of(planned.aim)
    row = ResetQueue(
        reset_id=reset_id,
        topic=aim.key.topic,
        broker=aim.key.broker,
        queue_id=aim.key.queue_id,
        min_offset=aim.least,
        max_offset=aim.most,
        now_offset=aim.now,
        wanted=aim.wanted,
        target=aim.target,
        clipped=aim.clipped,
        target_time=None if isinstance(planned.at, str) else planned.at,
        replayed_messages=amounts.replayed,
        skipped_messages=amounts.skipped,
        restorable=aim.now is not None,
        method=planned.method,
    )
    if aim.now is None:
        row.unknown |= {"now_offset": NEVER_COMMITTED, "replayed_messages": NO_AMOUNT, "skipped_messages": NO_AMOUNT}
    if isinstance(planned.at, str):
        row.unknown |= {"target_time": planned.at}
    return row


def left_out_row(reset_id: UUID, key: QueueKey, why: str, queue: QueueOffsets | None, aim: Aim | None) -> ResetQueue:
    """`queue` and `aim`: as far as they are known."""
    row = ResetQueue(reset_id=reset_id, topic=key.topic, broker=key.broker, queue_id=key.queue_id, left_out=why)
    is_read = queue is not None and queue.error is None
    if queue is not None:
        row.min_offset, row.max_offset, row.now_offset = queue.min_offset, queue.max_offset, queue.now_offset
    if aim is not None:
        row.wanted, row.target, row.clipped = aim.wanted, aim.target, aim.clipped
    reasons = {
        "min_offset": why if queue is None else queue.error,
        "max_offset": why if queue is None else queue.error,
        "now_offset": NEVER_COMMITTED if is_read else why if queue is None else queue.error,
        **dict.fromkeys(("wanted", "target", "target_time", "replayed_messages", "skipped_messages", "method"), why),
    }
    row.unknown = {name: reason for name, reason in reasons.items() if getattr(row, name) is None}
    return row


JAVA = "JAVA"


def consequences(methods: Collection[ResetMethod], topics: Collection[str], group: GroupSetup) -> list[str]:
    """Of the queues that are to be moved: the ways in which, and their topics."""
    warnings: list[str] = []
    if ResetMethod.SERVER in methods:
        warnings += _when_the_broker_moves_them(group) + _what_pops_again(topics, group)
    if ResetMethod.CLIENT in methods:
        warnings += _when_members_are_notified()
    if ResetMethod.COMMIT in methods:
        warnings.append(stored_reason(ResetWarning.COMMITTED_AS_MEMBER))
    if group.members and group.orderly and {ResetMethod.SERVER, ResetMethod.CLIENT} & set(methods):
        warnings.append(stored_reason(ResetWarning.ORDERLY_WAITS))
    return warnings


def _when_the_broker_moves_them(group: GroupSetup) -> list[str]:
    if not group.members:
        return [stored_reason(ResetWarning.MOVED_FOR_LATER)]
    codes = (ResetWarning.MOVED_AT_ONCE, ResetWarning.WORK_REPEATED, ResetWarning.OLD_MEMBERS_LATE)
    warnings = list(map(stored_reason, codes))
    if others := sorted(set(group.languages) - {JAVA}):
        warnings.append(stored_reason(ResetWarning.LANGUAGES_DECIDE, languages=others))
    return warnings


def _what_pops_again(topics: Collection[str], group: GroupSetup) -> list[str]:
    if group.pop_topics is None:
        return [stored_reason(ResetWarning.MAYBE_POPS)]
    if popped := sorted(set(topics) & group.pop_topics):
        return [stored_reason(ResetWarning.POPS_AGAIN, topics=popped)]
    return []


def _when_members_are_notified() -> list[str]:
    codes = (ResetWarning.MEMBERS_TOLD, ResetWarning.BROKER_COUNTS, ResetWarning.WHOLE_TOPIC_MOVES)
    return list(map(stored_reason, codes))


# The sums of a plan. Queues with an unknown number are counted apart, and never as zero.


@dataclass(frozen=True)
class Totals:
    """Sums over the queues that are to move. `replayed` and `skipped` are the known sums; for `uncounted` queues they
    are unknown. `earliest`: when the first redelivered message was stored, as far as the targets' messages were read.
    """

    queues: int
    replayed: int
    skipped: int
    replaying: int
    skipping: int
    uncounted: int
    clipped: int
    not_restorable: int
    methods: Mapping[ResetMethod, int]
    left_out: Sequence[tuple[str, int]]
    earliest: datetime | None


def totals_of(rows: Iterable[ResetQueue]) -> Totals:
    every = list(rows)
    moving = [row for row in every if row.left_out is None and row.method != ResetMethod.NOTHING]
    times = [row.target_time for row in moving if row.replayed_messages and row.target_time is not None]
    return Totals(
        queues=len(moving),
        replayed=sum(row.replayed_messages or 0 for row in moving),
        skipped=sum(row.skipped_messages or 0 for row in moving),
        replaying=sum(bool(row.replayed_messages) for row in moving),
        skipping=sum(bool(row.skipped_messages) for row in moving),
        uncounted=sum(row.replayed_messages is None for row in moving),
        clipped=sum(row.clipped for row in moving),
        not_restorable=sum(not row.restorable for row in moving),
        methods=Counter(ResetMethod(row.method) for row in moving if row.method is not None),
        left_out=Counter(row.left_out for row in every if row.left_out is not None).most_common(),
        earliest=min(times, default=None),
    )


SHOWN = 5


def warnings_of(reset: Reset, group: ConsumerGroup, setup: GroupSetup, rows: Sequence[ResetQueue]) -> list[str]:
    """In the order of importance. Some queries."""
    totals = totals_of(rows)
    moving = {row.topic for row in rows if row.left_out is None}
    return [
        *of_amounts(totals),
        *consequences(totals.methods.keys(), moving, setup),
        *of_gaps(totals),
        *_of_nearest(reset, rows),
        *_of_strangers(group, {row.broker for row in rows if row.left_out is None}),
        *_of_retries(group, {row.topic for row in rows}),
        *_of_resends(group),
    ]


def of_amounts(totals: Totals) -> list[str]:
    warnings = []
    if totals.replayed:
        warnings.append(stored_reason(ResetWarning.REDELIVERED, n=totals.replayed, queues=totals.replaying))
    if totals.earliest is not None:
        warnings.append(stored_reason(ResetWarning.REDELIVERED_FROM, at=iso(totals.earliest)))
    if totals.skipped:
        warnings.append(stored_reason(ResetWarning.SKIPPED, n=totals.skipped, queues=totals.skipping))
    if totals.uncounted:
        warnings.append(stored_reason(ResetWarning.UNCOUNTED, queues=totals.uncounted))
    return warnings


def of_gaps(totals: Totals) -> list[str]:
    warnings = []
    if totals.not_restorable:
        warnings.append(stored_reason(ResetWarning.NOT_RESTORABLE, queues=totals.not_restorable))
    if totals.clipped:
        warnings.append(stored_reason(ResetWarning.CLIPPED, queues=totals.clipped))
    for why, queues in totals.left_out[:SHOWN]:
        warnings.append(stored_reason(ResetWarning.LEFT_OUT, n=queues, why=why))
    if more := sum(queues for _why, queues in totals.left_out[SHOWN:]):
        warnings.append(stored_reason(ResetWarning.LEFT_OUT_OTHERS, queues=more))
    return warnings


def _of_nearest(reset: Reset, rows: Sequence[ResetQueue]) -> list[str]:
    """Brokers of some versions return the nearest message, even if it is an earlier one (4.9, ConsumeQueue)."""
    if reset.kind != ResetKind.TIME:
        return []
    wanted = moment_of(str(reset.value))
    early = [wanted - row.target_time for row in rows if row.target_time is not None and row.target_time < wanted]
    if not early:
        return []
    return [stored_reason(ResetWarning.NEAREST_MESSAGES, n=len(early), by=_in_words(max(early)))]


def _in_words(span: timedelta) -> str:
    return f"{span.total_seconds():.3f} s" if span < timedelta(seconds=60) else age(span.total_seconds())


def _of_strangers(group: ConsumerGroup, brokers: set[str]) -> list[str]:
    """A warning alone, since readings list groups some time later than members make them known (5.4.0,
    AdminBrokerProcessor.resetOffsetInner: SUBSCRIPTION_GROUP_NOT_EXIST)."""
    rows = GroupBroker.objects.filter(group=group, broker__in=brokers, configured=False)
    names = rows.order_by("broker").values_list("broker", flat=True)
    return [stored_reason(ResetWarning.GROUP_STRANGE, broker=name) for name in names[:SHOWN]]


def _of_retries(group: ConsumerGroup, chosen: set[str]) -> list[str]:
    prefix = retry_topic(group.name)
    found = Queue.objects.filter(topic__cluster=group.cluster_id, topic__name__startswith=prefix)
    retries = found.filter(topic__kind=TopicKind.RETRY).order_by("topic__name").values_list("topic__name", flat=True)
    own = set(own_topics(group))
    left = [name for name in retries.distinct() if is_retry_topic_of(name, group.name, own) and name not in chosen]
    if not left:
        return []
    return [stored_reason(ResetWarning.RETRIES_STAY, topics=left)]


def _of_resends(group: ConsumerGroup) -> list[str]:
    if not Resend.objects.filter(group=group, status=ResendStatus.RUNNING).exists():
        return []
    return [stored_reason(ResetWarning.RESENDS_RUN)]
