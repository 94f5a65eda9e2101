"""What the newest reading and evaluation of a queue still say now, and its state while evaluations are late."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.utils.translation import gettext, gettext_lazy

from consumers.models import GroupState, QueueSample, QueueSnapshot, QueueState, State, TimeLagKind
from consumers.queries.limits import BrokerAge, Limits
from consumers.queries.queues.lost_offsets import behind_words
from consumers.queries.sentences import sentence
from consumers.vocabulary.reasons import ReasonCode
from consumers.vocabulary.states import NO_LAG_REASONS, UnknownReason, code_of
from consumers.vocabulary.times import microseconds
from consumers.words.reasons import coded_reason, lazy_reason, reason_words, stored_words
from consumers.words.spans import when

# The state of one queue while evaluations are late: the last one stays until what was polled since contradicts it.
#
# Pure, as a table in docs/evaluation.md. The same for lists of groups, in SQL: groups/overlay.py.
# Over as soon as nothing waits. Messages that were lost stay lost.
ENDED_BY_NO_LAG = (State.STOP, State.STALL, State.REWIND, State.WARN)

SECOND_US = 1_000_000

# Say that the offset stands.
NOT_MOVING = (State.STOP, State.STALL)

# Say that all is well, and hold no longer than the offset moves.
ALL_WELL = (State.OK, State.RECREATED)


class Ground(StrEnum):
    """Why a state is shown while evaluations are late."""

    KEPT = "kept"
    CAUGHT_UP = "caught_up"
    STOPPED = "stopped"
    MEMBERS_BACK = "members_back"
    MOVED = "moved"
    STANDS = "stands"
    LAG_UNKNOWN = "lag_unknown"
    GROWN = "grown"  # of a group as a whole


# Beside since when nothing was evaluated: why the last state holds no more.
WHY_UNKNOWN = {
    Ground.MEMBERS_BACK: gettext_lazy("members are back since"),
    Ground.MOVED: gettext_lazy("the offset has moved since"),
    Ground.STANDS: gettext_lazy("there is a lag and no commit"),
    Ground.LAG_UNKNOWN: gettext_lazy("the lag is unknown"),
    Ground.GROWN: gettext_lazy("the lag has grown since"),
}


@dataclass(frozen=True)
class Polled:
    """What the newest readings say of a queue and its group. `no_lag_reason`: the code of why `lag_messages` is null.

    `is_stopped`: its group has no members, by what brokers answered for long enough. `is_excused`: the group is paused
    or offline by habit, still.
    """

    lag_messages: int | None
    no_lag_reason: str | None = None
    waiting_since: datetime | None = None
    online: bool | None = None
    is_stopped: bool = False
    is_excused: bool = False


@dataclass(frozen=True)
class LateTimes:
    """`stands_since`: an offset with a lag that has not moved since then is stuck. `allowed_since`: messages that have
    waited only since a later time are within the threshold, whether or not a member is present."""

    evaluated_at: datetime
    stands_since: datetime
    allowed_since: datetime


def late_state(state: State, polled: Polled, times: LateTimes) -> tuple[State, Ground]:
    if state == State.LOSS:
        return state, Ground.KEPT
    if is_stopped(polled, times.allowed_since):
        return State.STOP, Ground.STOPPED
    if state in ENDED_BY_NO_LAG:
        return _of_trouble(state, polled, times.evaluated_at)
    return _of_well(state, polled, times.stands_since) if state in ALL_WELL else (state, Ground.KEPT)


def is_stopped(polled: Polled, allowed_since: datetime) -> bool:
    """Nobody is there to consume what waits in the queue. No evaluation is needed for that."""
    waits = polled.waiting_since is None or polled.waiting_since <= allowed_since
    return polled.is_stopped and bool(polled.lag_messages) and waits


def _of_trouble(state: State, polled: Polled, evaluated_at: datetime) -> tuple[State, Ground]:
    if polled.lag_messages == 0:
        return State.OK, Ground.CAUGHT_UP
    if state == State.STOP and polled.online:
        return State.UNKNOWN, Ground.MEMBERS_BACK
    if state in NOT_MOVING and polled.waiting_since is not None and polled.waiting_since > evaluated_at:
        return State.UNKNOWN, Ground.MOVED
    return state, Ground.KEPT


def _of_well(state: State, polled: Polled, stands_since: datetime) -> tuple[State, Ground]:
    if polled.lag_messages == 0 or polled.is_excused or polled.no_lag_reason in NO_LAG_REASONS:
        return state, Ground.KEPT
    if polled.lag_messages is None:
        return State.UNKNOWN, Ground.LAG_UNKNOWN
    if polled.waiting_since is None or polled.waiting_since < stands_since:
        return State.UNKNOWN, Ground.STANDS
    return state, Ground.KEPT


# The overlay of one queue: what its newest reading and its newest evaluation still say now.
#
# Pure: rows and times in, values out. A broker that is not read makes every number of its queues unknown, one that is
# silent their state too. An evaluation that is late leaves no number, but the state, as `late_state` has it. The
# same rules for whole groups, in SQL: groups/overlay.py.
NOT_JUDGED_YET = lazy_reason(ReasonCode.NOT_EVALUATED_YET)

NOT_SAMPLED = gettext_lazy("not sampled")

MIN_ABOVE_END = gettext_lazy(
    "the min offset is above the broker offset: one of them was read before the topic was recreated"
)

OWN_DEAD_LETTERS = gettext_lazy("a group does not consume its own dead-letter messages")


@dataclass(frozen=True)
class Offsets:
    """The numbers of the newest reading; all null with one `reason` where its broker is not read. `code`: of that
    reason; null where it is none of the lag.

    `lag_messages_at_least` is the lag where that is known, and its lower bound where its broker is behind with its
    dispatch. What states and time lags go by: consumers cannot get more messages than that.
    """

    min_offset: int | None
    broker_offset: int | None
    pull_offset: int | None
    consumer_offset: int | None
    lag_messages: int | None
    in_flight: int | None
    ready: int | None
    expired_messages: int | None
    reason: str | None
    unread: bool
    waiting_since: datetime | None = None
    code: UnknownReason | None = None
    lag_messages_at_least: int | None = None
    first_stored_us: int | None = None
    first_stored_error_us: int | None = None


@dataclass(frozen=True)
class TimeLag:
    """`at` is the moment of which it is: that of the reading, or of the evaluation, which may be an earlier one."""

    seconds: float | None
    kind: TimeLagKind
    error_seconds: float | None
    reason: str | None
    at: datetime | None = None


def offsets(snapshot: QueueSnapshot, broker: BrokerAge | None, now: datetime, limits: Limits) -> Offsets:
    unread = unread_reason(snapshot.queue.broker, broker, now, limits)
    if unread is not None:
        code = unread_code(broker, now, limits)
        return Offsets(None, None, None, None, None, None, None, None, unread, True, code=code)
    minimum, maximum = snapshot.min_offset, snapshot.broker_offset
    pulled, consumed = snapshot.pull_offset, snapshot.consumer_offset
    at_least = _distance(consumed, maximum) if snapshot.unknown_reason is None else None
    bound = broker.bound_reason(limits) if broker is not None and at_least is not None else None
    return Offsets(
        min_offset=minimum,
        broker_offset=maximum,
        pull_offset=pulled,
        consumer_offset=consumed,
        lag_messages=at_least if bound is None else None,
        in_flight=_distance(consumed, pulled),
        ready=_distance(pulled, maximum) if bound is None else None,
        expired_messages=_expired(minimum, consumed, maximum),
        reason=bound or _lag_reason(snapshot, broker),
        unread=False,
        waiting_since=snapshot.waiting_since,
        code=UnknownReason.DISPATCH_BEHIND if bound else _lag_code(snapshot),
        lag_messages_at_least=at_least,
        first_stored_us=snapshot.first_stored_us,
        first_stored_error_us=snapshot.first_stored_error_us,
    )


def unread_reason(name: str, broker: BrokerAge | None, now: datetime, limits: Limits) -> str | None:
    return coded_reason(ReasonCode.BROKER_UNLISTED, name=name) if broker is None else broker.unread_reason(now, limits)


def unread_code(broker: BrokerAge | None, now: datetime, limits: Limits) -> UnknownReason | None:
    return UnknownReason.BROKER_NOT_LISTED if broker is None else broker.unread_code(now, limits)


def _distance(lower: int | None, upper: int | None) -> int | None:
    """Null where an end is unknown, and where the ends are the wrong way round: an anomaly, not a zero."""
    return None if lower is None or upper is None or upper < lower else upper - lower


def _expired(minimum: int | None, consumed: int | None, maximum: int | None) -> int | None:
    """Returns None for an offset beyond the end of the queue: the topic was recreated, and the offset belongs to the
    earlier one."""
    if minimum is None or consumed is None or (maximum is not None and max(minimum, consumed) > maximum):
        return None
    return max(0, minimum - consumed)


def _lag_reason(snapshot: QueueSnapshot, broker: BrokerAge | None) -> str | None:
    if snapshot.unknown_reason == UnknownReason.SLAVE_BEHIND and broker is not None and broker.read_from is not None:
        return sentence(behind_words([broker.read_from], snapshot.lost_offset, snapshot.lost_at))
    reason = snapshot.unknown_reason or _lag_code(snapshot)
    return None if reason is None else reason_words(reason)


def _lag_code(snapshot: QueueSnapshot) -> UnknownReason | None:
    if snapshot.unknown_reason is not None:
        return code_of(snapshot.unknown_reason)
    if snapshot.consumer_offset is None:
        return UnknownReason.CONSUMER_OFFSET_UNREAD
    if snapshot.broker_offset is None:
        return UnknownReason.BROKER_OFFSET_UNREAD
    return UnknownReason.CONSUMER_AHEAD if snapshot.consumer_offset > snapshot.broker_offset else None


def unjudged_reason(judged: GroupState | None, now: datetime, limits: Limits) -> str | None:
    """Why no number of an evaluation of the group holds; None while those of its newest one do."""
    if judged is None:
        return str(NOT_JUDGED_YET)
    return (
        gettext("not evaluated since %(since)s") % {"since": when(judged.judged_at)}
        if is_late(judged, now, limits)
        else None
    )


def is_late(judged: GroupState, now: datetime, limits: Limits) -> bool:
    return judged.judged_at < limits.judged_since(now)


def asked_time_lag(
    sample: QueueSample | None, read: Offsets, broker: BrokerAge | None, limits: Limits
) -> TimeLag | None:
    """Returns the time lag by the store time that a broker gave for the message at this very offset, or why it gave
    none. Returns None where the broker was not asked."""
    if sample is None or broker is None or broker.last_read_at is None:
        return None
    if read.consumer_offset is None or sample.offset != read.consumer_offset:
        return None
    if sample.first_stored_at is None:
        return _no_time_lag(stored_words(sample.first_error) or gettext("the broker gave no store time"))
    seconds = seconds_between(sample.first_stored_at, broker.last_read_at)
    if seconds is None:
        return None
    return TimeLag(seconds, TimeLagKind.EXACT, limits.clock_error_seconds, None, broker.last_read_at)


def seconds_between(stored_at: datetime, read_at: datetime) -> float | None:
    """Returns None where the store time is not before the reading: the two clocks differ, and that is no lag."""
    seconds = (read_at - stored_at).total_seconds()
    return seconds if seconds > 0 else None


def time_lag(
    read: Offsets,
    state: QueueState | None,
    unjudged: str | None,
    asked: TimeLag | None,
    read_at: datetime | None = None,
    waited: float | None = None,
) -> TimeLag:
    """Returns zero exactly where the lag is zero. An evaluated zero with a lag is older than the lag: then polls have
    the time lag, if any. `waited`: how long the first message has waited at least, used while there is no valid
    evaluation."""
    if read.lag_messages == 0:
        return TimeLag(0.0, TimeLagKind.EXACT, 0.0, None, read_at)
    if not read.lag_messages_at_least:
        return _no_time_lag(read.reason or gettext("the lag is unknown"))
    if asked is not None and asked.seconds is not None:
        return asked
    if unjudged is not None and waited is not None:
        return TimeLag(waited, TimeLagKind.AT_LEAST, None, None, read_at)
    if unjudged is not None or state is None:
        return _no_time_lag(unjudged or str(NOT_JUDGED_YET))
    if state.time_lag_seconds is None:
        reason = gettext("the evaluated range does not contain the answer")
        return _no_time_lag(f"{reason}; {asked.reason}" if asked is not None else reason)
    if state.time_lag_seconds > 0:
        kind = TimeLagKind(state.time_lag_kind)
        return TimeLag(state.time_lag_seconds, kind, state.time_lag_error_seconds, None, state.judged_at)
    seconds = polled_seconds(read.first_stored_us, read_at)
    if seconds is None or read.first_stored_error_us is None:
        return _no_time_lag(coded_reason(ReasonCode.LAG_IS_YOUNG))
    return TimeLag(seconds, TimeLagKind.INTERPOLATED, read.first_stored_error_us / SECOND_US, None, read_at)


def polled_seconds(first_stored_us: int | None, read_at: datetime | None) -> float | None:
    """From the time at which the first unconsumed message was stored, as polls tell it, to the newest reading. Null
    where that time is not past: a newer reading is being recorded, or a clock was set back."""
    if first_stored_us is None or read_at is None:
        return None
    waited_us = microseconds(read_at) - first_stored_us
    return waited_us / SECOND_US if waited_us > 0 else None


def waited_seconds(read: Offsets, state: QueueState | None, judged: GroupState | None, now: datetime) -> float | None:
    """How long the message at the consumer offset has waited at least: since the first reading that had the two, and
    by what it had waited before, where it is the same message that was evaluated."""
    if not read.lag_messages_at_least or read.waiting_since is None:
        return None
    seconds = max(0.0, (now - read.waiting_since).total_seconds())
    is_same = judged is not None and read.waiting_since <= judged.judged_at
    if is_same and judged is not None and state is not None and state.time_lag_seconds:
        least = state.time_lag_seconds - (state.time_lag_error_seconds or 0.0)
        return max(seconds, least + (now - judged.judged_at).total_seconds())
    return seconds or None


def _no_time_lag(reason: str) -> TimeLag:
    return TimeLag(None, TimeLagKind.UNKNOWN, None, reason)


@dataclass(frozen=True)
class ShownState:
    """`reason` of one that is UNKNOWN by the overlay. `ground` is null while the newest evaluation is of now."""

    state: State
    reason: str | None = None
    ground: Ground | None = None


def shown_state(
    state: QueueState | None,
    judged: GroupState | None,
    broker: BrokerAge | None,
    polled: Polled,
    now: datetime,
    limits: Limits,
    *,
    is_retry: bool = False,
) -> ShownState:
    if broker is None or broker.is_silent(now, limits):
        reason = broker.unread_reason(now, limits) if broker else gettext("the broker is not listed in the cluster")
        return ShownState(State.UNKNOWN, reason)
    if judged is not None and state is not None and not is_late(judged, now, limits):
        return ShownState(State(state.state))
    if judged is None or state is None:
        if is_stopped(polled, limits.allowed_since(now)):
            return ShownState(State.STOP, None, Ground.STOPPED)
        return ShownState(State.UNKNOWN, unjudged_reason(judged, now, limits) or str(NOT_JUDGED_YET))
    times = LateTimes(judged.judged_at, limits.stands_since(now, is_retry=is_retry), limits.allowed_since(now))
    shown, ground = late_state(State(state.state), polled, times)
    why = WHY_UNKNOWN.get(ground)
    return ShownState(shown, f"{unjudged_reason(judged, now, limits)}; {why}" if why else None, ground)
