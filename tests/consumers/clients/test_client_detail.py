"""Everything that one client holds, over all groups that it is in."""

from pathlib import Path
from typing import Any

import pytest

from consumers.clients.queries import ClientDetail, client_detail
from consumers.models import Assignment, Broker, Client, Cluster
from tests.world import NOW, a_broker, a_client, a_cluster, a_group, a_judged_group, a_queue, a_snapshot, a_total, ago

pytestmark = pytest.mark.django_db
CLIENT = "10.0.0.7@3312"
STATUS = {
    "Orders": {"consume_rt": 12.5, "consume_ok_tps": 3.0, "consume_failed_tps": 0.0, "consume_failed_messages": 0}
}


@pytest.fixture(autouse=True)
def cluster(settings: Any, tmp_path: Path) -> Cluster:
    """The client is in billing and mail; it owns a queue in billing."""
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    cluster = a_cluster()
    a_broker(cluster)
    billing = a_group(cluster)
    a_total(billing, 10)
    a_judged_group(billing)
    queue = a_queue(cluster)
    a_snapshot(billing, queue, 90, 100)
    said = {"running_info_at": ago(20), "consume_status": STATUS, "started_at": ago(900), "version": "V5_4_0"}
    a_client(billing, settings={"consumeThreadMax": "64", "pullBatchSize": "32", "odd": "1"}, **said)
    a_client(a_group(cluster, "mail"))
    Assignment.objects.create(
        group=billing, queue=queue, client_id=CLIENT, seen_since=ago(600), last_seen=ago(20),
        cached_count=8, cached_mib=2, last_pull_at=ago(21), last_consume_at=ago(22),
    )  # fmt: skip
    return cluster


def detail() -> ClientDetail:
    found = client_detail("prod", CLIENT, now=NOW)
    assert found is not None
    return found


def test_every_group_of_the_client_is_told() -> None:
    assert [row.group for row in detail().groups] == ["billing", "mail"]


def test_a_queue_tells_the_lag_and_what_the_client_holds_of_it() -> None:
    [queue] = detail().groups[0].queues
    assert (queue.lag_messages, queue.cached_messages, queue.cached_mib) == (10, 8, 2)
    assert (queue.last_pull_at, queue.last_consume_at) == (ago(21), ago(22))


def test_what_the_client_does_not_say_of_a_queue_is_unknown() -> None:
    Assignment.objects.update(cached_mib=None)
    [queue] = detail().groups[0].queues
    assert (queue.cached_mib, queue.unknown["cached_mib"]) == (None, "not reported by the client")


def test_how_it_consumes_a_topic_is_told_and_what_is_not_said_is_unknown() -> None:
    [topic] = detail().groups[0].topics
    assert (topic.consume_rt, topic.consume_failed_tps, topic.pull_rt) == (12.5, 0.0, None)
    assert topic.unknown == {"pull_rt": "not reported by the client", "pull_tps": "not reported by the client"}


def test_settings_that_are_no_default_come_first() -> None:
    settings = detail().groups[0].settings
    assert settings is not None
    assert [(one.name, one.value, one.default) for one in settings] == [
        ("consumeThreadMax", "64", "20"),
        ("odd", "1", None),
        ("pullBatchSize", "32", "32"),
    ]


def test_a_client_that_has_not_answered_has_unknown_settings() -> None:
    row = detail().groups[1]
    assert (row.settings, row.unknown["settings"]) == (None, "not sampled")


def test_a_group_that_it_left_is_told_for_a_week() -> None:
    Client.objects.filter(group__name="mail").update(gone_by=ago(3600))
    assert [(row.group, row.gone_by) for row in detail().groups] == [("billing", None), ("mail", ago(3600))]
    Client.objects.filter(group__name="mail").update(gone_by=ago(8 * 86_400))
    assert [row.group for row in detail().groups] == ["billing"]


def test_a_client_that_left_is_not_present() -> None:
    Client.objects.update(gone_by=ago(60))
    assert detail().is_present is False


@pytest.mark.parametrize("gone_by", [None, ago(700)])
def test_whether_a_client_is_present_is_unknown_once_brokers_are_not_scraped(gone_by: Any) -> None:
    Client.objects.update(gone_by=gone_by)
    Broker.objects.update(last_read_at=ago(600))
    found = detail()
    assert (found.is_present, found.unknown["is_present"]) == (None, "broker-a has not been read for more than 45 s")
    assert "no broker lists the client now" not in [row.unknown.get("member") for row in found.groups]


def test_a_client_that_nobody_saw_is_none() -> None:
    assert client_detail("prod", "10.0.0.9@1", now=NOW) is None
