"""A site over a real cluster: polled by hand, its resets planned and applied through REST, its truth from RocketMQ;
and topics and groups on two real brokers: two queues on each, filled at two times.
"""

import json
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.test import Client
from django.utils import timezone

from consumers.polling.poll import ClusterPoller
from consumers.rocketmq.message_calls import call
from consumers.rocketmq.wire.codes import RequestCode
from tests.plugins.java_admin import JavaAdmin

# RocketMQ 5.4.0, RequestCode. Nothing but tests may send it.
UPDATE_BROKER_CONFIG = 25
Place = tuple[str, int]  # broker, queue id


class Site:
    def __init__(self, api: Client, poller: ClusterPoller, admin: JavaAdmin, brokers: list[str]) -> None:
        self._api, self._poller, self._admin, self._brokers = api, poller, admin, brokers
        self.cluster = poller.cluster.name
        self.registered, self.wire = poller.cluster, poller.wire

    def poll(self) -> str:
        """The reading's time."""
        now = timezone.now()
        self._poller.poll(now)
        return now.isoformat()

    def configure(self, address: str, setting: str) -> None:
        self.wire.run(call(self.wire.pool, address, UPDATE_BROKER_CONFIG, body=setting.encode()))

    def plan(self, group: str, kind: str, value: Any = None, **more: Any) -> dict[str, Any]:
        """What REST answers, whatever that is; `status_code` stands in it."""
        target = {"kind": kind, "value": value}
        wanted = {"cluster": self.cluster, "group": group, "target": target, "reason": f"to {kind}", **more}
        return self._told(self._api.post("/api/v1/resets/", wanted, content_type="application/json"))

    def apply(self, planned: dict[str, Any]) -> dict[str, Any]:
        """As it stands once the task is over."""
        path = f"/api/v1/resets/{planned['id']}/"
        confirm = {"confirm": planned["group"]}
        answer = self._api.post(f"{path}apply/", confirm, content_type="application/json")
        assert answer.status_code == 202, answer.content
        return self._told(self._api.get(path))

    def restore(self, applied: dict[str, Any]) -> dict[str, Any]:
        path = f"/api/v1/resets/{applied['id']}/restore/"
        return self._told(self._api.post(path, {"reason": "back"}, content_type="application/json"))

    def offsets(self, group: str, topic: str) -> dict[Place, int]:
        """As the brokers tell RocketMQ's own client: what is committed."""
        return {
            (broker, queue): offset
            for broker in self._brokers
            for queue, offset in _offsets(self._admin.ask(broker, RequestCode.GET_ALL_CONSUMER_OFFSET), topic, group)
        }

    @staticmethod
    def _told(answer: Any) -> dict[str, Any]:
        return {**json.loads(answer.content), "status_code": answer.status_code}


def _offsets(body: str, topic: str, group: str) -> list[tuple[int, int]]:
    """Its keys are bare numbers, which no JSON parser takes."""
    found = re.search(rf'"{re.escape(f"{topic}@{group}")}":{{([^}}]*)}}', body)
    pairs = found.group(1).split(",") if found and found.group(1) else []
    return [(int(queue.strip('"')), int(offset)) for queue, offset in (pair.split(":") for pair in pairs)]


def targets(reset: dict[str, Any]) -> dict[Place, int | None]:
    return {(row["broker"], row["queue_id"]): row["target"] for row in reset["queues"]}


def outcomes(reset: dict[str, Any]) -> set[str | None]:
    return {row["outcome"] for row in reset["queues"]}


BROKERS = ["broker-a", "broker-b"]
PLACES: list[Place] = [(broker, queue) for broker in BROKERS for queue in range(2)]
# Before a moment, and after it.
EARLIER, LATER = 30, 30
ALL = EARLIER + LATER


def everywhere(offset: int) -> dict[Place, int]:
    return dict.fromkeys(PLACES, offset)


def fill(admin: JavaAdmin, topic: str, count: int) -> None:
    for broker, queue in PLACES:
        admin.send(topic, broker, queue, count)


def a_topic(admin: JavaAdmin, topic: str) -> str:
    """Two queues on each broker; between their earlier and their later messages lies the moment that is returned."""
    admin.create_topic(topic, 2)
    fill(admin, topic, EARLIER)
    time.sleep(0.2)
    moment = datetime.now(UTC)
    time.sleep(0.2)
    fill(admin, topic, LATER)
    return moment.isoformat()


def a_group(admin: JavaAdmin, group: str, topic: str, offset: int) -> str:
    admin.create_group(group)
    for broker, queue in PLACES:
        admin.set_offset(group, topic, broker, queue, offset)
    return group


def applied(site: Site, planned: dict[str, Any]) -> dict[str, Any]:
    assert planned["status_code"] == 201, planned
    reset = site.apply(planned)
    assert (reset["status"], reset["error"]) == ("applied", None), reset
    return reset


def wait_until(true: Callable[[], bool], seconds: float = 240) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.2)
