"""The start of every reset: checks what rows can show, and leaves the plan to the general worker."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from consumers.jobs.wires import why_read_only
from consumers.models import ConsumerGroup, GroupKind, Reset, ResetKind, ResetStatus
from consumers.resets.permission import MAY_RESET, note_act, why_no_role
from consumers.resets.targets.places import check_places
from consumers.resets.targets.reset_targets import TARGETS, restored, value_of
from consumers.resets.targets.values import ValueRefused

from .wish import Asker, QueueKey, ResetRefused, Wish

LONGEST_REASON = 2_000


def request_plan(cluster: str, group: str, wish: Wish, asker: Asker, now: datetime) -> Reset:
    """A reset that waits for the general worker to plan it: hand it over. Raises ResetRefused; or its subclass
    ValueRefused, where `wish` itself is invalid.
    """
    row = _group(cluster, group)
    if against := why_not_planned(row, asker.user):
        raise ResetRefused(against)
    reason = _reason(wish.reason)
    value = value_of(wish.kind, wish.value, now)
    TARGETS[wish.kind].check(row, value, now)
    restores = restored(row, value) if wish.kind == ResetKind.RESTORE else None
    _check_places(row, wish, value)
    with transaction.atomic():
        reset = _created(row, wish, value, reason, restores, asker, now)
        note_act(reset, asker, f"Asked for a plan: {wish.kind.label.lower()}.", now)
    return reset


def why_not_planned(group: ConsumerGroup, user: Any) -> str | None:
    """Null where `user` may plan a reset of the group, whatever the request."""
    if not user.has_perm(MAY_RESET):
        return why_no_role()
    if group.kind == GroupKind.SYSTEM:
        return _("%s is a group of RocketMQ's own: its offsets are not reset from here.") % group.name
    if against := why_read_only(group.cluster.name):
        return against
    if Reset.objects.filter(group=group, status=ResetStatus.APPLYING).exists():
        return _("Another reset of this group is being applied: wait for its end.")
    return None


def _group(cluster: str, name: str) -> ConsumerGroup:
    found = ConsumerGroup.objects.select_related("cluster").filter(cluster__name=cluster, name=name).first()
    # Some databases treat names that differ in case alone as equal.
    if found is None or found.name != name or found.cluster.name != cluster:
        words = {"cluster": cluster, "group": name}
        raise ResetRefused(_("No reading of the cluster %(cluster)s has seen the group %(group)s.") % words)
    return found


def _reason(said: str) -> str:
    reason = said.strip()
    if not reason:
        raise ValueRefused(_("A reset needs a reason: say why these offsets may be moved."))
    if len(reason) > LONGEST_REASON:
        raise ValueRefused(_("The reason is longer than %s characters: shorten it.") % LONGEST_REASON)
    return reason


def _check_places(group: ConsumerGroup, wish: Wish, value: Any) -> None:
    queues = wish.queues
    if queues is None and TARGETS[wish.kind].names_queues:
        queues = tuple(map(QueueKey.told, value))
    # What was then, or before, may be on brokers and of topics that are gone since: the plan tells of each queue.
    finds_its_own = wish.kind in (ResetKind.RESTORE, ResetKind.MOMENT)
    if not finds_its_own or (wish.topics, wish.brokers, queues) != (None, None, None):
        check_places(group, wish.topics, wish.brokers, queues)


def _created(
    group: ConsumerGroup, wish: Wish, value: Any, reason: str, restores: Reset | None, asker: Asker, now: datetime
) -> Reset:
    return Reset.objects.create(
        group=group,
        cluster_name=group.cluster.name,
        group_name=group.name,
        by=asker.user,
        by_name=asker.user.get_username(),
        reason=reason,
        kind=wish.kind,
        value=value,
        topics=None if wish.topics is None else list(wish.topics),
        brokers=None if wish.brokers is None else list(wish.brokers),
        queues=None if wish.queues is None else [_stored(key) for key in wish.queues],
        clip=wish.clip,
        restores=restores,
        status=ResetStatus.PLANNING,
        created_at=now,
    )


def _stored(key: QueueKey) -> dict[str, Any]:
    return {"topic": key.topic, "broker": key.broker, "queue_id": key.queue_id}
