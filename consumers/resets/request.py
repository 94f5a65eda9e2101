"""Where every reset begins: what rows can tell is checked, and the general worker is left a plan to make."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from consumers.jobs.wires import why_read_only
from consumers.models import ConsumerGroup, GroupKind, Reset, ResetKind, ResetStatus
from consumers.resets.acts.acts import MAY_RESET, why_no_role
from consumers.resets.acts.events import note_act
from consumers.resets.targets.places import check_places
from consumers.resets.targets.value_of import ValueRefused, moment_of, value_of

from .wish import Asker, QueueKey, ResetRefused, Wish

# Which past moments a group can be brought back to.


def check_moment(cluster: str, at: datetime, now: datetime) -> None:
    """By the clock alone: what the history really holds then, the plan tells. Raises ResetRefused."""
    if at > now:
        raise ResetRefused(_("The moment is in the future: choose one that is over."))
    kept = timedelta(hours=settings.LAKE_RAW_HOURS)
    if at < now - kept:
        words = {
            "hours": f"{settings.LAKE_RAW_HOURS:g}",
            "first": f"{now - kept:%Y-%m-%d %H:%M} UTC",
            "cluster": cluster,
        }
        raise ResetRefused(
            _(
                "Offsets of %(cluster)s are kept for %(hours)s hours (CONSUMERSCOPE_LAKE_RAW_HOURS): choose a moment "
                "after %(first)s, or reset to a time, which goes by when messages were stored."
            )
            % words
        )


LONGEST_REASON = 2_000


def request_plan(cluster: str, group: str, wish: Wish, asker: Asker, now: datetime) -> Reset:
    """A reset that waits for the general worker to plan it: hand it over. Raises ResetRefused; ValueRefused, which is
    one, where `wish` is wrong in itself."""
    row = _group(cluster, group)
    if against := why_not_planned(row, asker.user):
        raise ResetRefused(against)
    reason = _reason(wish.reason)
    value = value_of(wish.kind, wish.value, now)
    restores = _restored(row, value) if wish.kind == ResetKind.RESTORE else None
    if wish.kind == ResetKind.COPY:
        _check_copied(row, value)
    if wish.kind == ResetKind.MOMENT:
        check_moment(cluster, moment_of(value), now)
    _check_places(row, wish, value)
    with transaction.atomic():
        reset = _created(row, wish, value, reason, restores, asker, now)
        note_act(reset, asker, f"Asked for a plan: {wish.kind.label.lower()}.", now)
    return reset


def why_not_planned(group: ConsumerGroup, user: Any) -> str | None:
    """Null where `user` may plan a reset of it, whatever they wish."""
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
    # Some databases take names that differ in case alone for the same.
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


def _restored(group: ConsumerGroup, reset_id: str) -> Reset:
    found = Reset.objects.filter(pk=UUID(reset_id), group=group).first()
    if found is None:
        raise ResetRefused(_("There is no reset %s of this group.") % reset_id)
    return found


def _check_places(group: ConsumerGroup, wish: Wish, value: Any) -> None:
    queues = wish.queues
    if queues is None and wish.kind == ResetKind.OFFSETS:
        queues = tuple(map(QueueKey.told, value))
    # What was then, or before, may be on brokers and of topics that are gone since: the plan tells of each queue.
    finds_its_own = wish.kind in (ResetKind.RESTORE, ResetKind.MOMENT)
    if not finds_its_own or (wish.topics, wish.brokers, queues) != (None, None, None):
        check_places(group, wish.topics, wish.brokers, queues)


def _check_copied(group: ConsumerGroup, name: str) -> None:
    if name == group.name:
        raise ResetRefused(_("A group cannot be copied from itself: name another one."))
    if name not in ConsumerGroup.objects.filter(cluster=group.cluster_id, name=name).values_list("name", flat=True):
        words = {"cluster": group.cluster.name, "group": name}
        raise ResetRefused(_("No reading of the cluster %(cluster)s has seen the group %(group)s.") % words)


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
