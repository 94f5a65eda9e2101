"""The overlay of groups, in SQL, so that lists are filtered, ordered and paged by the shown values.

A group with queues on a broker that is not read has no numbers. On a silent broker it is UNKNOWN, except where a queue
that is still read has a worse state. Numbers that were evaluated too long ago are unknown; the state stays until newer
poll results contradict it (late_queues.py), or until the lag has grown by more than is produced within the threshold.
For the rules of queues, see queries/queues/overlay.py.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Concat, Least
from django.db.models.lookups import GreaterThan

from consumers.models import ConsumerGroup, GroupState, GroupWindow, QueueSnapshot, QueueState, State, TopicKind
from consumers.queries.groups import LiveGroups
from consumers.queries.limits import BrokerAge, ClusterAge, Limits, broker_ages, limits
from consumers.queries.queues.overlay import ENDED_BY_NO_LAG
from consumers.vocabulary.states import UnknownReason

from .late_queues import RANKS, with_late_ranks
from .reading_times import polled_waits, taken_at
from .rows import GROUP, JUDGED, TOTAL, stored_in

STATES = list(State)
UNKNOWN_RANK = RANKS[State.UNKNOWN]
LAST_RANK = len(STATES) - 1
WORSE_THAN_UNKNOWN = STATES[:UNKNOWN_RANK]
# Stands for a cluster without any broker: its groups are unread, and no broker is the cause.
NO_BROKER = 0
# The lag at the group's last evaluation: the newest window that had started.
WINDOW_SECONDS = 60

# What brokers answer about members.
OF_MEMBERS = ("members", "online")
KNOWN_PARTS = ("dlq_day_messages_at_least", "dlq_day_since")

Column = Combinable | Case | Value | F


@dataclass(frozen=True)
class Overlay:
    """The state of all clusters' brokers at `now`. `only`: the ids of the groups that it is asked about, where they are
    few."""

    clusters: dict[int, ClusterAge]
    now: datetime
    limits: Limits
    only: Sequence[int] | None = None

    @classmethod
    def at(cls, now: datetime, only: Sequence[int] | None = None) -> "Overlay":
        return cls(broker_ages(), now, limits(), only)

    @cached_property
    def brokers(self) -> dict[int, BrokerAge]:
        return {broker.id: broker for cluster in self.clusters.values() for broker in cluster.brokers}

    @cached_property
    def slaves(self) -> dict[tuple[int, str], str]:
        """Slaves that are read in place of their masters, by cluster and broker name."""
        brokers = self.brokers.values()
        return {(one.cluster_id, one.name): one.read_from for one in brokers if one.read_from is not None}

    def slaves_of(self, cluster_id: int) -> list[str]:
        return [slave for (pk, _), slave in self.slaves.items() if pk == cluster_id]

    @cached_property
    def everything_is_read(self) -> bool:
        known = all(cluster.brokers for cluster in self.clusters.values())
        return known and not any(self.is_unread(broker) for broker in self.brokers.values())

    @cached_property
    def nothing_is_silent(self) -> bool:
        """`silent_by` is null for every group: conditions on it are left out, as each costs Python time."""
        known = all(cluster.brokers for cluster in self.clusters.values())
        return known and not any(self.is_silent(broker) for broker in self.brokers.values())

    @cached_property
    def nothing_is_late(self) -> bool:
        """No group was evaluated too long ago: conditions on that, most of a list's Python time, are left out."""
        asked = GroupState.objects.all() if self.only is None else GroupState.objects.filter(group__in=self.only)
        return not asked.filter(judged_at__lt=self.limits.judged_since(self.now)).exists()

    @property
    def members_since(self) -> datetime:
        """An older answer of who is in a group says nothing of now."""
        return self.now - timedelta(seconds=self.limits.kinds.evidence_seconds)

    def too_old(self, membership_at: datetime | None) -> datetime | None:
        """The time of an answer that says nothing of now; null where it does, or there is none."""
        return None if membership_at is None or membership_at >= self.members_since else membership_at

    @cached_property
    def no_members_are_old(self) -> bool:
        asked = ConsumerGroup.objects.all() if self.only is None else ConsumerGroup.objects.filter(pk__in=self.only)
        answered = asked.filter(Q(members__isnull=False) | Q(online__isnull=False))
        return not answered.filter(Q(membership_at=None) | Q(membership_at__lt=self.members_since)).exists()

    def is_unread(self, broker: BrokerAge) -> bool:
        return broker.unread_reason(self.now, self.limits) is not None

    def has_exact_lags(self, broker: BrokerAge) -> bool:
        """The broker is read, and not behind with its dispatch as far as it says."""
        return not self.is_unread(broker) and broker.bound_reason(self.limits) is None

    def is_silent(self, broker: BrokerAge) -> bool:
        return broker.is_silent(self.now, self.limits)

    @cached_property
    def groups(self) -> QuerySet[Any]:
        """Groups with every shown column as an alias; `annotate(name=F(name))` selects those that are wanted."""
        return self._with_stored(self.overlaid, guarded=not self.everything_is_read)

    @cached_property
    def overlaid(self) -> QuerySet[Any]:
        """Groups with the columns that more than one stored value decides. Each costs Python time, too."""
        return self._with_columns(self._located(), guarded=not self.everything_is_read)

    @cached_property
    def as_read(self) -> QuerySet[Any]:
        """Returns groups with the columns of groups that are read, for callers that need `unread_by` too: which broker
        keeps a group from being read is looked up once per group, not once per column."""
        return self._with_stored(self._with_columns(self._located(), guarded=False), guarded=False)

    def _located(self) -> QuerySet[Any]:
        return ConsumerGroup.objects.alias(
            unread_by=self._on_brokers(self.is_unread), silent_by=self._on_brokers(self.is_silent)
        )

    def _with_columns(self, groups: QuerySet[Any], *, guarded: bool) -> QuerySet[Any]:
        return groups.alias(
            shown_rank=self._rank(),
            shown_lag_messages=_read(F("total__lag_messages"), guarded),
            shown_lag_messages_at_least=self._lag_at_least(),
        ).alias(
            shown_time_lag_seconds=_read(self._time_lag(), guarded),
            shown_drain_seconds=_read(self._judged(_drain()), guarded),
            shown_taken_at=taken_at(self.clusters),
        )

    def _with_stored(self, groups: QuerySet[Any], *, guarded: bool) -> QuerySet[Any]:
        """And the columns that are shown as they are stored. `ShownGroup.shown` has the same rule for one row."""
        columns: dict[str, Column] = {f"shown_{name}": self._of_group(name) for name in stored_in(GROUP)}
        columns |= {f"shown_{name}": F(f"total__{name}") for name in stored_in(TOTAL)}
        judged = (*stored_in(JUDGED), *KNOWN_PARTS)
        columns |= {f"shown_{name}": self._judged(F(f"judged__{name}")) for name in judged}
        return groups.alias(**{name: _read(column, guarded) for name, column in columns.items()})

    def _on_brokers(self, chosen: Callable[[BrokerAge], bool]) -> Case | Value:
        """The id of the chosen broker that has queues of the group and has been unread longest; null where there is
        none.
        """
        whens: list[When] = []
        for cluster in self.clusters.values():
            of_cluster = Q(cluster=cluster.id)
            hit = sorted((broker for broker in cluster.brokers if chosen(broker)), key=_longest_unread_first)
            if len(hit) == len(cluster.brokers):
                whens.append(When(of_cluster, then=Value(hit[0].id if hit else NO_BROKER)))
                continue
            for broker in hit:
                held = QueueSnapshot.objects.filter(group=OuterRef("pk"), queue__broker=broker.name)
                # A broker that was never read may have queues of any group.
                concerned = of_cluster & Exists(held) if broker.last_read_at else of_cluster
                whens.append(When(concerned, then=Value(broker.id)))
        field = models.BigIntegerField()
        return Case(*whens, default=None, output_field=field) if whens else Value(None, output_field=field)

    def _of_group(self, name: str) -> Column:
        if name not in OF_MEMBERS or self.no_members_are_old:
            return F(name)
        return Case(When(membership_at__gte=self.members_since, then=F(name)))

    def _judged(self, column: Column) -> Column:
        if self.nothing_is_late:
            return column
        return Case(When(judged__judged_at__gte=self.limits.judged_since(self.now), then=column))

    @cached_property
    def live(self) -> LiveGroups:
        """What rows alone say about groups whose evaluation is late."""
        chosen = {} if self.only is None else {"pk__in": self.only}
        return LiveGroups.at(self.now, self.limits, **chosen)

    def is_late(self) -> Q:
        """The group was evaluated, but too long ago."""
        return Q(judged__judged_at__lt=self.limits.judged_since(self.now))

    def _rank(self) -> Case:
        """Cheap conditions first: the database evaluates them in this order, and looks up queues only where
        necessary.
        """
        unknown = Value(UNKNOWN_RANK)
        stopped: list[When] = []
        silent: list[When] = []
        if self.live.stopped:
            is_stopped = Q(judged__isnull=True, pk__in=self.live.stopped) & Exists(self._waiting())
            stopped = [When(is_stopped, then=Value(RANKS[State.STOP]))]
        if not self.nothing_is_silent:
            is_silent = Q(silent_by__isnull=False)
            worst = Coalesce(Subquery(self.still_read("rank")), unknown)
            silent = [
                When(Q(judged__state__in=WORSE_THAN_UNKNOWN) & is_silent, then=worst),
                When(is_silent, then=unknown),
            ]
        return Case(
            When(self.is_lost, then=Value(RANKS[State.LOSS])),
            *stopped,
            When(judged__isnull=True, then=unknown),
            *([] if self.nothing_is_late else [When(self.is_late(), then=self._late_rank())]),
            *silent,
            *_evaluated_ranks(),
            default=unknown,
            output_field=models.IntegerField(),
        )

    def _late_rank(self) -> Combinable:
        """That of the worst queue, and unknown at best where that is doubtful; without a queue, that of the group's own
        sums.
        """
        is_doubtful = self._has_grown()
        if not self.nothing_is_silent:
            is_doubtful |= Q(silent_by__isnull=False)
        is_level = Q(unread_by__isnull=True, total__lag_messages=0)
        first = [] if self.nothing_is_silent else [When(silent_by__isnull=False, then=Value(UNKNOWN_RANK))]
        if self.live.stopped:
            first.append(When(self._is_stopped() & ~Q(judged__state=State.LOSS), then=Value(RANKS[State.STOP])))
        of_sums = Case(
            *first,
            When(is_level & Q(judged__state__in=ENDED_BY_NO_LAG), then=Value(RANKS[State.OK])),
            When(judged__state=State.STOP, online=True, then=Value(UNKNOWN_RANK)),
            *_evaluated_ranks(),
            default=Value(UNKNOWN_RANK),
            output_field=models.IntegerField(),
        )
        # One look for the worst queue, whether or not what it shows is doubtful.
        best = Case(
            When(is_doubtful, then=Value(UNKNOWN_RANK)),
            default=Value(LAST_RANK),
            output_field=models.IntegerField(),
        )
        return Least(Coalesce(Subquery(self.late_queues("rank")), of_sums), best)

    def _is_stopped(self) -> Q:
        return Q(pk__in=self.live.stopped, total__lag_messages__gt=0, unread_by__isnull=True)

    def _has_grown(self) -> Q:
        """By more than is produced within the threshold, at the evaluated rate: that much is normal variation."""
        newest = GroupWindow.objects.filter(
            group=OuterRef("pk"), step_seconds=WINDOW_SECONDS, start__lt=OuterRef("judged__judged_at")
        ).order_by("-start")
        was = Coalesce(Subquery(newest.values("lag_messages")[:1]), 0, output_field=models.FloatField())
        produced = Coalesce(F("judged__produce_rate"), 0.0) * Value(self.limits.allowance_seconds)
        lag = Coalesce(F("total__lag_messages"), F("total__lag_messages_at_least"), output_field=models.FloatField())
        is_told = Q(unread_by__isnull=True) & ~Q(pk__in=self.live.excused)
        return is_told & Q(GreaterThan(lag, was + produced))

    def late_queues(self, column: str) -> QuerySet[Any]:
        """`column` of the worst queue of a group whose evaluation is late, among queues that are not on a silent
        broker.
        """
        return self._late_queues.values(column)[:1]

    @cached_property
    def _late_queues(self) -> QuerySet[Any]:
        queues = with_late_ranks(
            self._own_queues().exclude(self._on(self.is_silent)),
            is_unread=self._on(self.is_unread),
            stopped=list(self.live.stopped),
            excused=list(self.live.excused),
            stands_since=self.limits.stands_since(self.now),
            allowed_since=self.limits.allowed_since(self.now),
        )
        return queues.order_by("rank", "since", "pk")

    @cached_property
    def is_lost(self) -> Combinable | Q:
        """Whether offsets of the group are lost on a broker that still answers: this needs no evaluation."""
        # Where progress is stored outside the brokers, they can lose none.
        is_lost = Q(total__lost_queues__gt=0, outside_store__isnull=True)
        if self.nothing_is_silent:
            return is_lost
        lost = QueueSnapshot.objects.filter(group=OuterRef("pk"), unknown_reason=UnknownReason.OFFSET_LOST)
        for cluster in self.clusters.values():
            names = [broker.name for broker in cluster.brokers if self.is_silent(broker)]
            lost = lost.exclude(group__cluster=cluster.id, queue__broker__in=names) if names else lost
        return is_lost & (Q(silent_by__isnull=True) | Exists(lost))

    def still_read(self, column: str) -> QuerySet[QueueState]:
        """`column` of the worst queue of a group that is worse than UNKNOWN and not on a silent broker."""
        worse = [When(state=state, then=Value(RANKS[state])) for state in WORSE_THAN_UNKNOWN]
        return (
            self._own_queues()
            .filter(state__in=WORSE_THAN_UNKNOWN)
            .exclude(self._on(self.is_silent))
            .annotate(rank=Case(*worse, output_field=models.IntegerField()))
            .order_by("rank", "since", "pk")
            .values(column)[:1]
        )

    def shown_late_state(self) -> Case | Subquery | Value:
        """The key of the queue's state that stands for a group which is late or on a silent broker; null for others."""
        of_silent: Subquery | Value = Value(None, output_field=models.BigIntegerField())
        if not self.nothing_is_silent:
            of_silent = Subquery(self.still_read("pk"))
        if self.nothing_is_late:
            return of_silent
        return Case(When(self.is_late(), then=Subquery(self.late_queues("pk"))), default=of_silent)

    def _own_queues(self) -> QuerySet[QueueState]:
        return self._own(QueueState.objects.all())

    def _own(self, queues: QuerySet[Any]) -> QuerySet[Any]:
        """The queues that decide a group's state: of its own topics, not of its retry topic."""
        own_letters = Concat(Value("%DLQ%"), F("group__name"))
        queues = queues.filter(group=OuterRef("pk"))
        return queues.exclude(queue__topic__kind=TopicKind.RETRY).exclude(queue__topic__name=own_letters)

    def _waiting(self) -> QuerySet[QueueSnapshot]:
        """Queues of a group that are read and whose messages have waited for longer than allowed."""
        since = self.limits.allowed_since(self.now)
        behind = self._own(QueueSnapshot.objects.filter(unknown_reason=None, broker_offset__gt=F("consumer_offset")))
        waits = behind.filter(Q(waiting_since__isnull=True) | Q(waiting_since__lte=since))
        return waits.exclude(self._on(self.is_unread))

    def _on(self, chosen: Callable[[BrokerAge], bool]) -> Q:
        """Filters queues' states by the chosen brokers."""
        found = Q(pk__in=[])
        for cluster in self.clusters.values():
            names = [broker.name for broker in cluster.brokers if chosen(broker)]
            if len(names) == len(cluster.brokers):
                found |= Q(group__cluster=cluster.id)
            elif names:
                found |= Q(group__cluster=cluster.id, queue__broker__in=names)
        return found

    def _lag_at_least(self) -> Case:
        """The lag, or the known sum of the newest reading where that reading is recent enough."""
        since = self.limits.read_since(self.now)
        times = {cluster.id: cluster.newest_reading_at for cluster in self.clusters.values()}
        fresh = [pk for pk, at in times.items() if at is not None and at >= since]
        lag = F("total__lag_messages")
        return Case(
            When(unread_by__isnull=True, total__lag_messages__isnull=False, then=lag),
            When(cluster__in=fresh, total__lag_messages__isnull=True, then=F("total__lag_messages_at_least")),
        )

    def _time_lag(self) -> Case:
        """Zero exactly where the lag is zero; an evaluated zero with a non-zero lag is older: then polls tell."""
        polled = [When(is_told, then=self._judged(seconds)) for is_told, seconds in polled_waits(self.clusters)]
        return Case(
            When(shown_lag_messages=0, then=Value(0.0)),
            When(judged__time_lag_seconds__gt=0, then=self._judged(F("judged__time_lag_seconds"))),
            *polled,
            output_field=models.FloatField(),
        )


def _read(column: Column, guarded: bool) -> Column:
    """Null for a group that is not read completely: a part of a number is not the number."""
    return Case(When(unread_by__isnull=True, then=column)) if guarded else column


def _evaluated_ranks() -> list[When]:
    return [When(judged__state=state, then=Value(rank)) for state, rank in RANKS.items()]


def _drain() -> Case:
    return Case(When(shown_lag_messages__gt=0, judged__drain_seconds__gt=0, then=F("judged__drain_seconds")))


def _longest_unread_first(broker: BrokerAge) -> tuple[bool, datetime | None]:
    return broker.last_read_at is not None, broker.last_read_at
