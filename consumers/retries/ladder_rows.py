"""Rows of the delay levels that hold a group's retries. Each null has its reason. A level holds messages of all groups:
the broker's backlog is counted in full, and this group's share of it is sampled."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.utils.translation import gettext, gettext_lazy

from consumers.models import Client, ConsumerGroup, Rung
from consumers.queries.declared import INSIDE, answer, public
from consumers.queries.findings import DetectedFinding
from consumers.retries.broker_levels import BrokerLevel
from consumers.words.marks import listed
from consumers.words.reasons import stored_words
from consumers.words.spans import when


@answer(
    "Of `of` messages that waited `looked_at` were looked into: `messages` are of the group.\n\n"
    "Both times are null where none is of the group.",
    name="Sampled",
)
@dataclass(frozen=True, kw_only=True)
class SampledRung:
    """`attempts`: {reconsume times: messages}. Times are the brokers'. `sampled_at`: of the brokers' newest samples the
    oldest.
    """

    messages: int
    looked_at: int
    of: int
    attempts: Mapping[int, int] = field(metadata=public("{number of the next retry: messages}"))
    oldest_waiting_at: datetime | None
    next_due_at: datetime | None
    sampled_at: datetime

    @property
    def is_whole(self) -> bool:
        return self.looked_at >= self.of


@answer(name="Rung")
@dataclass(frozen=True, kw_only=True)
class LadderRung:
    """One level. Retries begin at level 3: below it, where only applications send, `retry` is null."""

    level: int
    retry: int | None = field(metadata=public("The retry that uses this level by default"))
    delay_seconds: float | None
    broker_backlog: int | None = field(metadata=public("Messages of all groups on all brokers"))
    sampled: SampledRung | None
    overdue_seconds: float | None = field(metadata=public("How late the first of them is, at least; 0 where none is"))
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class WaitingLevel:
    """A level of the ladder and a moment of it."""

    level: int
    at: datetime


@answer("Sampled messages before their last retry: if it fails, they are dead-lettered.")
@dataclass(frozen=True, kw_only=True)
class LastAttempts:
    """`reported_by`: who says `max_retries`."""

    messages: int | None
    next_due_at: datetime | None = field(metadata=public("Null with no message too"))
    max_retries: int | None = field(metadata=public("Null too where nothing limits them"))
    reported_by: str | None
    unknown: Mapping[str, str] = field(default_factory=dict)


@answer("Delays of retries 1 to 16 by the group's configuration, heeded by members that pop only.", name="Policy")
@dataclass(frozen=True, kw_only=True)
class RetryPolicyRow:
    """What a broker's configuration of the group says of the delays of retries 1 to 16, heeded for POP and gRPC only.

    `is_heeded`: whether the group's members pop; null where that is not known.
    """

    kind: str
    delays_seconds: Sequence[float]
    is_heeded: bool | None
    unknown: Mapping[str, str] = field(default_factory=dict)


@answer("Due and not consumed: the queues of the group's own retry topics.", name="Due", last=("unknown",))
@dataclass(frozen=True, kw_only=True)
class DueRetries:
    """`lag_messages` is null as soon as one of the queues is not known; `…_at_least` is then the known sum."""

    queues: int
    lag_messages: int | None
    lag_messages_at_least: int | None
    oldest_seconds: float | None = field(metadata=public("Since the first of them was due"))
    unknown: Mapping[str, str] = field(default_factory=dict)

    @property
    def unknown_reason(self) -> str | None:
        return self.unknown.get("lag_messages")


@answer(name="Wheel")
@dataclass(frozen=True, kw_only=True)
class WheelCount:
    """Messages of the group's retry topics in brokers' timer wheels (RocketMQ 5)."""

    messages: int | None
    counted_at: datetime | None
    unknown: Mapping[str, str] = field(default_factory=dict)


@answer(
    "Of the samples of all levels together: `messages` of the group among `looked_at` of `of` that waited.",
    name="Waiting",
)
@dataclass(frozen=True, kw_only=True)
class Ladder:
    """`rungs`: one for each level that some broker has, in order; empty with a reason while none has said its levels.

    `messages`, `oldest_waiting` and `next_to_fire` are of the samples: of `of` messages `looked_at` were looked into.
    """

    rungs: Sequence[LadderRung] = field(metadata=INSIDE)
    messages: int | None
    looked_at: int | None
    of: int | None
    oldest_waiting: WaitingLevel | None = field(metadata=public("Null with no message too"))
    next_to_fire: WaitingLevel | None = field(metadata=public("Null with no message too"))
    last_attempts: LastAttempts = field(metadata=INSIDE)
    due: DueRetries = field(metadata=INSIDE)
    policy: RetryPolicyRow | None = field(metadata=INSIDE)
    wheel: WheelCount = field(metadata=INSIDE)
    findings: Sequence[DetectedFinding] = field(metadata=INSIDE)
    read_at: datetime | None = field(metadata=INSIDE)
    unknown: Mapping[str, str] = field(default_factory=dict)


# A group's messages among those sampled from a delay level, and which are on their last retry.
# What of a group was among the messages of a delay level that were looked into, over all brokers.
#
# One broker whose level was not looked into makes the whole unknown: its messages may all be the group's.
# So many turns of sampling may be missed, as they are where there are more levels than calls.
TURNS_HELD = 3


def sampled_rung(
    levels: Sequence[tuple[str, BrokerLevel]], rungs: Sequence[Rung], now: datetime
) -> tuple[SampledRung | None, str]:
    """`levels`: by broker, those of one number; `rungs`: the group's own of that number. With why there is none."""
    times: list[datetime] = []
    looked_at, of = 0, 0
    for broker, level in levels:
        if (why := _not_sampled(broker, level, now)) is not None:
            return None, why
        row = level.row
        assert row is not None
        assert row.sampled_at is not None
        times.append(row.sampled_at)
        looked_at, of = looked_at + (row.looked_at or 0), of + (row.sampled_of or 0)
    attempts: Counter[int] = Counter()
    for rung in rungs:
        attempts.update({int(retry): count for retry, count in rung.attempts.items()})
    due = [rung.next_due_at for rung in rungs if rung.next_due_at is not None]
    return (
        SampledRung(
            messages=sum(rung.messages for rung in rungs),
            looked_at=looked_at,
            of=of,
            attempts=dict(sorted(attempts.items())),
            oldest_waiting_at=min((rung.oldest_stored_at for rung in rungs), default=None),
            next_due_at=min(due, default=None) if len(due) == len(rungs) else None,
            sampled_at=min(times),
        ),
        "",
    )


def _not_sampled(broker: str, level: BrokerLevel, now: datetime) -> str | None:
    row = level.row
    if level.backlog is None or row is None:
        return level.unknown["backlog"]
    if row.sample_error is not None:
        return gettext("%(broker)s refused to sample level %(level)s: %(error)s") % {
            "broker": broker,
            "level": level.level,
            "error": stored_words(row.sample_error),
        }
    if row.sampled_at is None:
        return gettext("level %(level)s of %(broker)s has not been sampled yet") % {
            "level": level.level,
            "broker": broker,
        }
    if now - row.sampled_at > sample_holds():
        return gettext("level %(level)s of %(broker)s has not been sampled since %(since)s") % {
            "level": level.level,
            "broker": broker,
            "since": when(row.sampled_at),
        }
    return None


def sample_holds() -> timedelta:
    """How old a sample may be."""
    seconds = max(settings.POLL_RETRY_SAMPLE_SECONDS, settings.CONSUMERSCOPE_POLL_SECONDS)
    return timedelta(seconds=TURNS_HELD * seconds)


# Which sampled messages of a group wait for their last retry, by the limit that counts for it.
#
# A member's own maxReconsumeTimes goes before the group's configuration: it is sent with every message that it sends
# back (RocketMQ 5.4.0, AbstractSendMessageProcessor.consumerSendMsgBack). -1 is 16, and no limit for orderly members.
DEFAULT_MAX_RETRIES = 16

NO_LIMIT = 2**31 - 1

BY_MEMBERS, BY_GROUP = gettext_lazy("the members"), gettext_lazy("the group's configuration")

NOBODY = gettext_lazy("neither a member nor a broker has reported the maximum number of retries")

UNLIMITED = gettext_lazy("the number of retries is not limited")

NO_LAST = gettext_lazy("no sampled message is before its last retry")


def last_attempts(group: ConsumerGroup, rungs: Sequence[LadderRung], not_sampled: str | None) -> LastAttempts:
    """`not_sampled`: why some level was not looked into; messages are then not known. One query."""
    limit, reported_by, why = max_retries(group)
    if reported_by is None:
        return _of(
            None, None, None, None, dict.fromkeys(("messages", "next_due_at", "max_retries", "reported_by"), why)
        )
    if limit is None:
        none = {"max_retries": str(UNLIMITED), "next_due_at": str(UNLIMITED)}
        return _of(0, None, None, reported_by, none)
    if not_sampled is not None:
        return _of(None, None, limit, reported_by, dict.fromkeys(("messages", "next_due_at"), not_sampled))
    last = [(rung, count) for rung in rungs if (count := _waiting_for_last(rung, limit))]
    due = [rung.sampled.next_due_at for rung, _ in last if rung.sampled and rung.sampled.next_due_at]
    if last and not due:
        return _of(
            sum(n for _, n in last),
            None,
            limit,
            reported_by,
            {"next_due_at": gettext("the delay of the level is unknown")},
        )
    found = sum(count for _, count in last)
    return _of(found, min(due, default=None), limit, reported_by, {} if due else {"next_due_at": str(NO_LAST)})


def max_retries(group: ConsumerGroup) -> tuple[int | None, str | None, str]:
    """Returns the limit, its source, and why it is unknown. A null limit with a source means that there is no limit."""
    limits = {
        limit for client in Client.objects.filter(group=group, gone_by=None) if (limit := _own(client)) is not None
    }
    if len(limits) > 1:
        named = listed(gettext("no limit") if limit == NO_LIMIT else str(limit) for limit in sorted(limits))
        return None, None, gettext("members differ in the maximum number of retries: %(limits)s") % {"limits": named}
    if limits:
        [limit] = limits
        return (None if limit == NO_LIMIT else limit), str(BY_MEMBERS), ""
    if group.retry_max_times is None:
        return None, None, str(NOBODY)
    return group.retry_max_times, str(BY_GROUP), ""


def _own(client: Client) -> int | None:
    """Null where it has not said, or not what -1 means to it."""
    setting = (client.settings or {}).get("maxReconsumeTimes")
    try:
        times = int(setting) if setting is not None else None
    except ValueError:
        return None
    if times is None or times >= 0:
        return None if times is None else min(times, NO_LIMIT)
    if client.orderly is None:
        return None
    return NO_LIMIT if client.orderly else DEFAULT_MAX_RETRIES


def _waiting_for_last(rung: LadderRung, limit: int) -> int:
    """The r-th retry waits with reconsumeTimes r, and dies if it fails and r has reached the limit."""
    attempts = rung.sampled.attempts if rung.sampled else {}
    return sum(count for times, count in attempts.items() if times >= limit)


def _of(
    messages: int | None,
    next_due_at: datetime | None,
    limit: int | None,
    reported_by: str | None,
    unknown: dict[str, str],
) -> LastAttempts:
    return LastAttempts(
        messages=messages, next_due_at=next_due_at, max_retries=limit, reported_by=reported_by, unknown=unknown
    )
