"""The names of rocketmq-exporter: its labels, its units, and nothing where it would say 0 of what it does not know."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.test import Client

from consumers.models import Broker, BrokerStatistic, Cluster, ConsumerGroup, GroupTotal
from consumers.vocabulary.states import UnknownReason
from tests.exposition_parser import Samples, parsed
from tests.world import (
    NOW,
    a_broker,
    a_client,
    a_cluster,
    a_dead_broker,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_snapshot,
    a_total,
    ago,
)

pytestmark = pytest.mark.django_db
LEFT_OUT = "consumerscope_series_left_out"
Scrape = Callable[[], dict[str, list[tuple[dict[str, str], float]]]]
DIFF = {"group": "billing", "countOfOnlineConsumers": "2", "msgModel": "1"}
PLACE = {"cluster": "DefaultCluster", "broker": "broker-a", "topic": "Orders"}
CONSUMED = {"consume_ok_tps": 1.5, "consume_failed_tps": 0.5, "consume_failed_messages": 4, "consume_rt": 2.5}
STATUS = {**CONSUMED, "pull_rt": 12.5, "pull_tps": 2.0}


@pytest.fixture
def cluster(settings: Any, tmp_path: Path) -> Iterator[Cluster]:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    with time_machine.travel(NOW, tick=False):
        cluster = a_cluster()
        a_broker(cluster, cluster_name="DefaultCluster")
        yield cluster


@pytest.fixture
def group(cluster: Cluster) -> ConsumerGroup:
    """40 behind on its topic, 3 on its retry topic, 7 dead; two members."""
    group = a_group(cluster)
    for topic, kind, offsets in (("Orders", "normal", (60, 100)), ("%RETRY%billing", "retry", (4, 7))):
        queue = a_queue(cluster, topic, kind=kind)
        a_snapshot(group, queue, *offsets)
        a_judged_queue(group, queue, time_lag_seconds=61.5)
    a_total(group, 43, dlq_messages=7)
    a_judged_group(group, time_lag_seconds=61.5)
    for number in (7, 8):
        said = {"consume_status": {"Orders": STATUS}, "running_info_at": ago(20)} if number == 7 else {}
        a_client(group, f"10.0.0.{number}@3312", address=f"10.0.0.{number}:50001", **said)
    return group


@pytest.fixture
def scrape(api: Client) -> Scrape:
    def named() -> dict[str, list[tuple[dict[str, str], float]]]:
        found: dict[str, list[tuple[dict[str, str], float]]] = {}
        for (name, labels), value in samples_of(api).items():
            found.setdefault(name.removeprefix("rocketmq_"), []).append((dict(labels), value))
        return found

    return named


def samples_of(api: Client, path: str = "/metrics") -> Samples:
    return parsed(b"".join(api.get(path).streaming_content).decode())  # type: ignore[attr-defined]


def test_a_known_group_has_every_family_that_needs_no_second_reading(group: ConsumerGroup, scrape: Scrape) -> None:
    seen, of_group = scrape(), PLACE | {"group": "billing"}
    retry = {"topic": "%RETRY%billing"}
    client = {"clientAddr": "10.0.0.7:50001", "clientId": "10.0.0.7@3312", "group": "billing", "topic": "Orders"}
    assert {name: found for name, found in seen.items() if not name.startswith("consumerscope_")} == {
        "group_diff": [(DIFF | {"topic": "Orders"}, 40)],
        "group_retrydiff": [(DIFF | retry, 3)],
        "group_dlqdiff": [(DIFF | {"topic": "%DLQ%billing"}, 7)],
        "group_count": [
            (
                {
                    "caddr": "10.0.0.7:50001,10.0.0.8:50001",
                    "localaddr": "10.0.0.7@3312,10.0.0.8@3312",
                    "group": "billing",
                },
                2,
            )
        ],
        "consumer_offset": [(of_group | retry, 4), (of_group, 60)],
        "message_accumulation": [(of_group | retry, 3), (of_group, 40)],
        "group_get_latency_by_storetime": [(of_group | retry, 61500), (of_group, 61500)],
        "producer_offset": [(PLACE, 100)],
        "topic_retry_offset": [(PLACE | retry, 7)],
        "client_consume_fail_msg_count": [(client, 4)],
        "client_consume_fail_msg_tps": [(client, 0.5)],
        "client_consume_ok_msg_tps": [(client, 1.5)],
        "client_consume_rt": [(client, 2.5)],
        "client_consumer_pull_rt": [(client, 12.5)],
        "client_consumer_pull_tps": [(client, 2.0)],
    }


def test_a_difference_over_brokers_is_a_sum_and_unknown_as_soon_as_one_is(group: ConsumerGroup, scrape: Scrape) -> None:
    a_broker(group.cluster, "broker-b")
    a_snapshot(group, a_queue(group.cluster, broker="broker-b"), 10, 12)
    assert scrape()["group_diff"] == [(DIFF | {"topic": "Orders"}, 42)]
    Broker.objects.filter(name="broker-b").update(failing_since=ago(5), error="refused")
    assert "group_diff" not in scrape()


def test_a_dead_broker_has_no_offsets_and_no_wait(group: ConsumerGroup, scrape: Scrape) -> None:
    a_dead_broker(group.cluster)
    Broker.objects.update(cluster_name="DefaultCluster")
    a_snapshot(group, a_queue(group.cluster, broker="broker-b"), 10, 12)
    seen = scrape()
    for name in ("consumer_offset", "producer_offset", "group_get_latency_by_storetime", "message_accumulation"):
        assert {labels["broker"] for labels, _ in seen[name]} == {"broker-a"}


def test_a_broker_that_was_never_read_may_have_more_of_any_topic(group: ConsumerGroup, scrape: Scrape) -> None:
    a_broker(group.cluster, "broker-b", last_read_at=None)
    assert "group_diff" not in scrape()


def test_the_number_of_members_is_left_out_where_nobody_knows_it(group: ConsumerGroup, scrape: Scrape) -> None:
    ConsumerGroup.objects.update(members=None, online=None)
    seen = scrape()
    assert seen["group_diff"] == [({"group": "billing", "topic": "Orders", "msgModel": "1"}, 40)]
    assert not {"group_count", "client_consume_rt"} & seen.keys()


def test_a_group_without_members_has_none(cluster: Cluster, scrape: Scrape) -> None:
    a_total(a_group(cluster, online=False, members=0), 0)
    assert scrape()["group_count"] == [({"caddr": "", "localaddr": "", "group": "billing"}, 0)]


@pytest.mark.parametrize("reason", [UnknownReason.CONSUMER_AHEAD, "broker-a: timed out"])
def test_a_lag_that_is_not_known_is_no_difference(group: ConsumerGroup, scrape: Scrape, reason: str) -> None:
    a_snapshot(group, a_queue(group.cluster, queue_id=1), 130, 100, unknown_reason=reason)
    seen = scrape()
    assert "group_diff" not in seen
    assert [labels["topic"] for labels, _ in seen["message_accumulation"]] == ["%RETRY%billing"]


def test_a_queue_that_was_never_committed_is_in_no_difference(group: ConsumerGroup, scrape: Scrape) -> None:
    a_snapshot(group, a_queue(group.cluster, queue_id=1), None, 900, unknown_reason=UnknownReason.NEVER_COMMITTED)
    seen = scrape()
    assert seen["group_diff"] == [(DIFF | {"topic": "Orders"}, 40)]
    assert seen["producer_offset"] == [(PLACE, 1000)]


@pytest.mark.parametrize("changed", [{"message_model": "BROADCASTING"}, {"outside_store": "RedisStore"}])
def test_a_group_whose_offsets_are_not_its_progress_has_no_difference(
    group: ConsumerGroup, scrape: Scrape, changed: dict[str, str]
) -> None:
    ConsumerGroup.objects.update(**changed)
    assert not {"group_diff", "message_accumulation", "group_get_latency_by_storetime"} & scrape().keys()


def test_dead_letters_that_were_not_read_are_not_none(group: ConsumerGroup, scrape: Scrape) -> None:
    GroupTotal.objects.update(dlq_messages=None)
    assert "group_dlqdiff" not in scrape()


@pytest.mark.parametrize("said", [{"running_info_at": ago(130)}, {"running_info_error": "timed out"}])
def test_a_member_that_has_not_spoken_lately_says_nothing(
    group: ConsumerGroup, scrape: Scrape, said: dict[str, Any]
) -> None:
    group.clients.update(**said)
    assert "client_consume_rt" not in scrape()


def a_statistic(cluster: Cluster, group: str = "", **counts: Any) -> None:
    values = {"broker": "broker-a", "topic": "Orders", "asked_at": ago(30)}
    BrokerStatistic.objects.create(cluster=cluster, group=group, **(values | counts))


def test_what_brokers_count_has_the_exporter_s_names_and_digits(group: ConsumerGroup, scrape: Scrape) -> None:
    a_statistic(group.cluster, bytes_per_second=10.456)
    a_statistic(group.cluster, "billing", bytes_per_second=20.25, sent_back_messages=7)
    seen = scrape()
    assert seen["producer_message_size"] == [(PLACE, 10.46)]
    assert seen["consumer_message_size"] == [(PLACE | {"group": "billing"}, 20.25)]
    assert seen["send_back_nums"] == [(PLACE | {"group": "billing"}, 7)]


COUNTED = {"producer_message_size", "consumer_message_size", "send_back_nums"}


@pytest.mark.parametrize("counts", [{}, {"bytes_per_second": 3.0, "sent_back_messages": 0, "asked_at": ago(130)}])
def test_what_a_broker_has_not_counted_or_said_long_ago_is_absent(
    group: ConsumerGroup, scrape: Scrape, counts: dict[str, Any]
) -> None:
    for name in ("", "billing"):
        a_statistic(group.cluster, name, **counts)
    assert not COUNTED & scrape().keys()


def test_what_brokers_were_not_asked_for_is_counted_by_family(group: ConsumerGroup, scrape: Scrape) -> None:
    assert LEFT_OUT not in scrape(), "nothing was asked yet"
    a_statistic(group.cluster)
    left_out = {labels["family"].removeprefix("rocketmq_"): count for labels, count in scrape()[LEFT_OUT]}
    assert left_out == {"consumer_message_size": 1, "send_back_nums": 1}
    a_statistic(group.cluster, "billing")
    assert LEFT_OUT not in scrape()


def test_a_member_that_was_last_asked_before_pulls_were_stored_has_no_pull_times(
    group: ConsumerGroup, scrape: Scrape
) -> None:
    group.clients.update(consume_status={"Orders": CONSUMED})
    assert not {"client_consumer_pull_rt", "client_consumer_pull_tps"} & scrape().keys()


@pytest.mark.parametrize("name", ['a "name"', "back\\slash", "two\nlines", "100 %", "größe 消费", "\r"])
def test_whatever_a_member_names_the_answer_can_be_read(group: ConsumerGroup, scrape: Scrape, name: str) -> None:
    group.clients.update(consume_status={name: STATUS})
    [(labels, value)] = [found for found in scrape()["client_consume_rt"] if found[0]["clientId"] == "10.0.0.7@3312"]
    assert (labels["topic"], value) == (name, 2.5)


def test_without_the_cluster_s_own_name_its_families_are_absent_for_that_reason(
    group: ConsumerGroup, scrape: Scrape
) -> None:
    Broker.objects.update(cluster_name=None)
    seen = scrape()
    assert not {"consumer_offset", "producer_offset", "group_get_latency_by_storetime"} & seen.keys()
    assert seen["group_diff"] == [(DIFF | {"topic": "Orders"}, 40)]
    assert ({"cluster": "prod", "group": "", "reason": "cluster_name_unread"}, 1) in seen["consumerscope_unknown"]


def test_without_readings_in_the_lake_there_is_no_rate_for_that_reason(group: ConsumerGroup, scrape: Scrape) -> None:
    seen = scrape()
    assert not {"consumer_tps", "producer_tps", "topic_dlq_offset"} & seen.keys()
    assert ({"cluster": "prod", "group": "", "reason": "readings_not_kept"}, 1) in seen["consumerscope_unknown"]
