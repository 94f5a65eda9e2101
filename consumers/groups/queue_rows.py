"""Rows of queues, built from their newest reading and evaluation: every null with its reason."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from django.utils.translation import gettext, gettext_lazy as _

from consumers.models import (
    GroupState,
    Queue,
    QueueSample,
    QueueSnapshot,
    QueueState,
    State,
    TimeLagKind,
    Topic,
    TopicKind,
)
from consumers.ownership.group_shares import ExpectedOwners
from consumers.queries.declared import INSIDE, MESSAGES, OFFSET, answer, public
from consumers.queries.limits import BrokerAge, Limits
from consumers.queries.queues.lost_offsets import NO_LOSS, QueueLoss, acknowledged_words, is_lost, queue_loss
from consumers.queries.queues.overlay import (
    MIN_ABOVE_END,
    NOT_JUDGED_YET,
    NOT_SAMPLED,
    OWN_DEAD_LETTERS,
    Ground,
    Offsets,
    Polled,
    ShownState,
    TimeLag,
    asked_time_lag,
    offsets,
    shown_state,
    time_lag,
    unjudged_reason,
    waited_seconds,
)
from consumers.queries.queues.starts import ReportedStart, Unacked, start_without_offset
from consumers.queries.sentences import sentence, state_parts
from consumers.stores.start import Start
from consumers.vocabulary.states import RuleCode, UnknownReason
from consumers.words.spans import when
from consumers.words.states import rule_words

STALE = (
    "The state is of the earlier of judged_at and taken_at: evaluations are late and no newer poll contradicts it, or a"
    " broker of it is not read"
)


@answer("An unknown value is null: `unknown_reason` has the reason for the lag, `unknown` for other fields.")
@dataclass(frozen=True, kw_only=True)
class QueueRow:
    """`kind` is the topic's as this group sees it: another group's dead letters are a normal topic to it. `since`: when
    its state began.
    """

    topic: str
    broker: str
    queue_id: int
    kind: str = field(metadata=public(of=TopicKind))
    min_offset: int | None = field(metadata=public(label=_("Min"), unit=OFFSET))
    broker_offset: int | None = field(metadata=public(label=_("Broker"), unit=OFFSET))
    pull_offset: int | None = field(metadata=public(label=_("Pulled"), unit=OFFSET))
    consumer_offset: int | None = field(metadata=public(label=_("Consumer"), unit=OFFSET))
    lost_offset: int | None = field(
        metadata=public(
            "The last known offset of a queue whose offset its broker has lost",
            label=_("Last known"),
            unit=OFFSET,
        )
    )
    lost_at: datetime | None = field(metadata=public("The last poll that had it"))
    would_start_at: int | None = field(metadata=public("Where a member starts without an offset"))
    would_start_rule: str | None
    would_skip_messages: int | None = field(
        metadata=public("From lost_offset to would_start_at", label=_("Skips"), unit=MESSAGES)
    )
    would_redeliver_messages: int | None = field(
        metadata=public("From would_start_at to lost_offset", label=_("Redelivers"), unit=MESSAGES)
    )
    lag_messages: int | None
    lag_messages_at_least: int | None = field(
        metadata=public("The lag, or its lower bound where the broker is behind with its dispatch")
    )
    in_flight: int | None = field(metadata=public(label=_("In flight"), unit=MESSAGES))
    ready: int | None = field(metadata=public(label=_("Ready"), unit=MESSAGES))
    expired_messages: int | None
    unacked_messages: int | None = field(
        metadata=public("Popped and not acknowledged by present members; POP groups only")
    )
    time_lag_seconds: float | None
    time_lag_kind: TimeLagKind
    time_lag_error_seconds: float | None
    time_lag_at: datetime | None = field(metadata=public("The point in time of the time lag"))
    state: State | None = field(metadata=public("Null for dead-letter and retired topics"))
    stale: bool = field(metadata=public(STALE))
    rule: str | None
    rule_code: str | None = field(metadata=public(of=RuleCode))
    state_detail: str
    since: datetime | None
    provisional: bool | None
    owner: str | None = field(metadata=public("Client id; several, separated by commas, for several owners"))
    owners: Sequence[str] = field(default=(), metadata=INSIDE)
    expected_owner: str | None
    taken_at: datetime | None
    judged_at: datetime | None
    unknown_reason: str | None
    unknown_reason_code: UnknownReason | None = None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class QueueContext:
    """What all queues of a group share. `outside`: why the brokers' offsets of it are not its progress. `lapsed`: why
    those who owned a queue need not any more.

    `causes`: of offsets that jumped, by queue, added to the numbers of their rule. `reported_start`: what members
    report of their start, besides `consume_from_where`. `online`, `stopped_since` (null: not stopped, as far as rows
    alone tell) and `is_excused` count while the evaluation is late. `without_members`: see queries/groups.py.
    """

    name: str
    judged: GroupState | None
    brokers: dict[str, BrokerAge]
    owners: dict[int, list[str]]
    no_owner_reason: str
    now: datetime
    limits: Limits
    lapsed: dict[int, str] = field(default_factory=dict)
    retired: dict[str, datetime] = field(default_factory=dict)
    outside: str | None = None
    samples: dict[int, QueueSample] = field(default_factory=dict)
    unacked: Unacked = field(default_factory=lambda: Unacked(str(NOT_SAMPLED), {}))
    expected: ExpectedOwners = field(default_factory=lambda: ExpectedOwners(why=str(NOT_SAMPLED)))
    causes: dict[int, dict[str, str]] = field(default_factory=dict)
    online: bool | None = None
    stopped_since: datetime | None = None
    without_members: dict[str, float] = field(default_factory=dict)
    is_excused: bool = False
    consume_from_where: str | None = None
    reported_start: ReportedStart = (None, None)

    @property
    def unjudged(self) -> str | None:
        return unjudged_reason(self.judged, self.now, self.limits)


def kind_for(group: str, topic: Topic) -> str:
    """The kind of a topic for this group: the DLQ of another group is a normal topic."""
    if topic.kind == TopicKind.DLQ and topic.name != f"%DLQ%{group}":
        return TopicKind.NORMAL
    return TopicKind(topic.kind)


def retired(topic: str, since: datetime) -> str:
    return gettext("retired: no member has subscribed to %(topic)s since %(since)s") % {
        "topic": topic,
        "since": when(since),
    }


def queue_row(snapshot: QueueSnapshot, state: QueueState | None, context: QueueContext) -> QueueRow:
    queue, broker = snapshot.queue, context.brokers.get(snapshot.queue.broker)
    read = _offsets(snapshot, broker, context)
    kind = kind_for(context.name, queue.topic)
    loss = queue_loss(snapshot, _start(kind, snapshot, read, context))
    if kind == TopicKind.DLQ:
        report = _unjudged(None, str(OWN_DEAD_LETTERS))
        behind = TimeLag(None, TimeLagKind.UNKNOWN, None, str(OWN_DEAD_LETTERS))
    else:
        report = _judged(snapshot, state, broker, read, loss, context)
        behind = _time_lag(queue, state, broker, read, context)
    lag = _lag(kind, read)
    unacked, unacked_reason = context.unacked.of_queue(queue.topic.name, queue.broker, queue.queue_id, kind)
    expected, why_not_expected = context.expected.of_queue(queue.pk)
    owners = sorted(context.owners.get(queue.pk, ()))
    values = {
        **_numbers(read),
        **loss.values,
        "unacked_messages": unacked,
        "lag_messages": lag.messages,
        "lag_messages_at_least": lag.at_least,
        "time_lag_seconds": behind.seconds,
        "time_lag_error_seconds": behind.error_seconds,
        "time_lag_at": behind.at,
        **report.values,
        "owner": ", ".join(owners) or None,
        "expected_owner": expected,
        "taken_at": broker.last_read_at if broker else None,
        "judged_at": context.judged.judged_at if context.judged and state else None,
    }
    no_owner = context.lapsed.get(queue.pk, context.no_owner_reason)
    reasons = _reasons(read, behind, report.reason, values["owner"], no_owner) | {
        "lag_messages_at_least": lag.reason or "",
        "unacked_messages": unacked_reason,
        "expected_owner": why_not_expected,
        **loss.reasons,
    }
    return QueueRow(
        topic=queue.topic.name,
        broker=queue.broker,
        queue_id=queue.queue_id,
        kind=kind,
        owners=owners,
        time_lag_kind=behind.kind,
        state_detail=report.sentence,
        unknown_reason=lag.reason if lag.messages is None else None,
        unknown_reason_code=lag.code if lag.messages is None else None,
        unknown={name: reason for name, reason in reasons.items() if values[name] is None},
        **values,
    )


def _offsets(snapshot: QueueSnapshot, broker: BrokerAge | None, context: QueueContext) -> Offsets:
    """As they were read; without what follows from them where they are not the group's progress."""
    read = offsets(snapshot, broker, context.now, context.limits)
    if context.outside is None or read.unread:
        return read
    read = replace(read, lag_messages=None, in_flight=None, ready=None, expired_messages=None, reason=context.outside)
    return replace(read, lag_messages_at_least=None, code=UnknownReason.OUTSIDE_STORE)


class _Lag(NamedTuple):
    messages: int | None
    at_least: int | None
    reason: str | None
    code: UnknownReason | None


def _lag(kind: str, read: Offsets) -> _Lag:
    """A group's own dead letters are not for it to consume."""
    if kind == TopicKind.DLQ and not read.unread:
        return _Lag(None, None, str(OWN_DEAD_LETTERS), UnknownReason.OWN_DEAD_LETTERS)
    if kind == TopicKind.DLQ:
        return _Lag(None, None, read.reason, read.code)
    return _Lag(read.lag_messages, read.lag_messages_at_least, read.reason, read.code)


def _time_lag(
    queue: Queue, state: QueueState | None, broker: BrokerAge | None, read: Offsets, context: QueueContext
) -> TimeLag:
    asked = asked_time_lag(context.samples.get(queue.pk), read, broker, context.limits)
    waited = waited_seconds(read, state, context.judged, context.now)
    return time_lag(read, state, context.unjudged, asked, broker.last_read_at if broker else None, waited)


@dataclass(frozen=True)
class _StateReport:
    values: dict[str, Any]
    sentence: str
    reason: str


def _rule(code: str | None) -> dict[str, str | None]:
    return {"rule": None if code is None else rule_words(code), "rule_code": code}


def _unjudged(state: State | None, reason: str) -> _StateReport:
    nothing = {"state": state, **_rule(None), "since": None, "provisional": None, "stale": False}
    return _StateReport(nothing, reason, reason)


def _judged(
    snapshot: QueueSnapshot,
    state: QueueState | None,
    broker: BrokerAge | None,
    read: Offsets,
    loss: QueueLoss,
    context: QueueContext,
) -> _StateReport:
    topic = snapshot.queue.topic.name
    if topic in context.retired:
        return _unjudged(None, retired(topic, context.retired[topic]))
    report = _verdict(snapshot, state, broker, read, context)
    if loss is not NO_LOSS and context.outside is None:
        report = _lost(snapshot, loss, report, broker, context)
    return report


def _verdict(
    snapshot: QueueSnapshot, state: QueueState | None, broker: BrokerAge | None, read: Offsets, context: QueueContext
) -> _StateReport:
    is_retry = kind_for(context.name, snapshot.queue.topic) == TopicKind.RETRY
    polled = Polled(
        lag_messages=read.lag_messages_at_least,
        no_lag_reason=read.code,
        waiting_since=read.waiting_since,
        online=context.online,
        is_stopped=context.stopped_since is not None,
        is_excused=context.is_excused,
    )
    shown = shown_state(state, context.judged, broker, polled, context.now, context.limits, is_retry=is_retry)
    if shown.ground in (Ground.STOPPED, Ground.CAUGHT_UP):
        return _by_rows(shown, snapshot, read, context)
    if shown.reason is not None or state is None:
        return _unjudged(shown.state, shown.reason or str(NOT_JUDGED_YET))
    values = {"state": shown.state, **_rule(state.rule), "since": state.since, "provisional": state.provisional}
    detail = state.detail | context.causes.get(state.queue_id, {})
    if state.rule == RuleCode.NO_MEMBERS:
        detail |= context.without_members
    stale = {"stale": shown.ground is not None or read.unread}
    return _StateReport(values | stale, sentence(state_parts(shown.state, state.rule, detail)), "")


def _by_rows(shown: ShownState, snapshot: QueueSnapshot, read: Offsets, context: QueueContext) -> _StateReport:
    """The state that needs no evaluation."""
    rule, since = RuleCode.CAUGHT_UP, snapshot.changed_at
    detail: dict[str, float | None] = {"lag_messages": read.lag_messages_at_least}
    if shown.ground == Ground.STOPPED and context.stopped_since is not None:
        rule, since = RuleCode.NO_MEMBERS, context.stopped_since
        detail["without_members_seconds"] = (context.now - context.stopped_since).total_seconds()
    values = {"state": shown.state, **_rule(rule), "since": since, "provisional": False, "stale": False}
    return _StateReport(values, sentence(state_parts(shown.state, rule, detail)), "")


def _start(kind: str, snapshot: QueueSnapshot, read: Offsets, context: QueueContext) -> Start | None:
    """The start on a queue whose offset is lost and whose broker is read."""
    if read.unread or not is_lost(snapshot):
        return None
    sample = context.samples.get(snapshot.queue_id)
    return start_without_offset(kind, context.consume_from_where, context.reported_start, read, sample)


def _lost(
    snapshot: QueueSnapshot, loss: QueueLoss, report: _StateReport, broker: BrokerAge | None, context: QueueContext
) -> _StateReport:
    """Lost offsets follow from the newest reading without an evaluation, as long as the broker is not silent."""
    if not is_lost(snapshot):
        return replace(report, sentence=sentence([report.sentence, *acknowledged_words(snapshot)]))
    if broker is None or broker.is_silent(context.now, context.limits):
        return report
    rule = _rule(RuleCode.OFFSET_LOST)
    values = {"state": State.LOSS, **rule, "since": snapshot.lost_at, "provisional": None, "stale": False}
    return _StateReport(values, sentence(loss.sentence(broker.read_from)), gettext("decided by the newest poll alone"))


def _numbers(read: Offsets) -> dict[str, int | None]:
    return {
        name: getattr(read, name)
        for name in (
            "min_offset",
            "broker_offset",
            "pull_offset",
            "consumer_offset",
            "in_flight",
            "ready",
            "expired_messages",
        )
    }


def _expired_reason(read: Offsets) -> str:
    if read.min_offset is None:
        return gettext("the min offset was not read")
    if read.consumer_offset is None or read.reason is not None:
        return read.reason or gettext("the consumer offset was not read")
    return str(MIN_ABOVE_END)


def _reasons(read: Offsets, behind: TimeLag, unjudged: str, owner: str | None, no_owner: str) -> dict[str, str]:
    """The reason of each field for the case that it is null; reasons of other fields are dropped."""
    unread = read.reason if read.unread and read.reason else None
    # For a queue without an owner, nobody can report messages in flight.
    sampled = no_owner if owner is None else str(NOT_SAMPLED)
    if read.pull_offset is not None:
        sampled = read.reason or gettext("the offsets are from different points in time")
    reasons = {
        "min_offset": gettext("the min offset was not read"),
        "broker_offset": read.reason or gettext("the broker offset was not read"),
        "consumer_offset": read.reason or gettext("the consumer offset was not read"),
        "expired_messages": _expired_reason(read),
        **dict.fromkeys(("pull_offset", "in_flight", "ready"), sampled),
    }
    if unread:
        reasons = dict.fromkeys(reasons, unread)
    return reasons | {
        "time_lag_seconds": behind.reason or "",
        "time_lag_error_seconds": behind.reason or gettext("the evaluation has no error bound"),
        "time_lag_at": behind.reason or "",
        **dict.fromkeys(("state", "rule", "rule_code", "since", "provisional"), unjudged),
        "judged_at": unjudged or str(NOT_JUDGED_YET),
        "owner": no_owner,
        "taken_at": read.reason or gettext("not read"),
    }
