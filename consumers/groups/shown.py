"""One group under its overlay: the shown state, and why numbers of the group are unknown."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

from django.utils.translation import gettext, gettext as _

from consumers.models import ConsumerGroup, GroupState, GroupTotal, Queue, QueueState, State
from consumers.polling.flags import GroupFlags, group_flags, outside_reason
from consumers.queries.groups import without_members
from consumers.queries.limits import BrokerAge, Limits
from consumers.queries.queues.lost_offsets import GroupLoss, group_loss_parts
from consumers.queries.queues.overlay import ALL_WELL, NOT_JUDGED_YET, is_late, unjudged_reason
from consumers.queries.sentences import evidence, queue_words, sentence, state_parts
from consumers.retries.blocked_rows import BlockedQueue
from consumers.vocabulary.reasons import ReasonCode
from consumers.vocabulary.states import RuleCode, UnknownReason, code_of
from consumers.words.reasons import coded_reason, lazy_reason, membership_reason, reason_words, stored_words
from consumers.words.states import rule_words

from .health import NOT_CHECKED, Findings, Health, health, health_limits
from .overlay import NO_BROKER, OF_MEMBERS, STATES, Overlay
from .rows import JUDGED, TOTAL, IncidentCounts, WorstQueue, stored_in

# Why a number of a group is not known, as one word of a short list: for labels, which hold no times or errors.


# The sentences with broker, error and time are on pages and in REST.
class UnknownWord(StrEnum):
    NO_BROKER = "no_broker"
    BROKER_UNREACHABLE = "broker_unreachable"
    BROKER_NEVER_READ = "broker_never_read"
    BROKER_LATE = "broker_late"
    DISPATCH_BEHIND = "dispatch_behind"
    NOT_READ = "not_read"
    NO_OFFSETS = "no_offsets"
    RETIRED_ONLY = "retired_only"
    OUTSIDE_STORE = "outside_store"
    NEVER_COMMITTED = "never_committed"
    OFFSET_LOST = "offset_lost"
    TOPIC_GONE = "topic_gone"
    QUEUE_GONE = "queue_gone"
    CONSUMER_AHEAD = "consumer_ahead"
    NO_BROKER_OFFSET = "no_broker_offset"
    NOT_REPORTED = "not_reported"
    SLAVE_BEHIND = "slave_behind"
    QUEUE_UNKNOWN = "queue_unknown"
    NOT_JUDGED = "not_judged"
    JUDGEMENT_LATE = "judgement_late"
    TIME_LAG_UNKNOWN = "time_lag_unknown"
    TIME_LAG_AT_LEAST = "time_lag_at_least"
    RETRY_SHARE_UNKNOWN = "retry_share_unknown"
    DLQ_DAY_UNKNOWN = "dlq_day_unknown"
    RATES_UNKNOWN = "rates_unknown"
    VOLUMES_UNKNOWN = "volumes_unknown"
    DRAIN_UNKNOWN = "drain_unknown"
    EXPIRY_UNKNOWN = "expiry_unknown"
    EXPIRY_FORECAST_UNKNOWN = "expiry_forecast_unknown"
    EXPIRY_FORECAST_PARTIAL = "expiry_forecast_partial"
    DLQ_INFLOW_UNKNOWN = "dlq_inflow_unknown"
    UNSETTLED_UNKNOWN = "unsettled_unknown"
    OWNERS_UNKNOWN = "owners_unknown"
    HELD_MESSAGES_UNKNOWN = "held_messages_unknown"
    MEMBERS_NOT_ASKED = "members_not_asked"
    MEMBERS_UNREAD = "members_unread"
    PARTLY_WATCHED = "partly_watched"
    DEAD_LETTERS_UNREAD = "dead_letters_unread"
    MIN_OFFSETS_UNREAD = "min_offsets_unread"
    CLUSTER_NAME_UNREAD = "cluster_name_unread"
    NAME_SERVER_NOT_ASKED = "name_server_not_asked"
    READINGS_NOT_KEPT = "readings_not_kept"


# Codes of both have the same names.
OF_TOTAL = frozenset(UnknownReason) & frozenset(UnknownWord)


def broker_word(broker: BrokerAge, now: datetime, limits: Limits) -> UnknownWord | None:
    """None while the broker's newest reading succeeded and is recent enough."""
    code = broker.unread_code(now, limits)
    return None if code is None else UnknownWord(code)


def unread_word(overlay: Overlay, unread_by: int | None) -> UnknownWord | None:
    """For a group's `unread_by`; None where everything of the group is read."""
    if unread_by is None:
        return None
    if unread_by == NO_BROKER:
        return UnknownWord.NO_BROKER
    return broker_word(overlay.brokers[unread_by], overlay.now, overlay.limits)


def lag_word(has_total: bool, unknown_reason: str | None, outside_store: str | None) -> UnknownWord:
    """Why a group that is read has no lag."""
    if not has_total:
        return UnknownWord.NOT_READ
    if outside_store is not None:
        return UnknownWord.OUTSIDE_STORE
    code = code_of(unknown_reason)
    return UnknownWord(code) if code in OF_TOTAL else UnknownWord.QUEUE_UNKNOWN


NOT_READ_YET = lazy_reason(ReasonCode.NOT_READ_YET)
# The numbers of the rule "blocked" that a blocked queue does not have.
BESIDE_BLOCKED = ("expires_in_seconds",)


@dataclass(frozen=True)
class StateReport:
    """The state that is shown: the parts of its sentence, and the code of the rule with its numbers. Without a rule the
    sentence is the reason. `stale`: evaluations are late or a broker is not read, and the state is the last one.
    `is_named`: the first part names the rule.
    """

    state: State
    parts: list[str]
    rule: str | None
    detail: dict[str, Any]
    since: datetime | None
    queue: Queue | None = None
    stale: bool = False
    is_named: bool = False

    @property
    def sentence(self) -> str:
        return sentence(self.parts)

    @property
    def rule_words(self) -> str:
        return self.sentence if self.rule is None else rule_words(self.rule)

    @property
    def worst(self) -> WorstQueue | None:
        """The queue that decided."""
        if self.queue is None or self.rule is None:
            return None
        place = self.queue.topic.name, self.queue.broker, self.queue.queue_id
        return WorstQueue(*place, self.state, self.rule_words, self.rule)


@dataclass(frozen=True)
class ShownGroup:
    """`group` carries the overlay's columns, `still_read` is its worst queue on a broker that is not silent, where one
    is or its evaluation is late.

    `pops`: whether its members say that they pop; null where none has said. `blocked`: what holds the queue that
    decided, where its member tells. `cause`: of an offset that jumped, beside the numbers of its rule. `incidents`:
    how many of it are open, or why that is not known. `loss`: of its offsets, those that are gone from their brokers.
    `findings`: what was found of it beside its state.
    """

    group: ConsumerGroup
    overlay: Overlay
    still_read: QueueState | None
    pops: bool | None
    blocked: BlockedQueue | None = None
    cause: dict[str, str] = field(default_factory=dict)
    incidents: IncidentCounts | str = field(default_factory=lambda: gettext("incidents were not counted"))
    loss: GroupLoss | None = None
    findings: Findings = NOT_CHECKED

    @cached_property
    def flags(self) -> GroupFlags:
        return group_flags(self.group, self.pops, self.overlay.now, self.overlay.limits.kinds)

    @cached_property
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
        """Returns a column of the overlay. Columns that are shown as they are stored are null for a group that is not
        read completely, was evaluated too long ago, or whose members were listed too long ago."""
        if hasattr(self.group, f"of_{name}"):
            return getattr(self.group, f"of_{name}")
        if self.shown("unread_by") is not None:
            return None
        if name in stored_in(JUDGED):
            return None if self.judged is None or self.is_late else getattr(self.judged, name)
        if name in OF_MEMBERS and (self.group.membership_at is None or self._too_old):
            return None
        return getattr(self.total if name in stored_in(TOTAL) else self.group, name, None)

    @cached_property
    def members_reason(self) -> str:
        """Why its members are unknown, where they are."""
        return self.unread_reason or membership_reason(self.group.membership_error, self._too_old)

    @property
    def _too_old(self) -> datetime | None:
        return self.overlay.too_old(self.group.membership_at)

    @cached_property
    def unread_reason(self) -> str | None:
        return self._broker_reason(self.shown("unread_by"))

    def _broker_reason(self, broker_id: int | None) -> str | None:
        if broker_id is None:
            return None
        if broker_id == NO_BROKER:
            return gettext("no broker of %(cluster)s is known yet") % {"cluster": self.group.cluster.name}
        return self.overlay.brokers[broker_id].unread_reason(self.overlay.now, self.overlay.limits)

    @cached_property
    def unjudged_reason(self) -> str | None:
        return unjudged_reason(self.judged, self.overlay.now, self.overlay.limits)

    @cached_property
    def lag_reason(self) -> str | None:
        """Why the lag is null; None where it is known."""
        if self.shown("lag_messages") is not None:
            return None
        if self.unread_reason:
            return self.unread_reason
        if self.total is None:
            return str(NOT_READ_YET)
        if (outside := stored_words(outside_reason(self.group))) is not None:
            return outside
        slaves = self.overlay.slaves_of(self.group.cluster_id)
        return queues_reason(self.total.unknown_reason, self.total.lost_queues, slaves)

    @cached_property
    def lag_code(self) -> UnknownReason | None:
        if self.shown("lag_messages") is not None:
            return None
        unread = unread_word(self.overlay, self.shown("unread_by"))
        stored = self.total.unknown_reason if self.total is not None else None
        return UnknownReason(unread or lag_word(self.total is not None, stored, self.group.outside_store))

    @cached_property
    def is_late(self) -> bool:
        return self.judged is not None and is_late(self.judged, self.overlay.now, self.overlay.limits)

    @cached_property
    def verdict(self) -> StateReport:
        state = STATES[self.shown("rank")]
        if state == State.LOSS and self.loss is not None:
            return self._loss_report(self.loss)
        if self.judged is None:
            return self._never_judged(state)
        silent = self._broker_reason(self.shown("silent_by"))
        if silent is not None and (self.still_read is None or state == State.UNKNOWN):
            return StateReport(state, [silent], None, {}, self.shown("taken_at"))
        if self.is_late:
            return self._late_report(state, self.judged)
        if silent is None or self.still_read is None:
            report = self._judged_report(state, self.judged, self.judged.worst_queue)
            return replace(report, stale=self.unread_reason is not None)
        return self._judged_report(state, self.still_read, self.still_read.queue)

    def _never_judged(self, state: State) -> StateReport:
        if state == State.STOP:
            return self._stopped_report()
        reason = self.unread_reason or str(NOT_JUDGED_YET)
        return StateReport(state, [reason], None, {}, self.group.first_seen_at)

    def _late_report(self, state: State, judged: GroupState) -> StateReport:
        """The last state that is still valid, of the group or of its present worst queue; otherwise what rows say."""
        worst = self.still_read
        if state == State.STOP and self.group.pk in self.overlay.live.stopped:
            return self._stopped_report()
        if state == judged.state and (worst is None or worst.state == state):
            return replace(self._judged_report(state, judged, judged.worst_queue), stale=True)
        if worst is not None and worst.state == state:
            return replace(self._judged_report(state, worst, worst.queue), stale=True)
        if state == State.OK:
            return self._caught_up_report()
        why = _("the lag has not decreased since")
        if judged.state not in ALL_WELL:
            why = _("offsets have moved, or members are back, since")
        reason = f"{self.unread_reason or self.unjudged_reason}; {why}"
        return StateReport(state, [reason], None, {}, judged.judged_at)

    def _stopped_report(self) -> StateReport:
        """From the answers of brokers: no evaluation is needed."""
        since = self.overlay.live.stopped.get(self.group.pk)
        detail = {"lag_messages": self.shown("lag_messages")}
        if since is not None:
            detail["without_members_seconds"] = (self.overlay.now - since).total_seconds()
        return _of_rule(State.STOP, RuleCode.NO_MEMBERS, detail, since)

    def _caught_up_report(self) -> StateReport:
        detail = {"lag_messages": self.shown("lag_messages")}
        since = self.total.changed_at if self.total is not None else None
        return _of_rule(State.OK, RuleCode.CAUGHT_UP, detail, since)

    def _loss_report(self, loss: GroupLoss) -> StateReport:
        detail: dict[str, Any] = {"lost_queues": loss.queues, "lost_offset": loss.lost_offset, "brokers": loss.brokers}
        detail |= {"lost_at": loss.lost_at.isoformat() if loss.lost_at else None}
        parts = group_loss_parts(loss, self.total.queues if self.total else loss.queues)
        return StateReport(State.LOSS, parts, RuleCode.OFFSET_LOST, detail, loss.lost_at, loss.worst)

    def _judged_report(self, state: State, judged: GroupState | QueueState, queue: Queue | None) -> StateReport:
        detail = judged.detail | self.cause
        if judged.rule == RuleCode.NO_MEMBERS:
            detail |= without_members(self.group)
        if self.blocked is not None:
            parts = [self.blocked.sentence, *evidence({name: detail.get(name) for name in BESIDE_BLOCKED})]
            return StateReport(state, parts, judged.rule, detail, judged.since, queue)
        return _of_rule(state, judged.rule, detail, judged.since, queue)


def _of_rule(
    state: State, rule: str, detail: dict[str, Any], since: datetime | None, queue: Queue | None = None
) -> StateReport:
    place = queue_words(queue.topic.name, queue.broker, queue.queue_id) if queue is not None else None
    parts = state_parts(state, rule, detail, place=place)
    return StateReport(state, parts, rule, detail, since, queue, is_named=True)


def queues_reason(reason: str | None, lost_queues: int | None, slaves: list[str]) -> str:
    """The words of a stored `reason`. Where offsets are lost they say how many queues, and name slaves that do not know
    them.
    """
    if reason == UnknownReason.SLAVE_BEHIND:
        why = reason_words(reason)
        return coded_reason(ReasonCode.BEHIND_SLAVES, why=why, slaves=sorted(set(slaves))) if slaves else why
    if reason is not None and code_of(reason) == UnknownReason.DISPATCH_BEHIND:
        return stored_words(reason)
    why = reason_words(reason or UnknownReason.QUEUE_UNKNOWN)
    if reason != UnknownReason.OFFSET_LOST or not lost_queues:
        return why
    return coded_reason(ReasonCode.LOST_IN_QUEUES, why=why, lost_queues=lost_queues)
