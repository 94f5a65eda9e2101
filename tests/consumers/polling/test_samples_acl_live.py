"""Samples of a broker with access control: Get lets all but a pull pass, and a refusal is said once per topic."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Cluster, QueueSample
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.polling.registration import set_secret
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.codes import BrokerRefused, Credentials
from consumers.rocketmq.wire.connection import ConnectionPool
from dashboard.demo.cluster import RocketMQ
from tests.consumers.polling.guarded_broker import CONFIG, CREATE_ACL, create_user, fill, tell

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

TOPIC, GROUP, SECRET = "SampledGuarded", "sampled-guarded", "right-secret"


@pytest.fixture(scope="module")
def guarded(rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RocketMQ]:
    """`monitor` may Get and List; `reader` may also subscribe to the topic with the group that pulls."""
    with RocketMQ(tmp_path_factory.mktemp("sampled_guarded"), rocketmq_jars, config=CONFIG) as cluster:
        address = cluster.brokers["broker-a"].address
        fill(address, TOPIC, GROUP, messages=5, consumed=2)
        create_user(address, "monitor", SECRET, ["Topic:*", "Group:*"])
        create_user(address, "reader", SECRET, ["Topic:*", "Group:*"])
        entries = [
            {"resource": resource, "actions": ["Get", "List", "Sub"], "decision": "Allow"}
            for resource in (f"Topic:{TOPIC}", "Group:TOOLS_CONSUMER")
        ]
        acl = {"subject": "User:reader", "policies": [{"policyType": "Custom", "entries": entries}]}
        tell(address, CREATE_ACL, {"subject": "User:reader"}, json.dumps(acl).encode())
        yield cluster


def ask(guarded: RocketMQ, user: str, use: Callable[[BrokerAdmin], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        async with ConnectionPool(credentials=Credentials(user, SECRET)) as pool:
            return await use(BrokerAdmin(pool, guarded.brokers["broker-a"].address))

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("use", "answer"),
    [
        (lambda broker: broker.consumer_offset(GROUP, TOPIC, 0), 2),
        (lambda broker: broker.search_offset(TOPIC, 0, 0), 0),
        (lambda broker: broker.consume_queue(TOPIC, 0, 4, 64), 1),
    ],
    ids=["offset", "search", "consume queue"],
)
def test_get_and_list_are_enough_for_all_but_a_pull(guarded: RocketMQ, use: Any, answer: int) -> None:
    found = ask(guarded, "monitor", use)
    assert (len(found.entries) if hasattr(found, "entries") else found) == answer


def test_a_pull_needs_sub(guarded: RocketMQ) -> None:
    with pytest.raises(BrokerRefused, match=r"NO_PERMISSION \(16\)"):
        ask(guarded, "monitor", lambda broker: broker.pull(TOPIC, 0, 2))
    pulled = ask(guarded, "reader", lambda broker: broker.pull(TOPIC, 0, 2))
    assert [message.queue_offset for message in pulled.messages] == [2]


def test_a_refusal_is_said_once_and_the_topic_left_alone(guarded: RocketMQ, tmp_path: Path) -> None:
    cluster = Cluster(name="guarded", namesrv=guarded.namesrv, created_at=timezone.now())
    set_secret(cluster, "monitor", SECRET, site.SECRET_KEY)
    cluster.save()
    poller = ClusterPoller(cluster, PollSettings(Cadence(0, 0), Budget(0, 0), 5.0, Lake.at(str(tmp_path)), 0))
    try:
        now = timezone.now()
        asked = [
            poller.poll(now + timedelta(seconds=seconds)).row.members["samples"]["first_stored"]
            for seconds in (0, 120, 601)
        ]
    finally:
        poller.close()
    sample = QueueSample.objects.get(group__name=GROUP)
    assert asked == [1, 0, 1]
    assert sample.first_stored_at is None
    assert "NO_PERMISSION (16)" in (sample.first_error or "")
