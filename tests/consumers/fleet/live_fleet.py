"""Polls a cluster while the scripts run, each change once the one before has settled, and notes when each was made."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone

from consumers.models import Assignment, ConsumerGroup
from consumers.polling.poll import ClusterPoller
from tests.consumers.fleet.changes import Change, Crew, Script
from tests.plugins.fleet import FleetProcess, Queue

POLL_SECONDS = 1.5
# By group and client id, what each process of that id says that it holds.
Holdings = dict[tuple[str, str], tuple[frozenset[Queue], ...]]
# An orderly group waits a minute for a dead member's locks, and asks for them every few seconds.
CHANGE_SECONDS = 440.0
POLLS_BETWEEN = 2


@dataclass
class Made:
    """A change that was made: its script's group, and the readings before and after which it was."""

    group: str
    change: Change
    at: datetime


@dataclass
class Progress:
    script: Script
    made: int = 0
    settled_polls: int = 0
    since: float = field(default_factory=time.monotonic)

    @property
    def next(self) -> Change | None:
        return self.script.changes[self.made] if self.made < len(self.script.changes) else None

    @property
    def current(self) -> Change | None:
        return self.script.changes[self.made - 1] if self.made else None


class LiveFleet:
    """`compared`: of how many members' holdings the poll was compared with what they said of themselves, and
    `differing` those in which both were not the same."""

    def __init__(self, poller: ClusterPoller, crew: Crew, scripts: Sequence[Script]) -> None:
        self._poller, self._crew = poller, crew
        self._processes: list[FleetProcess] = [crew.staying, crew.killed, crew.killed_in_order, crew.twin]
        self._progress = [Progress(script) for script in scripts]
        self.made: list[Made] = []
        self.readings: list[datetime] = []
        self.compared = 0
        self.differing: list[str] = []

    def begin(self) -> None:
        """Returns once every queue has an owner, before the first reading."""
        for one in self._progress:
            self._crew.staying.start(*one.script.beginning)
            for process, fields in (
                (self._crew.killed, one.script.in_killed),
                (self._crew.killed_in_order, one.script.in_killed_in_order),
            ):
                if fields:
                    process.start(*fields)
        deadline = time.monotonic() + CHANGE_SECONDS
        while not all(self._is_shared(one.script, self._held()) for one in self._progress):
            assert time.monotonic() < deadline, "The members never shared their queues out."
            time.sleep(0.5)

    def run(self) -> None:
        """Until every change of every script was made and has settled."""
        while any(one.next is not None or one.settled_polls < POLLS_BETWEEN for one in self._progress):
            self._poll()
            for one in self._progress:
                self._go_on(one)

    def watch(self, seconds: float) -> None:
        """Readings in which nothing is done."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._poll()

    def _poll(self) -> None:
        began = time.monotonic()
        before = self._held()
        now = timezone.now()
        self._poller.poll(now)
        self._held_now = self._held()
        self.readings.append(now)
        self._compare(before, self._held_now, now)
        time.sleep(max(0.0, POLL_SECONDS - (time.monotonic() - began)))

    def _held(self) -> Holdings:
        held: Holdings = {}
        for process in self._processes:
            for key, queues in process.held().items():
                held[key] = (*held.get(key, ()), queues)
        return held

    def _compare(self, before: Holdings, after: Holdings, now: datetime) -> None:
        """Members that held the same before and after the reading must be recorded to hold that in it. Of two
        processes under one id a broker asks either."""
        seen: dict[tuple[str, str], set[Queue]] = {}
        rows = Assignment.objects.filter(gone_by=None, last_seen=now)
        names = ("group__name", "client_id", "queue__topic__name", "queue__broker", "queue__queue_id")
        for group, client_id, *queue in rows.values_list(*names):
            seen.setdefault((group, client_id), set()).add((queue[0], queue[1], queue[2]))
        for key in before.keys() & after.keys():
            if before[key] == after[key]:
                self.compared += 1
                if seen.get(key, set()) not in before[key]:
                    said = " or ".join(str(sorted(queues)) for queues in before[key])
                    self.differing.append(f"{now:%H:%M:%S} {key}: {sorted(seen.get(key, ()))} for {said}")

    def _go_on(self, one: Progress) -> None:
        change = one.current
        total = change.members if change else None
        group = ConsumerGroup.objects.get(name=one.script.group)
        shares = change is None or not change.shares_all or self._is_shared(one.script, self._held_now)
        has_settled = shares and group.settled_at is not None and total in (None, group.members)
        one.settled_polls = one.settled_polls + 1 if has_settled else 0
        waited = time.monotonic() - one.since
        assert has_settled or waited < CHANGE_SECONDS, self._story(one, group)
        if one.settled_polls >= POLLS_BETWEEN and one.next is not None:
            self.made.append(Made(one.script.group, one.next, timezone.now()))
            one.next.do(self._crew)
            one.made, one.settled_polls, one.since = one.made + 1, 0, time.monotonic()

    def _is_shared(self, script: Script, held: Holdings) -> bool:
        """Every queue of the topic has exactly one owner, as the members themselves say."""
        owners = Counter(
            queue
            for (group, _), processes in held.items()
            if group == script.group
            for queue in frozenset().union(*processes)
            if queue[0] == script.topic
        )
        return len(owners) >= script.queues and set(owners.values()) == {1}

    def _story(self, one: Progress, group: ConsumerGroup) -> str:
        """What an assertion needs to tell: who holds what by then."""
        held = {key: list(map(sorted, of)) for key, of in self._held_now.items() if key[0] == one.script.group}
        change = one.current.name if one.current else "its beginning"
        return f"{one.script.group} has not settled since {change}: {held}, {group.settled_at}, {group.members}"
