"""A member that is killed: no more deliveries are certain than real clients wrote down, and the crash covers what came
again."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from dashboard.demo.cluster import RocketMQ
from tests.consumers.repeats.conftest import evaluated, site
from tests.consumers.repeats.test_repeats_live import member, polled_until, sent_at_once, settled_between_two
from tests.consumers.resetting.live_site import Site
from tests.plugins.counting_consumers import CountingConsumers, Place
from tests.plugins.java_admin import JavaAdmin

__all__ = ["evaluated", "site"]
pytestmark = [
    pytest.mark.live,
    pytest.mark.spark,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("tasks_at_once"),
]

GROUP, TOPIC, BROKER = "attempts-killed", "AttemptsKilled", "broker-a"
QUEUES, MESSAGES, SAMPLED = 2, 800, 12
EACH_MESSAGE = (0.03, 0.06)


def told(api: Client, admin: JavaAdmin, queue_id: int, offset: int) -> dict[str, Any]:
    [stored, *_] = admin.stored_messages(TOPIC, BROKER, queue_id, offset)
    answer = api.get(f"/api/v1/groups/repeats/{GROUP}/messages/{stored['stored_id']}/attempts/")
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def sampled(places: list[Place]) -> list[Place]:
    """Some of them, spread over all."""
    return sorted(places)[:: max(1, len(places) // SAMPLED)][:SAMPLED]


def test_a_killed_members_messages_are_told_with_the_crash(
    site: Site,
    evaluated: Callable[[str, str], None],
    api: Client,
    api_user: User,
    java_admin_pair: JavaAdmin,
    rocketmq_pair: RocketMQ,
    rocketmq_jars: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    api_user.user_permissions.add(Permission.objects.get(codename="view_message_body"))
    java_admin_pair.create_topic(TOPIC, QUEUES, broker=BROKER)
    java_admin_pair.create_group(GROUP)
    start = [rocketmq_pair.namesrv, rocketmq_jars]
    with (
        CountingConsumers(*start, tmp_path / "killed", [member(GROUP, TOPIC, 1, EACH_MESSAGE)]) as killed,
        CountingConsumers(*start, tmp_path / "staying", [member(GROUP, TOPIC, 2, EACH_MESSAGE)]) as staying,
    ):
        first = settled_between_two(site, GROUP, QUEUES)
        sent_at_once(
            lambda: [java_admin_pair.send(TOPIC, BROKER, queue_id, MESSAGES) for queue_id in range(QUEUES)],
            killed,
            staying,
        )
        third = QUEUES * MESSAGES // 3
        polled_until(site, lambda: len(killed.consumed()) + len(staying.consumed()) > third, "little was consumed")
        killed.kill()
        every = QUEUES * MESSAGES
        polled_until(site, lambda: len(killed.consumed() | staying.consumed()) == every, "not everything was consumed")
        end = {(BROKER, queue_id): MESSAGES for queue_id in range(QUEUES)}
        last = polled_until(site, lambda: site.offsets(GROUP, TOPIC) == end, "not everything was committed")
        last = site.poll()
        truth: Counter[Place] = sum((killed.consumed(), staying.consumed()), Counter())
    evaluated(first, last)

    again, once = ([place for place, times in truth.items() if (times > 1) is more] for more in (True, False))
    assert again, "nothing came again"
    lines = []
    for place in [*sampled(again), *sampled(once)]:
        answer = told(api, java_admin_pair, place[1], place[2])
        [message], [attempt] = answer["messages"], answer["attempts"]
        assert 1 <= message["deliveries_low"] <= truth[place], (place, message["sentence"])
        if truth[place] > 1:
            assert [one["cause"] for one in attempt["repeats"]] == ["consumer_crash"], (place, answer)
            before, after = (one["owner"] for one in message["deliveries"])
            assert before in (f"127.0.0.1@{GROUP}-1", None), message["sentence"]
            assert after in (f"127.0.0.1@{GROUP}-2", None), message["sentence"]
        lines.append(f"{place[1]}/{place[2]}: {truth[place]} times. {message['sentence']}")
    with capsys.disabled():
        print("\n" + "\n".join(lines))
