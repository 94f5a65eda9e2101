"""A night on two real brokers: each cause that RocketMQ can be made to show in minutes, once, in groups of their own.

What came again is what the members wrote down, by UNIQ_KEY. The night is printed as a table.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from consumers.models import Assignment, Client, QueueSnapshot, RepeatEvent
from dashboard.demo.cluster import RocketMQ
from tests.consumers.repeats import night
from tests.consumers.repeats.conftest import POLL_SECONDS
from tests.consumers.repeats.night import GROUPS, Line, NightGroup, Told, delivered, redelivered
from tests.consumers.resetting.live_site import Site
from tests.plugins.java_admin import JavaAdmin
from tests.plugins.noting_members import Delivery, NotingMembers

pytestmark = [
    pytest.mark.live,
    pytest.mark.spark,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("tasks_at_once"),
    pytest.mark.timeout(900),
]

# A client commits 10 s after its start for the first time, then every 5 s.
FIRST_COMMIT_SECONDS = 12.0
COMMIT_SECONDS = 6.0
# A message that was held for 30 s is no ordinary one (pipeline/durations.py).
HELD_SECONDS = 36.0
# A broker keeps the lock of an orderly member that died for 60 s (RocketMQ 5.4.0, RebalanceLockManager).
LOCK_SECONDS = 60.0
STAYING, DYING, SECOND = "staying", "dying", "second"


@dataclass
class Night:
    """Polls go on while anything else is waited for."""

    site: Site
    admin: JavaAdmin
    processes: dict[str, NotingMembers]
    in_flight: dict[str, int] = field(default_factory=dict)
    first: str = ""
    last: str = ""
    _polled: float = 0.0

    def poll(self) -> None:
        if time.monotonic() - self._polled >= POLL_SECONDS:
            self._polled = time.monotonic()
            self.last = self.site.poll()
            self.first = self.first or self.last

    def until(self, true: Callable[[], bool], why: str, seconds: float = 150) -> None:
        deadline = time.monotonic() + seconds
        while not true():
            self.poll()
            assert time.monotonic() < deadline, why
            time.sleep(0.5)

    def rest(self, seconds: float) -> None:
        ended = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > ended, "the clock stands", seconds + 30)

    def until_minute(self) -> None:
        """Retries are counted by whole minutes of readings."""
        began = timezone.now().replace(second=0, microsecond=0)
        self.until(lambda: timezone.now() >= began + timedelta(seconds=60 + POLL_SECONDS), "the clock stands")

    def start(self, process: str, group: NightGroup, number: int, **more: int) -> None:
        """Only the first member of a group behaves as the group is made to."""
        membership = {
            "group": group.group,
            "topic": group.topic,
            "instance": f"{group.group}-{number}",
            "threads": 4,
            "hold_messages": 100,
            "wait_at_shutdown_milliseconds": 20_000,
            "orderly": group.in_place,
            **more,
        }
        is_first = number == 1
        seconds = group.seconds if is_first or process != STAYING else (0.005, 0.015)
        self.processes[process].start(seconds, dict(group.behaviour) if is_first else {}, **membership)

    def leave(self, group: NightGroup) -> None:
        """Its first member waits for what it holds, commits and says goodbye."""
        leaving = threading.Thread(target=self.processes[STAYING].stop, args=[f"{group.group}-1"])
        leaving.start()
        self.until(lambda: not leaving.is_alive(), "the member does not leave", 60)

    def send(self, *groups: NightGroup) -> None:
        for group in groups:
            for queue_id in range(group.queues):
                self.admin.send(group.topic, group.broker, queue_id, group.each)
                self.poll()

    def deliveries(self) -> list[Delivery]:
        return [one for process in self.processes.values() for one in process.deliveries()]

    def is_delivered(self, *groups: NightGroup) -> bool:
        deliveries = self.deliveries()
        return all(delivered(deliveries, group) == group.queues * group.each for group in groups)

    def are_redelivered(self, *groups: NightGroup) -> bool:
        deliveries = self.deliveries()
        return all(redelivered(deliveries, group) for group in groups) and self.is_committed(*groups)

    def is_committed(self, *groups: NightGroup) -> bool:
        return all(
            sum(self.site.offsets(group.group, group.topic).values()) == group.queues * group.each for group in groups
        )

    def note_in_flight(self, group: NightGroup, number: int) -> None:
        """What the member had beyond the committed offsets, by its last report or by what it was given until now."""
        instance = f"{group.group}-{number}"
        client = f"127.0.0.1@{instance}"
        held = Assignment.objects.filter(group__name=group.group, client_id=client, gone_by=None)
        snapshots = QueueSnapshot.objects.filter(group__name=group.group)
        committed = dict(snapshots.values_list("queue_id", "consumer_offset"))
        ends = {row.queue_id: row.cached_max + 1 for row in held if row.cached_max is not None}
        reported = sum(end - (committed.get(queue) or 0) for queue, end in ends.items())
        given = {one.unique_key for one in self.deliveries() if one.member.endswith(f"/{instance}")}
        beyond = len(given) - sum(committed.get(row.queue_id) or 0 for row in held)
        self.in_flight[group.name] = max(reported, beyond)


def owners(group: NightGroup) -> set[str]:
    held = Assignment.objects.filter(group__name=group.group, gone_by=None, queue__topic__name=group.topic)
    return set(held.values_list("client_id", flat=True))


@pytest.fixture
def scripted(
    site: Site, java_admin_pair: JavaAdmin, rocketmq_pair: RocketMQ, rocketmq_jars: Path, tmp_path: Path
) -> Iterator[Night]:
    for group in GROUPS:
        java_admin_pair.create_topic(group.topic, group.queues, broker=group.broker)
        java_admin_pair.create_group(group.group, orderly=group.in_place)
    with ExitStack() as stack:
        started = {
            name: NotingMembers(rocketmq_pair.namesrv, rocketmq_jars, tmp_path / name, name)
            for name in (STAYING, DYING, SECOND)
        }
        for process in started.values():
            stack.enter_context(process)
        yield Night(site, java_admin_pair, started)


def begin(scripted: Night) -> None:
    """Members start, share the queues and commit for the first time, and nothing has been sent."""
    for group in (night.CRASH, night.OUT_OF_ORDER, night.LOCAL_RETRY):
        scripted.start(DYING, group, 1)
    for group in GROUPS:
        if group in (night.CRASH, night.OUT_OF_ORDER, night.LOCAL_RETRY, night.DRAINED, night.BUSY):
            scripted.start(STAYING, group, 2)
        if group not in (night.CRASH, night.OUT_OF_ORDER, night.LOCAL_RETRY):
            scripted.start(STAYING, group, 1, **({"batch_messages": 8} if group is night.BATCH else {}))
    shared = (night.CRASH, night.DRAINED, night.BUSY)
    scripted.until(lambda: all(len(owners(one)) == 2 for one in shared), "members do not share the queues")
    scripted.until(lambda: all(owners(one) for one in GROUPS), "a group has no owner")
    scripted.start(SECOND, night.DUPLICATE, 1)
    scripted.rest(FIRST_COMMIT_SECONDS)
    doubled = Client.objects.filter(group__name=night.DUPLICATE.group).exclude(duplicated_since=None)
    scripted.until(doubled.exists, "no second process is seen")


def quiet_hours(scripted: Night) -> None:
    """A message that is held, another that fails in place, an orderly leave of a member that has nothing, a reset."""
    scripted.send(night.OUT_OF_ORDER, night.LOCAL_RETRY)
    held_since = time.monotonic()
    scripted.send(night.ELSEWHERE, night.RESET, night.DRAINED, night.DUPLICATE, night.QUIET)
    scripted.until(lambda: scripted.is_committed(night.DRAINED, night.ELSEWHERE), "not everything was committed")
    scripted.leave(night.DRAINED)
    scripted.admin.reset_by_time(night.ELSEWHERE.group, night.ELSEWHERE.topic, 0)
    scripted.rest(max(HELD_SECONDS - (time.monotonic() - held_since), 0))


def busy_hours(scripted: Night) -> None:
    """Messages fail; members are killed, leave and join while everybody is at work."""
    busy = (night.JOINED, night.BUSY, night.CRASH)
    scripted.until_minute()
    scripted.send(night.WRONG_ACK, night.BATCH, *busy)
    scripted.rest(2 * POLL_SECONDS)
    for group in (night.CRASH, night.OUT_OF_ORDER, night.LOCAL_RETRY, night.BUSY, night.JOINED):
        scripted.note_in_flight(group, 1)
    scripted.processes[DYING].kill()
    scripted.start(SECOND, night.JOINED, 2)
    scripted.leave(night.BUSY)
    scripted.until(lambda: scripted.is_delivered(*busy, night.OUT_OF_ORDER), "not everything was consumed")


def morning(scripted: Night) -> None:
    """A reset of ours; then the orderly member that stays is given the queue of the one that was killed."""
    failed = (night.WRONG_ACK, night.BATCH)
    scripted.until(lambda: scripted.are_redelivered(*failed), "what failed does not come again")
    scripted.until_minute()
    scripted.until(lambda: scripted.is_committed(night.RESET), "not everything was committed")
    planned = scripted.site.plan(night.RESET.group, "offset", 40)
    assert planned["status_code"] == 201, planned
    reset = scripted.site.apply(planned)
    assert reset["status"] == "applied", reset
    scripted.until(lambda: scripted.is_delivered(night.LOCAL_RETRY), "nobody took the queue over", 2 * LOCK_SECONDS)
    steady = [one for one in GROUPS if one is not night.DUPLICATE]
    scripted.until(lambda: scripted.is_committed(*steady), "not everything was committed again")
    scripted.rest(COMMIT_SECONDS)


def told(group: NightGroup) -> list[Told]:
    rows = RepeatEvent.objects.filter(group__name=group.group).order_by("started_at")
    return [Told(*row) for row in rows.values_list("cause", "confidence", "messages_low", "messages_high")]


def test_each_cause_of_a_night_is_found_and_nothing_else(
    scripted: Night, evaluated: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    started = time.monotonic()
    begin(scripted)
    quiet_hours(scripted)
    busy_hours(scripted)
    morning(scripted)
    lasted = time.monotonic() - started
    evaluated(scripted.first, scripted.last)
    deliveries = scripted.deliveries()
    lines = [
        Line(group, told(group), redelivered(deliveries, group), scripted.in_flight.get(group.name)) for group in GROUPS
    ]
    with capsys.disabled():
        print(f"\n{night.table(lines)}\nlasted {lasted:.0f} s")
    assert [line.night.name for line in lines if line.is_wanted and not line.is_found] == []
    assert [(line.night.name, line.wrongly_proven) for line in lines if line.wrongly_proven] == []
    assert [(line.night.name, line.invented) for line in lines if line.invented] == []
    assert [(line.night.name, list(line.told)) for line in lines if line.night.is_quiet and line.told] == []
    assert [(line.night.name, line.low, line.true, line.high) for line in lines if not line.is_within] == []
