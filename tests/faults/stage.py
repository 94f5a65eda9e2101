"""A launched site before two real brokers and a receiver of alerts, and one fault at a time: what is asked of each."""

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

from dashboard.demo.cluster import RocketMQ
from tests.consumers.alerting.receiver import SECRET, Receiver
from tests.faults.disks import FLOOR_MEGABYTES, small_disks
from tests.faults.launched import PROCESSES, Launched
from tests.faults.story import BUSY, PULSE, PULSE_MESSAGES, STILL, STUCK, TRUTH, Story, told_story
from tests.faults.tunnel import Tunnel
from tests.faults.watch import Look, look

CLUSTER = "default"
# A session of Spark that starts anew beside everything else takes a minute of a busy machine.
REST_SECONDS = 600.0
FIRST_SECONDS = 600.0
LOOK_SECONDS = 1.0
RULES: list[dict[str, Any]] = [
    {"name": "Pulse", "group_pattern": PULSE, "measure": "lag_messages", "comparison": "above",
     "threshold": PULSE_MESSAGES / 2, "for_seconds": 0, "clear_seconds": 1, "severity": "critical"},
    {"name": "Broker silent", "measure": "broker_unread_seconds", "comparison": "above", "threshold": 12,
     "for_seconds": 0, "clear_seconds": 3, "severity": "critical"},
]  # fmt: skip


@dataclass(frozen=True)
class Kept:
    """What must be there after a fault as it was before."""

    readings: frozenset[tuple[Any, ...]]
    queues: frozenset[tuple[Any, ...]]
    incidents: frozenset[str]
    deliveries: frozenset[str]
    rules: frozenset[str]

    def lost_in(self, later: "Kept") -> list[str]:
        found = []
        for name in ("readings", "queues", "incidents", "deliveries", "rules"):
            lost = getattr(self, name) - getattr(later, name)
            if lost:
                found.append(f"{len(lost)} {name} are gone, as {sorted(lost, key=str)[0]}")
        return found


@dataclass
class Stage:
    site: Launched
    story: Story
    receiver: Receiver
    tunnels: dict[str, Tunnel]
    has_small_disks: bool
    pulses: int = 0
    # What a fault notes for what is asked of it afterwards.
    marks: dict[str, float] = field(default_factory=dict)
    # Incidents that an earlier fault was blamed for.
    wrong_before: set[str] = field(default_factory=set)
    # Of a database that is a server.
    database_pids: Callable[[], list[int]] = list

    @property
    def rocketmq(self) -> RocketMQ:
        return self.story.cluster

    def wait_for(self, what: str, true: Callable[[], bool], seconds: float = REST_SECONDS) -> float:
        """Seconds until it was true."""
        began = time.monotonic()
        while not true():
            assert self.site.runs(), f"The launch has ended: {self.site.said()[-2000:]}"
            assert time.monotonic() - began < seconds, f"Not within {seconds:g} s: {what}"
            time.sleep(LOOK_SECONDS)
        return time.monotonic() - began

    def unrest(self, since: datetime) -> list[str]:
        """What is not yet as it is when all is well, by what was read and evaluated after `since`."""
        missing = [f"no process of {name}" for name in PROCESSES if not self.site.pids(name)]
        found = look(self.site)
        if found.ready is None or found.silence:
            return [*missing, found.silence or "/readyz gives no answer"]
        if not found.ready["ready"]:
            missing.append(f"/readyz: {found.ready['detail']}")
        for part in ("judgement", "alerts"):
            age = found.ready["parts"].get(part, {}).get("age_seconds")
            if age is None or found.now - timedelta(seconds=age) < since:
                missing.append(f"{part} of before")
        return missing + _untrue(found, since)

    def wait_until_well(self, since: datetime, seconds: float = REST_SECONDS) -> float:
        last: list[str] = []

        def is_well() -> bool:
            last[:] = self.unrest(since)
            return not last

        try:
            return self.wait_for("all is well", is_well, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}: {last}") from error

    def begin_well(self) -> None:
        """What one fault has left behind is no matter of the next."""
        try:
            self.wait_until_well(datetime.now(UTC))
        except AssertionError:
            self.site.restart()
            self.wait_until_well(datetime.now(UTC), FIRST_SECONDS)
        self.story.lower_pulse()
        self._wait_for_messages()
        self.pulses = self.receiver.changes().count(("Pulse", PULSE, "firing"))
        self.wrong_before |= set(self._wrong_kinds())

    def kept(self) -> Kept:
        """Asked while all is well."""
        alerts = self.site.rest("GET", "alerts/?page_size=1000")["results"]
        rules = self.site.rest("GET", "alert-rules/?page_size=1000")["results"]
        [channel] = self.site.rest("GET", "channels/")["results"]
        sent = self.site.rest("GET", f"channels/{channel['id']}/deliveries/?page_size=1000")["results"]
        return Kept(
            self.stored_readings(),
            frozenset(place for group in (STUCK, STILL, BUSY) for place in self.stood(group)),
            frozenset(row["id"] for row in alerts),
            frozenset(str(row["id"]) for row in sent),
            frozenset(row["name"] for row in rules),
        )

    def stored_readings(self) -> frozenset[tuple[Any, ...]]:
        """Of groups of the story, every row that the lake holds; what a clock that was ahead has left is void."""
        columns = ["taken_at", "group", "topic", "broker", "queue_id", "consumer_offset"]
        folder = self.site.home / "lake" / "readings"
        rows = ds.dataset(folder, format="parquet", partitioning=None, exclude_invalid_files=True).to_table(columns)
        found = zip(*(rows[name].to_pylist() for name in columns), strict=True)
        return frozenset(row for row in found if row[0] <= self.site.now())

    def stood(self, group: str) -> Iterator[tuple[Any, ...]]:
        """Queues, with where the group stands on them where it stands still."""
        rows = self.site.rest("GET", f"groups/{CLUSTER}/{group}/queues/?page_size=1000")["results"]
        for row in rows:
            if not row["topic"].startswith("%"):
                stands = None if TRUTH[group].lag is None else (row["consumer_offset"], row["broker_offset"])
                yield (group, row["topic"], row["broker"], row["queue_id"], stands)

    def raise_pulse(self) -> None:
        self.story.raise_pulse()
        self.pulses += 1

    def pulse_was_told(self, kind: str) -> bool:
        return self.receiver.changes().count(("Pulse", PULSE, kind)) >= self.pulses

    def wrongly_told(self) -> list[str]:
        """Of all incidents since the beginning: each once when it fires, once when it is over."""
        self._wait_for_messages()
        wrong = [f"an incident was told {kinds}" for kinds in self._wrong_kinds().values()]
        pulses = self.receiver.changes().count(("Pulse", PULSE, "firing"))
        if pulses != self.pulses:
            wrong.append(f"the pulse rose {self.pulses} times and was told {pulses} times")
        if self.receiver.forged:
            wrong.append(f"{self.receiver.forged} messages had a wrong signature")
        return wrong

    def _wait_for_messages(self) -> None:
        try:
            self.wait_for("no message waits", lambda: not self._waiting_ids())
        except AssertionError as error:
            waiting = {row["id"]: row for row in self._incidents() if row["id"] in self._waiting_ids()}
            raise AssertionError(f"{error}: {self._waiting_ids()}, which are {waiting}") from error

    def _wrong_kinds(self) -> dict[str, list[str]]:
        """Each by its id, without those that an earlier fault was blamed for."""
        told = self._kinds().items()
        return {key: kinds for key, kinds in told if kinds != ["firing", "resolved"] and key not in self.wrong_before}

    def _kinds(self) -> dict[str, list[str]]:
        fired = {row["id"]: [] for row in self._incidents() if row["fired_at"] is not None}
        return {**fired, **self.receiver.told_of_each()}

    def _waiting_ids(self) -> list[str]:
        return [key for key, kinds in self._kinds().items() if "resolved" not in kinds]

    def _incidents(self) -> list[dict[str, Any]]:
        return list(self.site.rest("GET", "alerts/?page_size=1000")["results"])

    def repeated(self) -> int:
        """Messages that came more than once, under the number of the first."""
        return len(self.receiver.on_the_wire()) - len(self.receiver.messages())


def _untrue(found: Look, since: datetime) -> list[str]:
    said = []
    for name, truth in TRUTH.items():
        row = found.groups.get(name)
        if row is None:
            said.append(f"{name} is not listed")
            continue
        if row["taken_at"] is None or datetime.fromisoformat(row["taken_at"]) < since:
            said.append(f"{name} was not read since")
        if (row["state"], row["stale"], row["members"]) != (truth.state, False, truth.members):
            said.append(f"{name} is {row['state']} ({row['state_detail']}) with {row['members']} members")
        if row["lag_messages"] is None or truth.lag not in (None, row["lag_messages"]):
            said.append(f"{name} has a lag of {row['lag_messages']}: {row['unknown_reason']}")
    brokers = [broker for cluster in found.clusters or [] for broker in cluster["brokers"]]
    said += [f"{broker['name']}: {broker['error']}" for broker in brokers if not broker["reachable"]]
    return said


@contextmanager
def set_up(folder: Path, cluster: RocketMQ, jars: Path, more: dict[str, str]) -> Iterator[Stage]:
    """The site reaches the cluster through tunnels alone, the consumers reach it as it is."""
    with contextlib.ExitStack() as kept:
        story = kept.enter_context(told_story(cluster, jars, folder))
        tunnels = {name: Tunnel(broker.port) for name, broker in cluster.brokers.items()}
        tunnels["name server"] = front = Tunnel(int(cluster.namesrv.rpartition(":")[2]))
        for tunnel in tunnels.values():
            kept.callback(tunnel.close)
        for name, broker in cluster.brokers.items():
            front.rewrites[broker.address.encode()] = tunnels[name].address.encode()
        receiver = Receiver()
        kept.callback(receiver.down)
        began = datetime.now(UTC)
        has_small_disks = kept.enter_context(small_disks(folder / "home"))
        floor = {"CONSUMERSCOPE_LAKE_DISK_FLOOR_MIB": f"{FLOOR_MEGABYTES}"} if has_small_disks else {}
        site = kept.enter_context(Launched(folder / "home", front.address, floor | more))
        for rule in site.rest("GET", "alert-rules/?page_size=1000")["results"]:
            site.rest("PATCH", f"alert-rules/{rule['id']}/", {"enabled": False})
        site.rest("POST", "channels/", {"name": "faults", "kind": "webhook", "url": receiver.url, "secret": SECRET})
        for rule in RULES:
            site.rest("POST", "alert-rules/", rule)
        stage = Stage(site, story, receiver, tunnels, has_small_disks)
        stage.wait_until_well(began, FIRST_SECONDS)
        yield stage
