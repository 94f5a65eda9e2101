"""Topics and groups on two real brokers: two queues on each, filled at two times."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.consumers.resetting.live_site import Place, Site
from tests.plugins.java_admin import JavaAdmin

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


def wait_until(true: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.2)
