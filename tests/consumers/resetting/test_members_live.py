"""Real members consume again what the plan of a reset promised."""

from pathlib import Path
from typing import Any

import pytest

from dashboard.demo.cluster import RocketMQ
from tests.consumers.resetting.live_site import ALL, Site, a_topic, applied, everywhere, outcomes, wait_until
from tests.plugins.counting_consumers import CountingConsumers
from tests.plugins.java_admin import JavaAdmin

pytestmark = [
    pytest.mark.live,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("tasks_at_once"),
]


def member(group: str, topic: str, least: float, most: float, **more: Any) -> dict[str, Any]:
    instance = {"group": group, "topic": topic, "instance": f"{group}-1", "commit_milliseconds": 1000, **more}
    return {"seconds": (least, most), **instance}


def test_members_consume_again_what_the_plan_promised(
    site: Site, java_admin_pair: JavaAdmin, rocketmq_pair: RocketMQ, rocketmq_jars: Path, tmp_path: Path
) -> None:
    moments = {kind: a_topic(java_admin_pair, f"Reset{kind}") for kind in ("Concurrent", "Orderly", "Broadcast")}
    members = [
        member("reset-concurrent", "ResetConcurrent", 0, 0),
        member("reset-orderly", "ResetOrderly", 0, 0, orderly=True),
        member("reset-broadcast", "ResetBroadcast", 0, 0, broadcasting=True),
    ]
    for one in members:
        java_admin_pair.create_group(one["group"])
    with CountingConsumers(rocketmq_pair.namesrv, rocketmq_jars, tmp_path / "members", members) as consumers:

        def consumed(topic: str) -> int:
            return sum(count for place, count in consumers.consumed().items() if place[0] == topic)

        for group, topic in (("reset-concurrent", "ResetConcurrent"), ("reset-orderly", "ResetOrderly")):
            wait_until(lambda group=group, topic=topic: site.offsets(group, topic) == everywhere(ALL))
        site.poll()

        refused = site.plan("reset-broadcast", "earliest")
        assert refused["status_code"] == 409
        assert "broadcast" in refused["detail"].lower()

        promised = {"ResetConcurrent": 4 * ALL, "ResetOrderly": 4 * ALL}
        for group, topic, kind, value in (
            ("reset-concurrent", "ResetConcurrent", "earliest", None),
            ("reset-orderly", "ResetOrderly", "time", moments["Orderly"]),
        ):
            planned = site.plan(group, kind, value)
            assert planned["status_code"] == 201, planned
            promised[topic] += sum(row["replayed_messages"] for row in planned["queues"])
            reset = applied(site, planned)
            assert reset["totals"]["replayed_in_fact"] == planned["totals"]["replayed_messages"]
            assert outcomes(reset) == {"CONFIRMED"}, reset
            wait_until(lambda group=group, topic=topic: site.offsets(group, topic) == everywhere(ALL))
            assert consumed(topic) == promised[topic], (group, kind)
