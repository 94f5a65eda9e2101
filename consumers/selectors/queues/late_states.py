"""The state of one queue while evaluations are late: the last one stays until what was polled since contradicts it.

Pure, as a table in docs/judging.md. The same for lists of groups, in SQL: groups/late_queues.py.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.utils.translation import gettext_lazy

from consumers.models import State
from consumers.vocabulary.unknown import NO_LAG_REASONS

# Over as soon as nothing waits. Messages that were lost stay lost.
ENDED_BY_NO_LAG = (State.STOP, State.STALL, State.REWIND, State.WARN)
# Say that the offset stands.
STANDING = (State.STOP, State.STALL)
# Say that all is well, and hold no longer than the offset moves.
CALM = (State.OK, State.RECREATED)


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
    Ground.STANDS: gettext_lazy("messages wait, and the offset does not move"),
    Ground.LAG_UNKNOWN: gettext_lazy("the lag is not known"),
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
    """`stands_since`: an offset with a lag that has not moved since then stands. `allowed_since`: messages that wait
    since a later time are within the threshold, whoever is there to consume them."""

    evaluated_at: datetime
    stands_since: datetime
    allowed_since: datetime


def late_state(state: State, polled: Polled, times: LateTimes) -> tuple[State, Ground]:
    if state == State.LOSS:
        return state, Ground.KEPT
    if is_stopped(polled, times.allowed_since):
        return State.STOP, Ground.STOPPED
    if state in ENDED_BY_NO_LAG:
        return _of_bad(state, polled, times.evaluated_at)
    return _of_calm(state, polled, times.stands_since) if state in CALM else (state, Ground.KEPT)


def is_stopped(polled: Polled, allowed_since: datetime) -> bool:
    """Nobody is there to consume what waits in the queue. No evaluation is needed for that."""
    waits = polled.waiting_since is None or polled.waiting_since <= allowed_since
    return polled.is_stopped and bool(polled.lag_messages) and waits


def _of_bad(state: State, polled: Polled, evaluated_at: datetime) -> tuple[State, Ground]:
    if polled.lag_messages == 0:
        return State.OK, Ground.CAUGHT_UP
    if state == State.STOP and polled.online:
        return State.UNKNOWN, Ground.MEMBERS_BACK
    if state in STANDING and polled.waiting_since is not None and polled.waiting_since > evaluated_at:
        return State.UNKNOWN, Ground.MOVED
    return state, Ground.KEPT


def _of_calm(state: State, polled: Polled, stands_since: datetime) -> tuple[State, Ground]:
    if polled.lag_messages == 0 or polled.is_excused or polled.no_lag_reason in NO_LAG_REASONS:
        return state, Ground.KEPT
    if polled.lag_messages is None:
        return State.UNKNOWN, Ground.LAG_UNKNOWN
    if polled.waiting_since is None or polled.waiting_since < stands_since:
        return State.UNKNOWN, Ground.STANDS
    return state, Ground.KEPT
