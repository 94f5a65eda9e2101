"""The start of every reset, and the end of each: checks what rows can show, leaves the plan to the general worker, and
ends what was applied or abandoned: plans that have expired, and requests that no worker planned.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from consumers.jobs.hold import Hold, why_read_only
from consumers.jobs.permissions import why_not
from consumers.models import (
    ConsumerGroup,
    GroupKind,
    Reset,
    ResetEvent,
    ResetKind,
    ResetMethod,
    ResetOutcome,
    ResetQueue,
    ResetStatus,
    ResetStep,
)
from consumers.resets.reset_targets import TARGETS, restored, value_of
from consumers.vocabulary.reasons import stored_reason, stored_reasons
from consumers.vocabulary.resets import ApplyReason, PlanReason, ResetAct

from .target_values import Asker, QueueKey, ResetRefused, ResetRequest, ValueRefused, check_places

# Whether an action on a reset is allowed now, and the records of actions.

MAY_RESET = "consumers.reset_offsets"
# Each running reset occupies a process of the general worker, which has other work too.
MOST_AT_ONCE = 2


def why_not_applied(reset: Reset, user: Any, now: datetime) -> str | None:
    """Null where `user` may apply the reset. Some queries; the typed name of the group is not checked here."""
    if against := _why_not_now(reset, user):
        return against
    if reset.status == ResetStatus.PLANNED and _has_expired(reset, now):
        return why_expired()
    if reset.status != ResetStatus.PLANNED:
        return _("Only a plan can be applied; this reset is %s.") % reset.get_status_display().lower()
    return _why_busy(reset)


def why_not_resumed(reset: Reset, user: Any, now: datetime) -> str | None:
    """Null where `user` may resume the reset with the queues that were not moved, to the offsets of its plan."""
    if against := _why_not_now(reset, user):
        return against
    if reset.status not in (ResetStatus.PARTIAL, ResetStatus.FAILED):
        return _("Only a reset that ended early can be resumed; this one is %s.") % reset.get_status_display().lower()
    if not resumable(reset).exists():
        return _("It has no queue left to move: queues that are not confirmed were written.")
    if _has_expired(reset, now):
        return why_expired()
    return _why_busy(reset)


def why_not_cancelled(reset: Reset, user: Any) -> str | None:
    """Null where `user` may cancel it: a plan, or a reset that is being applied before any broker was told anything."""
    if against := why_not(user, MAY_RESET, reset.cluster_name):
        return against
    if reset.status == ResetStatus.APPLYING:
        if not may_be_written(reset).exists():
            return None
        return _(
            "It is being applied, which takes a minute or two and is not broken off half-way: restore it afterwards."
        )
    if reset.status != ResetStatus.PLANNED:
        return _("Only a plan can be cancelled; this reset is %s.") % reset.get_status_display().lower()
    return None


def why_expired() -> str:
    return _("The plan has expired: plan again.")


def may_be_written(reset: Reset) -> QuerySet[ResetQueue]:
    """Returns the queues whose broker was called, or is being called, since the reset was last applied or resumed."""
    is_underway = Q(step__in=(ResetStep.WRITING, ResetStep.WRITTEN, ResetStep.UNANSWERED))
    # Of a resumed reset, queues were written before.
    lately = Q() if reset.started_at is None else Q(written_at=None) | Q(written_at__gte=reset.started_at)
    was_written = Q(step=ResetStep.READ_BACK) & ~Q(method=ResetMethod.NOTHING) & lately
    return ResetQueue.objects.filter(is_underway | was_written, reset=reset)


def resumable(reset: Reset) -> QuerySet[ResetQueue]:
    """Queues to be moved that certainly were not, or that were read back at their former offset.

    Members are told all queues of a topic at a broker at once: none where another of them may have moved.
    """
    untouched = Q(step__in=(ResetStep.FAILED, ResetStep.NOT_DONE))
    stayed = Q(step=ResetStep.READ_BACK, outcome=ResetOutcome.UNCHANGED)
    rows = ResetQueue.objects.filter(reset=reset, left_out=None)
    told_together = rows.filter(method=ResetMethod.CLIENT, topic=OuterRef("topic"), broker=OuterRef("broker"))
    may_have_moved = Q(method=ResetMethod.CLIENT) & Exists(told_together.exclude(untouched | stayed))
    return rows.filter(untouched | stayed).exclude(may_have_moved)


def _why_not_now(reset: Reset, user: Any) -> str | None:
    if against := why_not(user, MAY_RESET, reset.cluster_name):
        return against
    if against := why_read_only(reset.cluster_name):
        return against
    if settings.CONSUMERSCOPE_RESET_SECOND_PERSON and _planned_by(reset, user):
        return _("You planned it: another person has to apply it here.")
    if reset.group_id is None:
        return _("The group %s no longer exists, so nothing can be checked.") % reset.group_name
    return None


def _has_expired(reset: Reset, now: datetime) -> bool:
    return reset.expires_at is not None and reset.expires_at <= now


def _planned_by(reset: Reset, user: Any) -> bool:
    """Compared by name too: of a deleted account only the name remains."""
    return bool(reset.by_id == user.pk or reset.by_name == user.get_username())


def _why_busy(reset: Reset) -> str | None:
    applying = Reset.objects.filter(status=ResetStatus.APPLYING)
    if applying.filter(group=reset.group_id).exists():
        return _("Another reset of this group is being applied: wait until it ends.")
    if applying.count() >= MOST_AT_ONCE:
        return _("%s resets are being applied, which is the limit: wait until one ends.") % MOST_AT_ONCE
    return None


# The actions on a reset, one row each, in order of time.

WORKER = "worker"


def note_act(reset: Reset, asker: Asker, act: str, now: datetime) -> None:
    """`act`: a stored reason."""
    ResetEvent.objects.create(
        reset=reset,
        at=now,
        by_name=asker.user.get_username(),
        address=asker.address,
        via=asker.via,
        sentence=act,
    )


def note_work(reset: Reset, act: str, now: datetime) -> None:
    """Records an action of the system. `act`: a stored reason."""
    ResetEvent.objects.create(reset=reset, at=now, via=WORKER, sentence=act)


LONGEST_REASON = 2_000


def request_plan(cluster: str, group: str, requested: ResetRequest, asker: Asker, now: datetime) -> Reset:
    """A reset that waits for the general worker to plan it: hand it over. Raises ResetRefused; or its subclass
    ValueRefused, where `requested` itself is invalid.
    """
    row = _group(cluster, group)
    if against := why_not_planned(row, asker.user):
        raise ResetRefused(against)
    reason = _reason(requested.reason)
    value = value_of(requested.kind, requested.value, now)
    TARGETS[requested.kind].check(row, value, now)
    restores = restored(row, value) if requested.kind == ResetKind.RESTORE else None
    _check_places(row, requested, value)
    with transaction.atomic():
        reset = _created(row, requested, value, reason, restores, asker, now)
        note_act(reset, asker, stored_reason(ResetAct.REQUESTED, target_kind=requested.kind.value), now)
    return reset


def why_not_planned(group: ConsumerGroup, user: Any) -> str | None:
    """Null where `user` may plan a reset of the group, whatever the request."""
    if against := why_not(user, MAY_RESET, group.cluster.name):
        return against
    if group.kind == GroupKind.SYSTEM:
        return _("%s is a RocketMQ system group: its offsets cannot be reset here.") % group.name
    if against := why_read_only(group.cluster.name):
        return against
    if Reset.objects.filter(group=group, status=ResetStatus.APPLYING).exists():
        return _("Another reset of this group is being applied: wait until it ends.")
    return None


def _group(cluster: str, name: str) -> ConsumerGroup:
    found = ConsumerGroup.objects.select_related("cluster").filter(cluster__name=cluster, name=name).first()
    # Some databases treat names that differ in case alone as equal.
    if found is None or found.name != name or found.cluster.name != cluster:
        words = {"cluster": cluster, "group": name}
        raise ResetRefused(_("No poll of the cluster %(cluster)s has found the group %(group)s.") % words)
    return found


def _reason(text: str) -> str:
    reason = text.strip()
    if not reason:
        raise ValueRefused(_("A reset needs a reason: enter why the offsets are moved."))
    if len(reason) > LONGEST_REASON:
        raise ValueRefused(_("The reason is longer than %s characters.") % LONGEST_REASON)
    return reason


def _check_places(group: ConsumerGroup, requested: ResetRequest, value: Any) -> None:
    queues = requested.queues
    if queues is None and TARGETS[requested.kind].names_queues:
        queues = tuple(map(QueueKey.of_entry, value))
    # What was then, or before, may be on brokers and of topics that are gone since: the plan tells of each queue.
    finds_its_own = requested.kind in (ResetKind.RESTORE, ResetKind.MOMENT)
    if not finds_its_own or (requested.topics, requested.brokers, queues) != (None, None, None):
        check_places(group, requested.topics, requested.brokers, queues)


def _created(
    group: ConsumerGroup,
    requested: ResetRequest,
    value: Any,
    reason: str,
    restores: Reset | None,
    asker: Asker,
    now: datetime,
) -> Reset:
    return Reset.objects.create(
        group=group,
        cluster_name=group.cluster.name,
        group_name=group.name,
        by=asker.user,
        by_name=asker.user.get_username(),
        reason=reason,
        kind=requested.kind,
        value=value,
        topics=None if requested.topics is None else list(requested.topics),
        brokers=None if requested.brokers is None else list(requested.brokers),
        queues=None if requested.queues is None else [_stored(key) for key in requested.queues],
        clip=requested.clip,
        restores=restores,
        status=ResetStatus.PLANNING,
        created_at=now,
    )


def _stored(key: QueueKey) -> dict[str, Any]:
    return {"topic": key.topic, "broker": key.broker, "queue_id": key.queue_id}


# Ends a reset that is being applied: unfinished queues are marked, and the row records the result.

# Queues with one of these outcomes were certainly not moved.
UNTOUCHED = {ResetOutcome.UNCHANGED.value, ResetStep.FAILED.value, ResetStep.NOT_DONE.value}


def finish(hold: Hold, reason: str | None, now: datetime) -> ResetStatus:
    """`reason`: why it ends early, as it is stored; null where it completed. Raises NotHeld."""
    with transaction.atomic():
        hold.renew(now)
        reset = Reset.objects.get(pk=hold.pk)
        rows = ResetQueue.objects.filter(reset=reset, left_out=None)
        rows.filter(step=ResetStep.PLANNED).update(step=ResetStep.NOT_DONE, error=reason)
        counts = _counts(rows)
        reset.status, reset.finished_at = status_of(counts), now
        reset.error = reason or why_incomplete(counts)
        reset.save(update_fields=["status", "finished_at", "error"])
        note_work(reset, stored_reasons([ended(counts), *filter(None, [reason])]), now)
    return ResetStatus(reset.status)


def end_unsent(reset: Reset, status: ResetStatus, reason: str, now: datetime) -> None:
    """Call it within a transaction. `status`: for a reset that no broker was ever told of; a resumed one ends as it had
    ended before.
    """
    rows = ResetQueue.objects.filter(reset=reset, left_out=None)
    was_told = rows.exclude(outcome=None).exists()
    rows.filter(step=ResetStep.PLANNED).update(step=ResetStep.NOT_DONE, error=reason)
    reset.status, reset.finished_at, reset.error = status_of(_counts(rows)) if was_told else status, now, reason
    reset.save(update_fields=["status", "finished_at", "error"])


def status_of(counts: Mapping[str, int]) -> ResetStatus:
    """`counts` of the queues that were to move, by outcome, or by step where there is none."""
    if set(counts) <= {ResetOutcome.CONFIRMED.value}:
        return ResetStatus.APPLIED
    return ResetStatus.FAILED if set(counts) <= UNTOUCHED else ResetStatus.PARTIAL


def why_incomplete(counts: Mapping[str, int]) -> str | None:
    """Null where every queue is confirmed."""
    others = {name: count for name, count in counts.items() if name != ResetOutcome.CONFIRMED}
    if not others:
        return None
    values = {"others": sum(others.values()), "all_queues": sum(counts.values())}
    return stored_reason(ApplyReason.NOT_CONFIRMED, **values, queue_outcomes=others)


def ended(counts: Mapping[str, int]) -> str:
    if not counts:
        return stored_reason(ResetAct.ENDED_WITHOUT_QUEUES)
    return stored_reason(ResetAct.ENDED, queue_outcomes=counts)


def _counts(rows: QuerySet[ResetQueue]) -> dict[str, int]:
    stood_there = rows.filter(method=ResetMethod.NOTHING, outcome=ResetOutcome.CONFIRMED)
    moving = rows.exclude(pk__in=stood_there.values("pk"))
    counted = moving.order_by().values_list("outcome", "step").annotate(Count("pk"))
    counts: dict[str, int] = {}
    for outcome, step, count in counted:
        name = outcome or step
        counts[name] = counts.get(name, 0) + count
    return counts


PLANNED_WITHIN = timedelta(seconds=60)
# A reset to be applied that no worker took up for so long is not applied any more.
TAKEN_UP_WITHIN = timedelta(minutes=5)
NOT_TAKEN_UP = stored_reason(ApplyReason.NOT_TAKEN_UP_IN_TIME)
NOT_PLANNED = stored_reason(PlanReason.NOT_PLANNED_IN_TIME)


def expire(now: datetime) -> int:
    """Ends expired plans. Returns how many there were."""
    void = Reset.objects.filter(status=ResetStatus.PLANNED, expires_at__lte=now)
    return sum(_close(reset, ResetStatus.EXPIRED, None, stored_reason(ResetAct.PLAN_EXPIRED), now) for reset in void)


def refuse_forgotten(now: datetime) -> int:
    """Refuses requests that no worker has worked on for a minute. Returns how many there were."""
    long_ago = now - PLANNED_WITHIN
    silent = Q(working_at=None, created_at__lt=long_ago) | Q(working_at__lt=long_ago)
    forgotten = Reset.objects.filter(silent, status=ResetStatus.PLANNING)
    return sum(_close(reset, ResetStatus.REFUSED, NOT_PLANNED, NOT_PLANNED, now) for reset in forgotten)


def refuse_unplanned(reset_id: UUID, reason: str, now: datetime) -> None:
    """Refuses a request that no worker can plan, for a stored reason. Does nothing where it is planned by now."""
    for reset in _planning(reset_id):
        _close(reset, ResetStatus.REFUSED, reason, reason, now)


def expire_untaken(now: datetime) -> int:
    """Ends resets to be applied that no worker took up: they would move long outdated offsets once a worker is back.

    Returns how many there were.
    """
    ended = 0
    for reset_id in _untaken(now).values_list("pk", flat=True):
        with transaction.atomic():
            # Checked again under the lock: a worker may take it up at this time.
            reset = _untaken(now).select_for_update().filter(pk=reset_id).first()
            if reset is None or may_be_written(reset).exists():
                continue
            end_unsent(reset, ResetStatus.EXPIRED, NOT_TAKEN_UP, now)
            note_work(reset, NOT_TAKEN_UP, now)
            ended += 1
    return ended


def _untaken(now: datetime) -> QuerySet[Reset]:
    return Reset.objects.filter(status=ResetStatus.APPLYING, working_at=None, started_at__lt=now - TAKEN_UP_WITHIN)


def _planning(reset_id: UUID) -> QuerySet[Reset]:
    return Reset.objects.filter(pk=reset_id, status=ResetStatus.PLANNING)


def _close(reset: Reset, status: ResetStatus, error: str | None, sentence: str, now: datetime) -> bool:
    """False where the reset was continued meanwhile."""
    with transaction.atomic():
        same = Reset.objects.filter(pk=reset.pk, status=reset.status)
        if not same.update(status=status, error=error, finished_at=now):
            return False
        note_work(reset, sentence, now)
    return True
