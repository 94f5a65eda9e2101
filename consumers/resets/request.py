"""The start of every reset: checks what rows can show, and leaves the plan to the general worker."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from consumers.jobs.hold import why_read_only
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
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import ResetAct

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
    if not user.has_perm(MAY_RESET):
        return why_no_role()
    if reset.status == ResetStatus.APPLYING:
        if not may_be_written(reset).exists():
            return None
        return _(
            "It is being applied, which takes a minute or two and is not broken off half-way: restore it afterwards."
        )
    if reset.status != ResetStatus.PLANNED:
        return _("Only a plan can be cancelled; this reset is %s.") % reset.get_status_display().lower()
    return None


def why_no_role() -> str:
    return _("Offset resets need the permission %s, which the roles operator and admin have.") % MAY_RESET


def why_expired() -> str:
    return _("The plan has expired: plan again.")


def may_be_written(reset: Reset) -> QuerySet[ResetQueue]:
    """Queues whose broker was told, or is being told, since the reset was last applied or resumed."""
    told = Q(step__in=(ResetStep.WRITING, ResetStep.WRITTEN, ResetStep.UNANSWERED))
    # Of a resumed reset, queues were written before.
    lately = Q() if reset.started_at is None else Q(written_at=None) | Q(written_at__gte=reset.started_at)
    was_told = Q(step=ResetStep.READ_BACK) & ~Q(method=ResetMethod.NOTHING) & lately
    return ResetQueue.objects.filter(told | was_told, reset=reset)


def resumable(reset: Reset) -> QuerySet[ResetQueue]:
    """Queues to be moved that certainly were not, or that were read back at their former offset."""
    untouched = Q(step__in=(ResetStep.FAILED, ResetStep.NOT_DONE))
    stayed = Q(step=ResetStep.READ_BACK, outcome=ResetOutcome.UNCHANGED)
    return ResetQueue.objects.filter(untouched | stayed, reset=reset, left_out=None)


def _why_not_now(reset: Reset, user: Any) -> str | None:
    if not user.has_perm(MAY_RESET):
        return why_no_role()
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
    if not user.has_perm(MAY_RESET):
        return why_no_role()
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


def _reason(said: str) -> str:
    reason = said.strip()
    if not reason:
        raise ValueRefused(_("A reset needs a reason: enter why the offsets are moved."))
    if len(reason) > LONGEST_REASON:
        raise ValueRefused(_("The reason is longer than %s characters.") % LONGEST_REASON)
    return reason


def _check_places(group: ConsumerGroup, requested: ResetRequest, value: Any) -> None:
    queues = requested.queues
    if queues is None and TARGETS[requested.kind].names_queues:
        queues = tuple(map(QueueKey.told, value))
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
