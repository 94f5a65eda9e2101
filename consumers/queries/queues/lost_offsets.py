"""Committed offsets that are missing on their brokers: by broker, group and queue."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from datetime import datetime

from django.db.models import QuerySet
from django.utils.translation import gettext, gettext_lazy, ngettext

from consumers.models import GroupKind, GroupTotal, Queue, QueueSnapshot
from consumers.stores.start import Start
from consumers.vocabulary.states import UnknownReason
from consumers.words.marks import labelled, listed
from consumers.words.reasons import reason_words, stored_words
from consumers.words.spans import count, messages, when


# Committed offsets that are gone from their brokers: by broker for what tells of many groups at once, and by group.
@dataclass
class BrokerLoss:
    """What one broker has no more. `lost_at`: the last reading that had the first of them; null: not known.

    `groups`: names by id, in their order. `from_slave`: the slave that was read in the place of its master.
    """

    cluster_id: int
    cluster: str
    broker: str
    queues: int = 0
    lost_at: datetime | None = None
    groups: dict[int, str] = field(default_factory=dict)
    from_slave: str | None = None


@dataclass
class GroupLoss:
    """Of one group. `worst`: the queue that is named for all, the one that was lost first."""

    queues: int
    worst: Queue
    lost_offset: int | None
    lost_at: datetime | None
    brokers: list[str]
    from_slaves: list[str] = field(default_factory=list)


def _losing() -> QuerySet[GroupTotal]:
    return GroupTotal.objects.filter(lost_queues__gt=0)


def lost_snapshots(groups: Iterable[int] | None = None) -> QuerySet[QueueSnapshot]:
    """Found by way of the sums of groups: a million snapshots have no index of their reasons."""
    losing = _losing() if groups is None else _losing().filter(group__in=list(groups))
    return QueueSnapshot.objects.filter(group__in=losing.values("group"), unknown_reason=UnknownReason.OFFSET_LOST)


def broker_losses(slaves: dict[tuple[int, str], str], cluster: str | None = None) -> list[BrokerLoss]:
    """Of user groups, ghosts among them: nobody took note of theirs either. The broker with the most queues first.

    `slaves`: by the cluster's id and the broker's name, which slave is read in its place. Two queries at most.
    """
    if not _losing().exists():
        return []
    rows = lost_snapshots().filter(group__kind=GroupKind.USER)
    if cluster is not None:
        rows = rows.filter(group__cluster__name=cluster)
    names = ("group__cluster_id", "group__cluster__name", "queue__broker", "group_id", "group__name", "lost_at")
    found: dict[tuple[int, str], BrokerLoss] = {}
    for cluster_id, of_cluster, broker, group_id, group, lost_at in rows.order_by("group__name").values_list(*names):
        key = (cluster_id, broker)
        loss = found.setdefault(key, BrokerLoss(cluster_id, of_cluster, broker, from_slave=slaves.get(key)))
        loss.queues += 1
        loss.groups[group_id] = group
        loss.lost_at = min((at for at in (loss.lost_at, lost_at) if at is not None), default=None)
    return sorted(found.values(), key=lambda loss: (-loss.queues, loss.cluster, loss.broker))


def group_losses(groups: Iterable[int], slaves: dict[tuple[int, str], str]) -> dict[int, GroupLoss]:
    """By the group's id. One query."""
    found: dict[int, GroupLoss] = {}
    rows = lost_snapshots(groups).select_related("queue__topic")
    for row in rows.order_by("lost_at", "queue__topic__name", "queue__broker", "queue__queue_id"):
        loss = found.setdefault(row.group_id, GroupLoss(0, row.queue, row.lost_offset, row.lost_at, []))
        loss.queues += 1
        if row.queue.broker not in loss.brokers:
            loss.brokers.append(row.queue.broker)
            slave = slaves.get((row.queue.topic.cluster_id, row.queue.broker))
            loss.from_slaves += [slave] if slave is not None else []
    return found


def group_loss_parts(loss: GroupLoss, queues: int) -> list[str]:
    """`offset lost: 4 of 8 queues on broker-a`, `last read 2026-03-14 02:59 UTC`; `queues`: of the group in all."""
    words = {"lost": count(loss.queues), "queues": count(queues), "brokers": ", ".join(loss.brokers)}
    parts = [gettext("offset lost: %(lost)s of %(queues)s queues on %(brokers)s") % words]
    return [*parts, *last_read(loss.lost_at), *(seen_on(slave) for slave in loss.from_slaves)]


def broker_loss_words(loss: BrokerLoss) -> str:
    """`broker-a lost the offsets of 3 groups, 32 queues`."""
    groups = ngettext("%s group", "%s groups", len(loss.groups)) % count(len(loss.groups))
    queues = ngettext("%s queue", "%s queues", loss.queues) % count(loss.queues)
    words = {"broker": loss.broker, "groups": groups, "queues": queues}
    return gettext("%(broker)s lost the offsets of %(groups)s, %(queues)s") % words


def last_read(lost_at: datetime | None) -> list[str]:
    return [] if lost_at is None else [gettext("last read %s") % when(lost_at)]


def seen_on(slave: str) -> str:
    return gettext("slave %s is read in its master's place") % slave


def behind_words(slaves: Iterable[str], known: int | None = None, at: datetime | None = None) -> list[str]:
    """`the slave that was read has not caught up …: 10.0.0.9:10911`, `last known offset 8`, `last read …`."""
    reason = reason_words(UnknownReason.SLAVE_BEHIND)
    parts = [labelled(reason, listed(names)) if (names := sorted(set(slaves))) else reason]
    return parts if known is None else [*parts, gettext("last known offset %s") % count(known), *last_read(at)]


# One queue whose committed offset is gone from its broker: what is still known, and what a start there would do.
NOT_LOST = gettext_lazy("the queue has no lost offset")

NOT_KNOWN_BEFORE = gettext_lazy("the last known offset is unknown")


@dataclass(frozen=True)
class QueueLoss:
    """Null where the offset is not lost, or not known. `start_reason`: why `would_start_at` is null; null
    where the offset is not lost."""

    lost_offset: int | None = None
    lost_at: datetime | None = None
    would_start_at: int | None = None
    would_start_rule: str | None = None
    start_reason: str | None = None

    @property
    def would_skip_messages(self) -> int | None:
        return self._apart(1)

    @property
    def would_redeliver_messages(self) -> int | None:
        return self._apart(-1)

    def _apart(self, direction: int) -> int | None:
        if self.would_start_at is None or self.lost_offset is None:
            return None
        return max(0, direction * (self.would_start_at - self.lost_offset))

    @property
    def values(self) -> dict[str, int | str | datetime | None]:
        known = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "start_reason"}
        return known | {name: getattr(self, name) for name in ("would_skip_messages", "would_redeliver_messages")}

    @property
    def reasons(self) -> dict[str, str]:
        """Why each would be null."""
        why = str(NOT_LOST if self.start_reason is None else NOT_KNOWN_BEFORE)
        start = self.start_reason or str(NOT_LOST)
        apart = start if self.would_start_at is None else why
        return {
            **dict.fromkeys(("lost_offset", "lost_at"), why),
            **dict.fromkeys(("would_start_at", "would_start_rule"), start),
            **dict.fromkeys(("would_skip_messages", "would_redeliver_messages"), apart),
        }

    def sentence(self, slave: str | None) -> list[str]:
        """`offset lost`, `last known offset 7`, `last read …`, `a member would start at 10 (…)`, `skips 3 messages`."""
        parts = [gettext("offset lost")]
        if self.lost_offset is not None:
            parts.append(gettext("last known offset %s") % count(self.lost_offset))
        parts += last_read(self.lost_at)
        if self.would_start_at is None:
            parts.append(gettext("the start offset of a member is unknown: %s") % self.start_reason)
        else:
            words = {"offset": count(self.would_start_at), "rule": self.would_start_rule}
            parts.append(gettext("a member would start at %(offset)s (%(rule)s)") % words)
            parts += self._difference()
        return [*parts, *([seen_on(slave)] if slave is not None else [])]

    def _difference(self) -> list[str]:
        skipped, redelivered = self.would_skip_messages, self.would_redeliver_messages
        if skipped:
            return [gettext("skips %s") % messages(skipped)]
        if redelivered:
            return [gettext("redelivers %s") % messages(redelivered)]
        return [gettext("skips and redelivers nothing")] if skipped == 0 else []


NO_LOSS = QueueLoss()


def is_lost(snapshot: QueueSnapshot) -> bool:
    return snapshot.unknown_reason == UnknownReason.OFFSET_LOST


def queue_loss(snapshot: QueueSnapshot, start: Start | None) -> QueueLoss:
    """`start`: where a member would start, of a queue that is lost; None: not known to anybody."""
    if is_lost(snapshot):
        found = start or Start(None, "", gettext("the broker is not read"))
        return QueueLoss(
            snapshot.lost_offset,
            snapshot.lost_at,
            found.offset,
            stored_words(found.rule) or None,
            stored_words(found.reason) or str(NOT_KNOWN_BEFORE),
        )
    if snapshot.unknown_reason == UnknownReason.NEVER_COMMITTED and snapshot.lost_offset is not None:
        return QueueLoss(snapshot.lost_offset, snapshot.lost_at, start_reason=str(ACKNOWLEDGED))
    return NO_LOSS


ACKNOWLEDGED = gettext_lazy("the loss was acknowledged: see offsets/ for where a member would start")


def acknowledged_words(snapshot: QueueSnapshot) -> list[str]:
    """What a queue that counts as never committed once had."""
    if snapshot.unknown_reason != UnknownReason.NEVER_COMMITTED or snapshot.lost_offset is None:
        return []
    return [gettext("offset %s was lost, acknowledged") % count(snapshot.lost_offset), *last_read(snapshot.lost_at)]
