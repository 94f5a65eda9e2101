"""One group under its overlay: which verdict is shown, and why a number of it is not known."""

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from consumers.models import ConsumerGroup, GroupState, GroupTotal, Queue, QueueState, State
from consumers.polling.flags import GroupFlags, group_flags
from consumers.selectors.health.limits import health_limits
from consumers.selectors.health.rows import Health
from consumers.selectors.health.verdict import NOT_CHECKED, Findings, health
from consumers.selectors.overlay import NOT_JUDGED_YET, unjudged_reason
from consumers.selectors.retries.blocked_rows import BlockedQueue
from consumers.selectors.sentences import evidence, sentence, state_parts

from .overlay import NO_BROKER, STATES, Overlay
from .rows import IncidentCounts, WorstQueue

NOT_READ_YET = "not read yet"
# The rule that finds a queue that its owner does not move, and its numbers that a blocked queue does not tell.
BLOCKED_RULE = "blocked"
BESIDE_BLOCKED = ("expires_in_seconds",)


@dataclass(frozen=True)
class Verdict:
    """The state that is shown: the parts of its sentence, and the rule with its numbers."""

    state: State
    parts: list[str]
    rule: str
    detail: dict[str, Any]
    since: datetime | None
    queue: Queue | None = None

    @property
    def sentence(self) -> str:
        return sentence(self.parts)

    @property
    def worst(self) -> WorstQueue | None:
        """The queue that decided."""
        if self.queue is None:
            return None
        return WorstQueue(self.queue.topic.name, self.queue.broker, self.queue.queue_id, self.state, self.rule)


@dataclass(frozen=True)
class ShownGroup:
    """`group` carries the overlay's columns, `still_read` is its worst queue on a broker that is not silent.

    `pops`: whether its members say that they pop; null where none has said. `blocked`: what holds the queue that
    decided, where its member tells. `cause`: of an offset that jumped, beside the numbers of its rule. `incidents`:
    how many of it are open, or why that is not known. `findings`: what was found of it beside its state.
    """

    group: ConsumerGroup
    overlay: Overlay
    still_read: QueueState | None
    pops: bool | None
    blocked: BlockedQueue | None = None
    cause: dict[str, str] = field(default_factory=dict)
    incidents: IncidentCounts | str = "nobody has counted them"
    findings: Findings = NOT_CHECKED

    @cached_property
    def flags(self) -> GroupFlags:
        return group_flags(self.group, self.pops, self.overlay.now, self.overlay.limits.kinds)

    @property
    def health(self) -> Health:
        verdict = self.verdict
        return health(verdict.state, verdict.rule, self.findings, self.overlay.now, health_limits())

    @property
    def total(self) -> GroupTotal | None:
        return getattr(self.group, "total", None)

    @property
    def judged(self) -> GroupState | None:
        return getattr(self.group, "judged", None)

    def shown(self, name: str) -> Any:
        return getattr(self.group, f"of_{name}")

    @property
    def unread_reason(self) -> str | None:
        return self._broker_reason(self.shown("unread_by"))

    def _broker_reason(self, broker_id: int | None) -> str | None:
        if broker_id is None:
            return None
        if broker_id == NO_BROKER:
            return f"no broker of {self.group.cluster.name} is known yet"
        return self.overlay.brokers[broker_id].unread_reason(self.overlay.now, self.overlay.limits)

    @property
    def unjudged_reason(self) -> str | None:
        return unjudged_reason(self.judged, self.overlay.now, self.overlay.limits)

    @property
    def lag_reason(self) -> str | None:
        """Why the lag is null; None where it is known."""
        if self.shown("lag_messages") is not None:
            return None
        if self.unread_reason:
            return self.unread_reason
        if self.total is None:
            return NOT_READ_YET
        return self.total.unknown_reason or "a queue of it is unknown"

    @property
    def verdict(self) -> Verdict:
        state = STATES[self.shown("rank")]
        if self.unjudged_reason or self.judged is None:
            reason = self.unread_reason or self.unjudged_reason or NOT_JUDGED_YET
            since = self.judged.judged_at if self.judged else self.group.first_seen_at
            return Verdict(state, [reason], reason, {}, since)
        silent = self._broker_reason(self.shown("silent_by"))
        if silent is None:
            return self._judged_verdict(state, self.judged, self.judged.worst_queue)
        if self.still_read is None:
            return Verdict(state, [silent], silent, {}, self.shown("taken_at"))
        return self._judged_verdict(state, self.still_read, self.still_read.queue)

    def _judged_verdict(self, state: State, judged: GroupState | QueueState, queue: Queue | None) -> Verdict:
        place = place_of(queue) if queue is not None and state != State.OK else None
        detail = judged.detail | self.cause
        if self.blocked is not None:
            parts = [self.blocked.sentence, *evidence({name: detail.get(name) for name in BESIDE_BLOCKED})]
        else:
            parts = state_parts(state, judged.rule, detail, place=place)
        return Verdict(state, parts, judged.rule, detail, judged.since, queue)


def place_of(queue: Queue) -> str:
    return f"{queue.topic.name}/{queue.broker}/{queue.queue_id}"
