"""Corrects rows whose time is in the future, after a clock was set back: one of five corrections for each column.

- set: to now. What began then has lasted "since now at least", and what waits for it waits no longer.
- void: to null. What was done then counts as never done, and is done again.
- drop: the row goes. It was derived from history, and is derived anew.
- shift: by how far the row's `created_at` lies ahead. What a person asked for lasts no longer than was asked.
- keep: another clock's time, the record of what was written then, or a time that a person chose.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Model, Q

from consumers.models import (
    AlertEngine,
    AlertRule,
    ApiToken,
    Assignment,
    AuditEvent,
    Broker,
    BrokerStatistic,
    Channel,
    Client,
    ClientSubscription,
    ClockChange,
    Cluster,
    ConsumerGroup,
    DeadLetter,
    DeadLetterLook,
    DelayLevel,
    Delivery,
    DeliveryAttempt,
    DueWindow,
    EvaluationGap,
    GroupBroker,
    GroupHealth,
    GroupNote,
    GroupState,
    GroupTotal,
    GroupWindow,
    HeadMessage,
    HistorySize,
    Incident,
    IncidentEvent,
    Lease,
    LogEvent,
    LogFile,
    LossAcknowledgement,
    MachineClock,
    MembershipGap,
    OffsetFile,
    PipelineRun,
    Queue,
    QueueSample,
    QueueSnapshot,
    QueueState,
    Reading,
    Rebalance,
    RepeatEvent,
    Resend,
    ResendItem,
    Reset,
    ResetEvent,
    ResetQueue,
    RulePreview,
    Rung,
    SavedFilter,
    SignOnAccount,
    Silence,
    StateChange,
    StoredFinding,
    TagSample,
    Topic,
)


@dataclass(frozen=True)
class Acts:
    """Names of fields, parted by spaces."""

    set: str = ""
    void: str = ""
    drop: str = ""
    shift: str = ""
    keep: str = ""

    @property
    def fields(self) -> list[str]:
        return " ".join((self.set, self.void, self.drop, self.shift, self.keep)).split()


ACTS: dict[type[Model], Acts] = {
    # What evaluates and notifies.
    AlertEngine: Acts(void="evaluated_at", set="error_at"),
    EvaluationGap: Acts(set="began_at ended_at"),
    Incident: Acts(set="started_at fired_at clearing_since resolved_at value_at unknown_since acknowledged_at"),
    IncidentEvent: Acts(keep="at"),
    AlertRule: Acts(set="changed_at"),
    GroupNote: Acts(set="changed_at"),
    Silence: Acts(shift="starts_at ends_at", set="created_at"),
    Channel: Acts(set="changed_at failing_since", void="working_at repeated_at held_until"),
    Delivery: Acts(set="created_at next_try_at sent_at"),
    DeliveryAttempt: Acts(keep="at"),
    RulePreview: Acts(keep="since until", set="created_at started_at finished_at"),
    GroupHealth: Acts(set="noted_at", void="checked_at"),
    StoredFinding: Acts(set="since last_seen_at resolved_at"),
    # What is evaluated, and the history of it.
    PipelineRun: Acts(drop="until started_at", keep="since finished_at"),
    GroupWindow: Acts(drop="start"),
    DueWindow: Acts(drop="start"),
    HistorySize: Acts(drop="measured_at"),
    StateChange: Acts(drop="at"),
    Rebalance: Acts(
        drop="started_before", set="started_after last_change_at settled_at episode_since judged_at", keep="dated_at"
    ),
    RepeatEvent: Acts(drop="started_at", set="began_after last_at judged_at"),
    QueueState: Acts(set="since judged_at"),
    GroupState: Acts(set="since dlq_day_since retry_share_since judged_at", void="last_rebalance_at usual_gap_at"),
    # What is polled.
    Reading: Acts(drop="taken_at"),
    Cluster: Acts(set="created_at", void="checked_at"),
    Broker: Acts(void="last_read_at config_at routed_at delays_at wheel_at", set="failing_since"),
    Topic: Acts(set="first_seen_at"),
    Queue: Acts(set="first_seen_at readable_since"),
    ConsumerGroup: Acts(
        set="first_seen_at moved_at offline_since members_changed_at settled_at",
        void="membership_at",
        keep="sub_version",
    ),
    GroupBroker: Acts(set="changed_at"),
    GroupTotal: Acts(set="last_good_at changed_at"),
    QueueSnapshot: Acts(set="lost_at waiting_since changed_at"),
    QueueSample: Acts(set="asked_at", keep="first_stored_at"),
    TagSample: Acts(set="asked_at"),
    BrokerStatistic: Acts(set="asked_at"),
    Client: Acts(
        set="seen_since last_seen gone_by listed_since duplicated_since",
        void="running_info_at broker_assigned_at",
        keep="started_at sub_version",
    ),
    MembershipGap: Acts(set="began_at ended_at"),
    Assignment: Acts(set="seen_since last_seen gone_by head_since", keep="last_pull_at last_consume_at last_lock_at"),
    ClientSubscription: Acts(set="seen_since last_seen gone_by"),
    HeadMessage: Acts(set="since asked_at", keep="born_at stored_at"),
    DelayLevel: Acts(set="read_at", void="sampled_at", keep="next_due_at"),
    Rung: Acts(set="sampled_at", keep="oldest_stored_at next_due_at"),
    OffsetFile: Acts(void="read_at", keep="modified_at"),
    LogFile: Acts(set="first_seen_at gone_at", void="read_at zone_agrees_at", keep="last_event_at"),
    LogEvent: Acts(keep="began_at at"),
    DeadLetter: Acts(set="seen_at", keep="born_at stored_at"),
    DeadLetterLook: Acts(set="looked_at"),
    LossAcknowledgement: Acts(set="at applied_at"),
    # What writes to brokers. A mark of life of a moment to come would keep every other worker away.
    Reset: Acts(shift="expires_at", set="created_at planned_at started_at finished_at", void="working_at"),
    ResetQueue: Acts(set="before_at written_at after_at", keep="target_time"),
    ResetEvent: Acts(keep="at"),
    Resend: Acts(shift="expires_at", set="created_at started_at finished_at", void="working_at"),
    ResendItem: Acts(set="at"),
    # Who may do what, and who did.
    ApiToken: Acts(shift="expires_at", set="created_at last_used_at"),
    AuditEvent: Acts(keep="at"),
    SavedFilter: Acts(set="created_at"),
    SignOnAccount: Acts(set="confirmed_at refused_at"),
    # A lease knows for how long it was taken: see consumers.polling.locks.
    Lease: Acts(keep="expires_at"),
    MachineClock: Acts(drop="seen_at", set="doubt_at", void="ahead_until"),
    ClockChange: Acts(set="at", keep="before"),
}


def put_right(now: datetime) -> dict[str, int]:
    """In a transaction. How many rows of each model had a time that has yet to come."""
    found: dict[str, int] = {}
    for model, acts in ACTS.items():
        count = _put_right(model, acts, now)
        if count:
            found[model._meta.label_lower.split(".")[1]] = count
    # One that was ended early must not come back.
    Silence.objects.filter(ended_by_name__isnull=False, ends_at__gt=now).update(ends_at=now)
    _put_groups_right(now)
    return found


def _put_right(model: type[Model], acts: Acts, now: datetime) -> int:
    rows = model._default_manager
    ahead = [f"{name}__gt" for name in " ".join((acts.set, acts.void, acts.drop)).split()]
    count = rows.filter(Q(*((name, now) for name in ahead), _connector=Q.OR)).count() if ahead else 0
    if not count:
        return 0
    for name in acts.drop.split():
        rows.filter(**{f"{name}__gt": now}).delete()
    if acts.shift:
        # Before `created_at` is set.
        _shift(model, acts.shift.split(), now)
    for name in acts.void.split():
        rows.filter(**{f"{name}__gt": now}).update(**{name: None})
    for name in acts.set.split():
        rows.filter(**{f"{name}__gt": now}).update(**{name: now})
    return count


def _shift(model: type[Model], names: list[str], now: datetime) -> None:
    """Of rows that were made ahead of now; those are few."""
    for row in model._default_manager.filter(created_at__gt=now):
        by = row.created_at - now  # type: ignore[attr-defined]
        for name in names:
            if (value := getattr(row, name)) is not None:
                setattr(row, name, value - by)
        row.save(update_fields=names)


def _put_groups_right(now: datetime) -> None:
    """The times in their JSON."""
    for group in ConsumerGroup.objects.exclude(unsubscribed={}, presence={}).only("unsubscribed", "presence"):
        unsubscribed = {topic: min(since, now.isoformat()) for topic, since in group.unsubscribed.items()}
        presence = {day: counts for day, counts in group.presence.items() if day <= now.date().isoformat()}
        if (unsubscribed, presence) != (group.unsubscribed, group.presence):
            ConsumerGroup.objects.filter(pk=group.pk).update(unsubscribed=unsubscribed, presence=presence)
