"""A night that is played: its processes, its polls, and what the members of its groups wrote down."""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from django.utils import timezone

from consumers.models import Assignment, QueueSnapshot, RepeatEvent
from tests.consumers.repeats.conftest import POLL_SECONDS
from tests.consumers.repeats.night import Line, NightGroup, Told, delivered, redelivered, table
from tests.consumers.resetting.live_site import Site
from tests.plugins.calling import JavaCallFailed
from tests.plugins.java_admin import JavaAdmin
from tests.plugins.noting_members import Delivery, NotingMembers

# A client commits 10 s after its start for the first time, then every 5 s.
FIRST_COMMIT_SECONDS = 12.0
COMMIT_SECONDS = 6.0


@dataclass
class Night:
    """Polls go on while anything else is waited for. `staying`: the process whose members leave in order, if at all."""

    site: Site
    admin: JavaAdmin
    processes: dict[str, NotingMembers]
    staying: str
    in_flight: dict[str, int] = field(default_factory=dict)
    first: str = ""
    last: str = ""
    _polled: float = 0.0
    _sent: dict[str, int] = field(default_factory=dict)

    def poll(self) -> None:
        if time.monotonic() - self._polled >= POLL_SECONDS:
            self._polled = time.monotonic()
            self.last = self.site.poll()
            self.first = self.first or self.last

    def until(self, true: Callable[[], object], why: str, seconds: float = 600) -> None:
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

    def meanwhile(self, work: Callable[[], None], why: str, seconds: float = 360) -> None:
        """Polls until the work is done by another thread."""
        failed: list[BaseException] = []

        def run() -> None:
            try:
                work()
            except BaseException as error:
                failed.append(error)
                raise

        thread = threading.Thread(target=run)
        thread.start()
        self.until(lambda: not thread.is_alive(), why, seconds)
        assert not failed, failed

    def start(
        self, process: str, group: NightGroup, number: int, behaviour: Mapping[str, int] | None = None, **more: object
    ) -> None:
        """Only the first member of a group behaves as the group is made to, unless `behaviour` is named."""
        membership = {
            "group": group.group,
            "topic": group.topic,
            "instance": f"{group.group}-{number}",
            "threads": 4,
            "hold_messages": 100,
            "wait_at_shutdown_milliseconds": 20_000,
            "orderly": group.in_place,
            **group.membership,
            **more,
        }
        is_first = number == 1
        seconds = group.seconds if is_first or process != self.staying else (0.005, 0.015)
        if behaviour is None:
            behaviour = group.behaviour if is_first else {}
        self.processes[process].start(seconds, dict(behaviour), **membership)

    def leave(self, *groups: NightGroup) -> None:
        """Their first members wait for what they hold, commit and say goodbye."""

        def stop() -> None:
            for group in groups:
                self.processes[self.staying].stop(f"{group.group}-1")

        self.meanwhile(stop, "a member does not leave")

    def send(self, *groups: NightGroup) -> None:
        """Their messages once more."""
        for group in groups:
            for queue_id in range(group.queues):
                self.admin.send(group.topic, group.broker, queue_id, group.each)
                self.poll()
            self._sent[group.name] = self._sent.get(group.name, 0) + group.queues * group.each

    def deliveries(self) -> list[Delivery]:
        return [one for process in self.processes.values() for one in process.deliveries()]

    def is_delivered(self, *groups: NightGroup) -> bool:
        deliveries = self.deliveries()
        return all(delivered(deliveries, group) == self._sent[group.name] for group in groups)

    def are_redelivered(self, *groups: NightGroup) -> bool:
        deliveries = self.deliveries()
        return all(redelivered(deliveries, group) for group in groups) and self.is_committed(*groups)

    def is_committed(self, *groups: NightGroup) -> bool:
        try:
            return all(
                sum(self.site.offsets(group.group, group.topic).values()) == self._sent[group.name] for group in groups
            )
        except JavaCallFailed:
            # RocketMQ's client does not connect at once to a broker that has just come back.
            return False

    def note_in_flight(self, group: NightGroup, number: int) -> None:
        """What the member had beyond the committed offsets, by its last report or by what it was given until now."""
        instance = f"{group.group}-{number}"
        client = f"127.0.0.1@{instance}"
        held = Assignment.objects.filter(group__name=group.group, client_id=client, gone_by=None)
        snapshots = QueueSnapshot.objects.filter(group__name=group.group, queue__topic__name=group.topic)
        committed = dict(snapshots.filter(queue__broker=group.broker).values_list("queue__queue_id", "consumer_offset"))
        held = held.filter(queue__topic__name=group.topic, queue__broker=group.broker).select_related("queue")
        ends = {row.queue.queue_id: row.cached_max + 1 for row in held if row.cached_max is not None}
        reported = sum(end - (committed.get(queue) or 0) for queue, end in ends.items())
        given = {one.unique_key for one in self.deliveries() if one.member.endswith(f"/{instance}")}
        beyond = len(given) - sum(committed.get(row.queue.queue_id) or 0 for row in held)
        self.in_flight[group.name] = max(reported, beyond)

    def lines(self, groups: Sequence[NightGroup]) -> list[Line]:
        deliveries = self.deliveries()
        return [
            Line(group, told(group), redelivered(deliveries, group), self.in_flight.get(group.name)) for group in groups
        ]


@contextmanager
def noting_processes(
    namesrv: str, jars: Path, folder: Path, names: Collection[str]
) -> Iterator[dict[str, NotingMembers]]:
    with ExitStack() as stack:
        started = {name: NotingMembers(namesrv, jars, folder / name, name) for name in names}
        for process in started.values():
            stack.enter_context(process)
        yield started


def owners(group: NightGroup) -> set[str]:
    held = Assignment.objects.filter(group__name=group.group, gone_by=None, queue__topic__name=group.topic)
    return set(held.values_list("client_id", flat=True))


def told(group: NightGroup) -> list[Told]:
    rows = RepeatEvent.objects.filter(group__name=group.group).order_by("started_at")
    return [Told(*row) for row in rows.values_list("cause", "confidence", "redelivered_low", "redelivered_high")]


def assert_told(lines: Sequence[Line], title: str) -> None:
    """Prints the night as a table first."""
    print(f"\n{table(lines)}\n{title}")
    assert [line.night.name for line in lines if line.is_wanted and not line.is_found] == []
    assert [(line.night.name, line.wrongly_proven) for line in lines if line.wrongly_proven] == []
    assert [(line.night.name, line.invented) for line in lines if line.invented] == []
    assert [(line.night.name, list(line.told)) for line in lines if line.night.is_quiet and line.told] == []
    assert [(line.night.name, line.low, line.true, line.high) for line in lines if not line.is_within] == []


def assert_narrow(lines: Sequence[Line]) -> None:
    """Bounds are no further apart than twice what the member that went had in flight: by what its broker had of it, and
    at least what came again. Of a broadcasting member brokers have its memory; its file lacks more."""
    held = [(line.night.name, line.low, line.high, max(line.in_flight, line.true)) for line in lines if line.in_flight]
    assert [one for one in held if one[2] is None or one[2] - one[1] > 2 * one[3]] == []
