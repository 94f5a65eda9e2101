"""A fleet at work on two brokers, a whole site that watches it, and a receiver of what is told."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard.demo.cluster import RocketMQ
from tests.consumers.alerting.fleet import EACH, GROUPS, RULES, at_work, start, topic_of, until
from tests.consumers.alerting.live_site import LiveSite
from tests.consumers.alerting.receiver import SECRET, Receiver
from tests.consumers.alerting.traffic import Traffic
from tests.plugins.counting_consumers import CountingConsumers
from tests.plugins.java_admin import JavaAdmin


@pytest.fixture
def admin(rocketmq_pair: RocketMQ, java_admin_pair: JavaAdmin) -> JavaAdmin:
    for group in GROUPS:
        java_admin_pair.create_topic(topic_of(group), 1)
        java_admin_pair.create_group(group)
    return java_admin_pair


@pytest.fixture
def members(
    rocketmq_pair: RocketMQ, rocketmq_jars: Path, admin: JavaAdmin, tmp_path: Path
) -> Iterator[dict[str, CountingConsumers]]:
    """By group; all of them consume what comes."""
    members = {group: start(rocketmq_pair, rocketmq_jars, tmp_path, group) for group in GROUPS}
    try:
        with Traffic(admin, [topic_of(group) for group in GROUPS], "broker-a", 1, EACH):
            yield members
    finally:
        for member in members.values():
            member.kill()


@pytest.fixture
def site(rocketmq_pair: RocketMQ, members: dict[str, CountingConsumers], tmp_path: Path) -> Iterator[LiveSite]:
    """It has seen the whole fleet at work."""
    with LiveSite(tmp_path, rocketmq_pair.namesrv) as site:
        until(lambda: all(at_work(site, group) for group in GROUPS))
        yield site


@pytest.fixture
def receiver(site: LiveSite) -> Iterator[Receiver]:
    """Told of the rules of this test alone."""
    receiver = Receiver()
    for rule in site.ask("GET", "alert-rules/?page_size=1000")["results"]:
        site.ask("PATCH", f"alert-rules/{rule['id']}/", {"enabled": False})
    site.ask("POST", "channels/", {"name": "fleet", "kind": "webhook", "url": receiver.url, "secret": SECRET})
    for rule in RULES:
        site.ask("POST", "alert-rules/", rule)
    yield receiver
    receiver.down()
