"""Which groups are to be looked into: those whose dead letters differ from what was seen last, the longest ago first.

Two queries, however many groups there are.
"""

from collections import defaultdict
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q

from consumers.models import Cluster, ConsumerGroup, DeadLetterLook, GroupBroker, GroupKind

from .places import Ends, kept_from
from .rules import LookRules


def due_groups(cluster: Cluster, rules: LookRules, now: datetime) -> list[ConsumerGroup]:
    """Those that could not be read last time come last, in an order that differs from run to run."""
    looks: dict[int, list[DeadLetterLook]] = defaultdict(list)
    for look in DeadLetterLook.objects.filter(group__cluster=cluster):
        looks[look.group_id].append(look)
    has_topic = Exists(GroupBroker.objects.filter(group=OuterRef("pk"), dlq_permission__isnull=False))
    has_letters = Q(total__dlq_messages__gt=0) | (Q(total__dlq_messages=None) & has_topic)
    had_look = Exists(DeadLetterLook.objects.filter(group=OuterRef("pk")))
    groups = cluster.groups.filter(has_letters | had_look, kind=GroupKind.USER).select_related("total").order_by("pk")
    due = [group for group in groups if _is_due(group, looks[group.pk], rules, now)]
    never: list[ConsumerGroup] = []
    seen: list[ConsumerGroup] = []
    failed: list[ConsumerGroup] = []
    for group in due:
        of_group = looks[group.pk]
        is_failed = any(look.error is not None for look in of_group)
        (failed if is_failed else seen if of_group else never).append(group)
    shift = int(now.timestamp()) % len(failed) if failed else 0
    seen.sort(key=lambda group: min(look.looked_at for look in looks[group.pk]))
    return [*never, *seen, *failed[shift:], *failed[:shift]]


def _is_due(group: ConsumerGroup, looks: list[DeadLetterLook], rules: LookRules, now: datetime) -> bool:
    ends = {(look.broker, look.queue_id): end for look in looks if (end := _ends(look))}
    if len(ends) < len(looks) or not looks or any(look.error is not None for look in looks):
        return True
    if now - min(look.looked_at for look in looks) >= timedelta(seconds=rules.again_seconds):
        return True
    messages = group.total.dlq_messages if hasattr(group, "total") else None
    if messages is not None and messages != sum(end.broker_offset - end.min_offset for end in ends.values()):
        return True
    low = kept_from(ends, rules.kept)
    return any(not _is_whole(look, low[look.broker, look.queue_id]) for look in looks)


def _ends(look: DeadLetterLook) -> Ends | None:
    """Null where nothing of the queue was read yet."""
    if look.min_offset is None or look.broker_offset is None or look.indexed_to is None:
        return None
    return Ends(look.min_offset, look.broker_offset)


def _is_whole(look: DeadLetterLook, low: int) -> bool:
    return look.indexed_from is not None and look.indexed_from <= low and look.indexed_to == look.broker_offset
