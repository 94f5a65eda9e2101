"""Polls a cluster: offsets first, then members under their budget, then everything is recorded at once; and what a poll
takes from the settings of the site.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pyarrow.compute as pc
from django.conf import settings as site
from django.db.models import Q

from consumers.lake.store import Lake, below_floor
from consumers.models import ClockChange, Cluster, QueueSnapshot, Reading
from consumers.polling.brokers.broker_turn import collect_offsets, unreadable
from consumers.polling.brokers.joined import Pair
from consumers.polling.brokers.remembered import (
    RoutedPermission,
    StoreConfigMemory,
    read_routed_permissions,
    read_store_configs,
)
from consumers.polling.delay_answers import DelayLimits
from consumers.polling.delay_poller import DelayPoller
from consumers.polling.file_poller import FileLimits, OffsetFilePoller
from consumers.polling.heads import (
    HeadLimits,
    HeadPoller,
    groups_with_unfinished_heads,
)
from consumers.polling.locks import Locked
from consumers.polling.members.collected import collect_members, rotation
from consumers.polling.members.membership import AskedBroker, Budget, Silences, Turn
from consumers.polling.memory import Cadence, ClusterMemory
from consumers.polling.reading import MembersReading, OffsetsReading
from consumers.polling.record.brokers import record_routed_permissions, record_store_configs
from consumers.polling.record.delays import remembered_samples
from consumers.polling.record.recorder import Recorder
from consumers.polling.registration import NoAccess, Wire, access_of
from consumers.polling.samples.first_stored import note_filters
from consumers.polling.samples.planner import SamplePlanner, ask_samples
from consumers.polling.samples.reading import SampleBudget, SamplesReading
from consumers.polling.statistics_poller import StatisticsLimits, StatisticsPoller
from consumers.rocketmq.names import is_system_group
from consumers.vocabulary.reasons import PollProblem, stored_reason


@dataclass(frozen=True)
class PollSettings:
    cadence: Cadence
    budget: Budget
    deadline_seconds: float
    lake: Lake
    disk_floor_mib: float
    samples: SampleBudget = field(default_factory=SampleBudget)
    # No offset file is read if no folder is named.
    files: FileLimits = field(default_factory=lambda: FileLimits(folders=()))
    store_config_seconds: float = 30
    delays: DelayLimits = field(default_factory=DelayLimits)
    heads: HeadLimits = field(default_factory=HeadLimits)
    statistics: StatisticsLimits = field(default_factory=StatisticsLimits)

    @classmethod
    def of_site(cls) -> "PollSettings":
        return cls(
            cadence=Cadence(site.POLL_CONFIG_SECONDS, site.POLL_MIN_OFFSET_SECONDS),
            budget=Budget(
                site.POLL_MEMBERSHIP_CALLS,
                site.POLL_RUNNING_INFO_CALLS,
                site.POLL_MEMBERSHIP_SECONDS,
                site.POLL_RUNNING_INFO_SECONDS,
                site.POLL_PATIENCE_SECONDS,
            ),
            deadline_seconds=site.POLL_CALL_DEADLINE_SECONDS,
            lake=Lake.at(site.CONSUMERSCOPE_LAKE),
            disk_floor_mib=site.LAKE_DISK_FLOOR_MIB,
            samples=SampleBudget(
                site.POLL_EXACT_CALLS,
                site.POLL_START_CALLS,
                site.POLL_TAG_CALLS,
                site.JUDGE["clock_error_seconds"],
            ),
            files=FileLimits(
                tuple(site.POLL_OFFSET_FOLDERS),
                site.POLL_OFFSET_FILE_SECONDS,
                site.POLL_OFFSET_FILES,
                site.POLL_OFFSET_FILE_MIB,
                site.POLL_OFFSET_FILE_DEADLINE_SECONDS,
            ),
            store_config_seconds=site.POLL_STORE_CONFIG_SECONDS,
            delays=DelayLimits(
                site.POLL_DELAY_CALLS,
                site.POLL_RETRY_SAMPLE_CALLS,
                site.POLL_RETRY_SAMPLE_SECONDS,
            ),
            heads=HeadLimits(site.POLL_HEAD_SECONDS, site.POLL_HEAD_CALLS),
            statistics=StatisticsLimits(site.POLL_STATISTICS_CALLS),
        )


logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Poll:
    """The result of one poll: the reading, and the row that records it."""

    offsets: OffsetsReading
    members: MembersReading | None
    row: Reading


class ClusterPoller:
    """Polls one cluster repeatedly, keeping its connections and its memory."""

    def __init__(self, cluster: Cluster, settings: PollSettings) -> None:
        self.cluster = cluster
        self.settings = settings
        self.wire = Wire()
        self.memory = remembered(cluster)
        self.silences = Silences()
        self.recorder = Recorder.of(cluster)
        self.samples = remembered_samples(cluster)
        self.planner = SamplePlanner(cluster)
        self.files = OffsetFilePoller(cluster, settings.files)
        self.store_configs = StoreConfigMemory(settings.store_config_seconds)
        self.delays = DelayPoller(cluster, settings.delays)
        self.heads = HeadPoller(cluster, settings.heads)
        self.statistics = StatisticsPoller(cluster, settings.statistics)

    def poll(self, now: datetime, check: Callable[[], None] = lambda: None) -> Poll:
        """`check` raises if another process may be polling the cluster by now: then nothing is recorded."""
        began = time.perf_counter()
        self.files.begin(now)
        offsets = self._poll_offsets(now)
        members = self._poll_members(offsets, now)
        until = now + timedelta(seconds=time.perf_counter() - began)
        samples = self._poll_samples(offsets, members, now, until)
        began = time.perf_counter()
        check()
        row = self.recorder.record(offsets, members, self._lake(), samples)
        self.memory.give_up(self.recorder.given_up)
        row.record_seconds = time.perf_counter() - began
        if not offsets.nothing_read:
            row.members["heads"] = self.heads.poll(self.wire, offsets, now, self.settings.deadline_seconds)
        row.save(update_fields=["record_seconds", "members"])
        self.files.finish(offsets, self.memory, self._lake())
        self._poll_store_configs(offsets, now)
        self._poll_delays(offsets, row, now)
        self.statistics.poll(self.wire, offsets, self.memory, now, self.settings.deadline_seconds)
        return Poll(offsets, members, row)

    def close(self) -> None:
        self.wire.close()

    def _poll_offsets(self, now: datetime) -> OffsetsReading:
        try:
            self.wire.use(access_of(self.cluster, site.SECRET_KEY))
        except NoAccess as reason:
            return unreadable(self.cluster.name, self.memory, str(reason), now)
        return self.wire.run(
            collect_offsets(
                self.wire.pool,
                self.cluster.name,
                self.cluster.name_servers,
                self.memory,
                self.settings.cadence,
                now,
                self.settings.deadline_seconds,
            )
        )

    def _poll_members(self, offsets: OffsetsReading, now: datetime) -> MembersReading | None:
        if offsets.nothing_read:
            return None
        turn = Turn(self.wire.pool, self.settings.budget, now, self.settings.deadline_seconds)
        blocked = groups_with_unfinished_heads(self.cluster, self.settings.heads.seconds, now)
        who = rotation(self.cluster, seen_groups(offsets), self.memory.topics, blocked)
        brokers = asked_brokers(offsets, self.cluster.proxies)
        reading = collect_members(turn, self.cluster.name, brokers, unread_reason(offsets), who, self.silences)
        members = self.wire.run(reading)
        remember_subscriptions(self.memory, members)
        return members

    def _poll_store_configs(self, offsets: OffsetsReading, now: datetime) -> None:
        due = self.store_configs.due(offsets.brokers, now)
        if due:
            configs = self.wire.run(read_store_configs(self.wire.pool, due, self.settings.deadline_seconds))
            record_store_configs(self.cluster, configs, now)
            record_routed_permissions(self.cluster, self.wire.run(self._read_routed_permissions(offsets)), now)

    async def _read_routed_permissions(self, offsets: OffsetsReading) -> list[RoutedPermission]:
        """Asks the name server that answered last, if it still answers: a dead name server costs its share of the
        deadline.
        """
        asked = sorted(self.cluster.name_servers, key=lambda address: address != self.memory.name_server)
        names = [broker.name for broker in offsets.brokers]
        return await read_routed_permissions(self.wire.pool, asked, names, self.settings.deadline_seconds)

    def _poll_delays(self, offsets: OffsetsReading, row: Reading, now: datetime) -> None:
        if offsets.nothing_read:
            return
        deadline_seconds = self.settings.deadline_seconds
        row.members["delays"] = self.delays.poll(self.wire, offsets, self.memory, now, deadline_seconds)
        row.save(update_fields=["members"])

    def _poll_samples(
        self, offsets: OffsetsReading, members: MembersReading | None, now: datetime, until: datetime
    ) -> SamplesReading | None:
        """`until`: a point in time after the offsets were answered."""
        if offsets.nothing_read:
            return None
        if members is not None:
            note_filters(self.samples, members.groups)
        plan = self.planner.plan(self.samples, offsets.brokers, self.settings.samples, now)
        deadline_seconds = self.settings.deadline_seconds
        return self.wire.run(
            ask_samples(self.wire.pool, offsets.brokers, self.samples, plan, now, until, deadline_seconds)
        )

    def _lake(self) -> Lake | None:
        try:
            is_full = below_floor(self.settings.lake, self.settings.disk_floor_mib)
        except OSError:
            # A missing mount reports no free space. The write itself shows whether the disk can be written.
            logger.exception("The lake's disk does not tell its free space.")
            return self.settings.lake
        if is_full:
            logger.error(
                "The lake's disk has less than %s MiB free: no history is written.", self.settings.disk_floor_mib
            )
            return None
        return self.settings.lake


def unread_reason(offsets: OffsetsReading) -> str | None:
    """Why no list of members can be complete in this reading; None if every broker can be asked."""
    unread = next((broker for broker in offsets.brokers if not broker.read), None)
    if unread is None:
        return offsets.error
    return stored_reason(PollProblem.OF_BROKER, broker=unread.name, error=unread.error)


def asked_brokers(offsets: OffsetsReading, proxies: Iterable[str]) -> list[AskedBroker]:
    """A slave that stands in for its master is named by its address: its clients have other connections to it."""
    read = [(broker, broker.answered_by) for broker in offsets.brokers if broker.read]
    brokers = [AskedBroker(broker.read_from or broker.name, address) for broker, address in read if address]
    return [*brokers, *map(AskedBroker.proxy, proxies)]


def seen_groups(offsets: OffsetsReading) -> set[str]:
    groups: set[str] = set()
    for broker in offsets.brokers:
        if broker.rows is not None:
            groups.update(pc.unique(broker.rows["group"]).to_pylist())
        groups.update(group.name for group in broker.groups or ())
    return {group for group in groups if not is_system_group(group)}


def remembered(cluster: Cluster) -> ClusterMemory:
    """The database's knowledge of a cluster, for a process that has not polled the cluster yet."""
    memory = ClusterMemory()
    for broker in cluster.brokers.filter(broker_id=0).exclude(address=""):
        memory.broker(broker.name, broker.address)
    for group in cluster.groups.filter(message_model="CLUSTERING").only("name", "subscriptions"):
        memory.subscribed[group.name] = frozenset(s["topic"] for s in group.subscriptions)
    memory.committed.update(committed_pairs(cluster))
    return memory


def committed_pairs(cluster: Cluster) -> dict[str, frozenset[Pair]]:
    """Groups and topics that have or had an offset, by broker."""
    rows = QueueSnapshot.objects.filter(group__cluster=cluster).exclude(group__message_model="BROADCASTING")
    rows = rows.filter(Q(consumer_offset__isnull=False) | Q(lost_offset__isnull=False))
    found: dict[str, set[Pair]] = {}
    for broker, group, topic in rows.values_list("queue__broker", "group__name", "queue__topic__name").distinct():
        found.setdefault(broker, set()).add((group, topic))
    return {broker: frozenset(pairs) for broker, pairs in found.items()}


def remember_subscriptions(memory: ClusterMemory, members: MembersReading) -> None:
    for answer in members.groups:
        if answer.members:
            clustering = answer.message_model == "CLUSTERING"
            memory.subscribed[answer.group] = frozenset(
                s["topic"] for s in answer.subscriptions if clustering and s["topic"]
            )


# The pollers of a long-lived process, one per cluster: connections and memory outlive a reading.

_pollers: dict[str, ClusterPoller] = {}
# The newest clock change known when each poller was made. A poller may remember times that are in the future after a
# later change.
_made_after: dict[str, int | None] = {}
_busy: dict[str, threading.Lock] = {}
_guard = threading.Lock()


# What distinguishes two registrations of the same name: a poller is made for one registration.
REGISTRATION = ("pk", "namesrv", "access_key", "sealed_secret", "tls", "offset_files", "proxy")


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Allows one poll of a cluster at a time in this process: a poller's memory must match its rows.

    Raises Locked.
    """
    with _guard:
        busy = _busy.setdefault(name, threading.Lock())
    if not busy.acquire(blocking=False):
        raise Locked(f"{name} is being read by this process.")
    try:
        yield
    finally:
        busy.release()


def poller_of(name: str) -> ClusterPoller:
    """The process's poller of a cluster. A poller is replaced if its cluster was registered again or changed, if it
    remembers a forgotten broker or times before a clock change, or if its wire was abandoned. A poll under way then
    ends with WireClosed.
    """
    cluster, change = Cluster.objects.get(name=name), newest_clock_change()
    with _guard:
        known = _pollers.get(name)
        if known is not None and _made_after.get(name) == change and _still_fits(known, cluster):
            return known
        _pollers[name] = poller = ClusterPoller(cluster, PollSettings.of_site())
        _made_after[name] = change
    if known is not None:
        known.close()
    return poller


def newest_clock_change() -> int | None:
    return ClockChange.objects.order_by("-pk").values_list("pk", flat=True).first()


def _still_fits(poller: ClusterPoller, cluster: Cluster) -> bool:
    return poller.wire.usable and registration(poller.cluster) == registration(cluster) and not _is_behind(poller)


def _is_behind(poller: ClusterPoller) -> bool:
    """Whether the poller remembers a broker that was forgotten. Each reading makes rows of all remembered brokers."""
    return not poller.memory.brokers.keys() <= set(poller.cluster.brokers.values_list("name", flat=True))


def registration(cluster: Cluster) -> list[object]:
    return [getattr(cluster, name) for name in REGISTRATION]
