"""Verdicts on a real broker: what its members and others really did, told from its offsets alone."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from consumers.jobs.hold import Ports
from consumers.models import ConsumerGroup, Reset, ResetQueue, ResetStatus
from consumers.polling.registration import Wire
from consumers.resets.applying.run import work
from consumers.rocketmq.wire.codes import RequestCode
from consumers.words.reasons import stored_words
from dashboard.demo.cluster import RocketMQ
from tests.plugins.counting_consumers import CountingConsumers
from tests.plugins.java_admin import JavaAdmin
from tests.reset_rows import a_reset, a_reset_queue, an_operator
from tests.world import a_broker, a_cluster, a_group

pytestmark = [pytest.mark.live, pytest.mark.django_db]

MESSAGES = 320
BROKER = "broker-a"
MASTER = {"version": "V5_4_0", "server_side": True, "permission": 6}


class Site:
    # How long a broker may take to answer.
    deadline_seconds = 10.0

    def __init__(self, cluster: RocketMQ, admin: JavaAdmin, wire: Wire) -> None:
        self.broker, self._admin, self._wire = cluster.brokers[BROKER], admin, wire
        self._row = a_cluster("live", read_at=None)
        a_broker(self._row, address=self.broker.address)

    @property
    def ports(self) -> Ports:
        return Ports.of(self._row, self._wire, deadline_seconds=self.deadline_seconds)

    def topic(self, name: str, messages: int = MESSAGES) -> str:
        self._admin.create_topic(name, 2)
        for queue_id in (0, 1):
            self._admin.send(name, BROKER, queue_id, messages)
        return name

    def group(self, name: str) -> ConsumerGroup:
        self._admin.create_group(name)
        return a_group(self._row, name)

    def stands(self, group: str, topic: str, queue_id: int) -> int | None:
        return self._wire.run(self.ports.known(BROKER).consumer_offset(group, topic, queue_id))

    def commit(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """By somebody who pulled in the group's name, and so took the broker's note that it was reset."""
        fields = {"consumerGroup": group, "topic": topic, "queueId": str(queue_id), "queueOffset": "0"}
        fields |= {"maxMsgNums": "1", "sysFlag": "4", "commitOffset": "0", "suspendTimeoutMillis": "0"}
        fields |= {"subscription": "*", "subVersion": "0"}
        pull = self._wire.pool.request(self.broker.address, RequestCode.PULL_MESSAGE, fields, deadline_seconds=5.0)
        self._wire.run(pull)
        self._wire.run(self.ports.writes(BROKER).commit(group, topic, queue_id, offset))

    def apply(self, reset: Reset, pause: Callable[[float], None] = time.sleep) -> dict[int, ResetQueue]:
        """By queue id. The plan is as of now."""
        for row in reset.queues_of_it.all():
            row.now_offset = self.stands(reset.group_name, row.topic, row.queue_id)
            row.save()
        reset.started_at = timezone.now()
        reset.save()
        work(reset.pk, self.ports, timezone.now, pause)
        reset.refresh_from_db()
        return {row.queue_id: row for row in reset.queues_of_it.all()}


@pytest.fixture
def site(rocketmq: RocketMQ, java_admin: JavaAdmin, settings: Any) -> Iterator[Site]:
    settings.RESET_SETTLED_SECONDS, settings.RESET_READ_BACK_SECONDS = 2, 4
    wire = Wire()
    yield Site(rocketmq, java_admin, wire)
    wire.close()


def a_plan(group: ConsumerGroup, topic: str, targets: list[int], members: list[str], messages: int = MESSAGES) -> Reset:
    model, way = ("CLUSTERING", "CONSUME_PASSIVELY") if members else (None, None)
    seen = {"members": members, "orderly": None, "message_model": model, "consume_type": way}
    address = group.cluster.brokers.get(name=BROKER).address
    seen["brokers"] = {BROKER: {**MASTER, "address": address}}
    by = {"applied_by": an_operator(), "applied_by_name": "ann"}
    reset = a_reset(group, status=ResetStatus.APPLYING, seen=seen, started_at=timezone.now(), **by)
    for queue_id, target in enumerate(targets):
        a_reset_queue(reset, queue_id, topic=topic, target=target, min_offset=0, max_offset=messages)
    return reset


def said(rows: dict[int, ResetQueue]) -> list[str | None]:
    return [row.outcome for _, row in sorted(rows.items())]


def test_without_members_what_stands_is_confirmed_and_what_another_committed_is_not(site: Site) -> None:
    topic, group = site.topic("ReadBackStill"), site.group("read-back-still")
    later = [lambda: site.commit(group.name, topic, 1, 77)]

    def pause(length: float) -> None:
        time.sleep(length)
        if later:
            later.pop()()

    reset = a_plan(group, topic, [40, 50], [])
    rows = site.apply(reset, pause)

    assert said(rows) == ["CONFIRMED", "OVERWRITTEN"], stored_words(rows[1].evidence)
    assert [offset for _, offset in rows[1].readings] == [50, 77]
    assert (reset.status, site.stands(group.name, topic, 0)) == (ResetStatus.PARTIAL, 40)


def test_a_member_that_begins_at_the_targets_is_told_by_its_commits(
    site: Site, rocketmq: RocketMQ, rocketmq_jars: Path, tmp_path: Path, settings: Any
) -> None:
    # It ends once the member has committed, which takes a busy machine some seconds.
    settings.RESET_READ_BACK_SECONDS = 60
    # Without the reset the member would come to the second target a minute after its start.
    messages, ahead = 1000, 980
    topic, group = site.topic("ReadBackMoves", messages), site.group("read-back-moves")
    membership = {"group": group.name, "topic": topic, "instance": "read-back", "commit_milliseconds": 1000}
    slow = {"seconds": (0.06, 0.06), "hold_messages": 20, "pull_messages": 4, "threads": 2, **membership}
    with CountingConsumers(rocketmq.namesrv, rocketmq_jars, tmp_path / "member", [slow]) as consumers:
        while (site.stands(group.name, topic, 0) or 0) < 60:
            time.sleep(0.1)
        reset = a_plan(group, topic, [5, ahead], ["127.0.0.1@read-back"], messages)
        rows = site.apply(reset)
        consumed = consumers.consumed()

    assert said(rows) == ["CONFIRMED", "CONFIRMED"], [stored_words(row.evidence) for row in rows.values()]
    assert reset.status == ResetStatus.APPLIED
    assert consumed[topic, 0, 4] == 1
    assert consumed[topic, 0, 5] == 2
    assert consumed[topic, 1, ahead - 1] == 0
    assert consumed[topic, 1, ahead] == 1


def test_a_broker_that_stops_answering_leaves_its_queues_unknown(site: Site) -> None:
    topic, group = site.topic("ReadBackSilent"), site.group("read-back-silent")
    assert site.broker.pid is not None
    stopping = [site.broker.pid]
    site.deadline_seconds = 1.0

    def pause(length: float) -> None:
        if stopping:
            os.kill(stopping.pop(), signal.SIGSTOP)
        time.sleep(length)

    try:
        reset = a_plan(group, topic, [40], [])
        row = site.apply(reset, pause)[0]
    finally:
        os.kill(site.broker.pid, signal.SIGCONT)

    assert (row.outcome, row.after, reset.status) == ("UNKNOWN", 40, ResetStatus.PARTIAL)
    assert "After that it could not be read" in str(stored_words(row.evidence))
