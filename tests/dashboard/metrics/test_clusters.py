"""Which cluster is meant, and how much of it is given."""

import gzip
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.test import Client

from consumers.models import Broker
from dashboard.metrics.views import GZIP_BITS, zipped
from tests.exposition_parser import Samples, parsed
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot, a_total

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def clusters() -> Iterator[None]:
    """Two, with a group each: 3 and 5 behind."""
    with time_machine.travel(NOW, tick=False):
        for name, lag in (("prod", 3), ("test", 5)):
            cluster = a_cluster(name)
            a_broker(cluster, cluster_name="DefaultCluster")
            group = a_group(cluster, f"{name}-group")
            a_snapshot(group, a_queue(cluster), 0, lag)
            a_snapshot(group, a_queue(cluster, queue_id=1), 0, 2 * lag)
            a_total(group, 3 * lag)
        yield


def text_of(api: Client, path: str = "/metrics", **headers: str) -> str:
    return b"".join(api.get(path, headers=headers).streaming_content).decode()  # type: ignore[attr-defined]


def samples_of(api: Client, path: str = "/metrics") -> Samples:
    return parsed(text_of(api, path))


def labels_of(samples: Samples, name: str) -> list[str]:
    return sorted(value for family, labels in samples if family == name for key, value in labels if key == "group")


def test_of_two_clusters_the_names_without_a_cluster_are_not_there_and_a_line_says_so(api: Client) -> None:
    text = text_of(api)
    assert not any(name.startswith("rocketmq_") for name, _ in parsed(text))
    assert text.startswith("# The names of rocketmq-exporter have no place for two clusters: ")
    assert "one of prod, test.\n" in text


def test_openmetrics_has_no_such_line(api: Client) -> None:
    parsed(text_of(api, accept="application/openmetrics-text"), open_metrics=True)


def test_of_one_cluster_both_sets_of_names_are_there_and_nothing_of_the_other(api: Client) -> None:
    samples = samples_of(api, "/metrics?cluster=test")
    assert labels_of(samples, "rocketmq_group_diff") == ["test-group"]
    assert labels_of(samples, "consumerscope_group_lag_messages") == ["test-group"]
    assert not any(("cluster", "prod") in labels for _, labels in samples)


def test_a_cluster_that_is_not_registered_is_a_problem_that_says_so(api: Client) -> None:
    answer = api.get("/metrics?cluster=nosuch")
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
    assert answer.json()["detail"] == "There is no cluster 'nosuch'."


def test_groups_that_match_no_pattern_are_left_out_and_counted(api: Client, settings: Any) -> None:
    settings.METRICS_GROUPS = ["prod-*", "other"]
    samples = samples_of(api)
    assert labels_of(samples, "consumerscope_group_lag_messages") == ["prod-group"]
    assert samples["consumerscope_left_out_groups", frozenset({("cluster", "test")})] == 1
    assert labels_of(samples_of(api, "/metrics?cluster=test"), "rocketmq_group_diff") == []


def test_what_is_beyond_the_bound_of_a_family_is_counted(api: Client, settings: Any) -> None:
    settings.METRICS_SERIES = 1
    samples = samples_of(api)
    assert labels_of(samples, "consumerscope_group_lag_messages") == ["prod-group"]
    left_out = frozenset({("family", "consumerscope_group_lag_messages")})
    assert samples["consumerscope_series_left_out", left_out] == 1


@pytest.mark.parametrize(("most", "lags", "left_out"), [(0, [], None), (3, [10, 6, 5], 1), (9, [10, 6, 5, 3], None)])
def test_single_queues_are_there_as_far_as_they_may_the_farthest_behind_first(
    api: Client, settings: Any, most: int, lags: list[int], left_out: int | None
) -> None:
    settings.METRICS_QUEUE_SERIES = most
    samples, name = samples_of(api), "consumerscope_queue_lag_messages"
    assert sorted((value for (family, _), value in samples.items() if family == name), reverse=True) == lags
    assert samples.get(("consumerscope_series_left_out", frozenset({("family", name)}))) == left_out


def test_it_is_packed_for_who_takes_that(api: Client) -> None:
    answer = api.get("/metrics", headers={"accept-encoding": "deflate, gzip;q=0.8"})
    assert answer["Content-Encoding"] == "gzip"
    assert gzip.decompress(b"".join(answer.streaming_content)).decode() == text_of(api)  # type: ignore[attr-defined]


@pytest.mark.parametrize("accepted", ["", "identity", "gzip;q=0", "gzip; q=0.000"])
def test_it_is_not_packed_for_who_does_not(api: Client, accepted: str) -> None:
    assert not api.get("/metrics", headers={"accept-encoding": accepted}).has_header("Content-Encoding")


def test_each_piece_is_packed_as_it_comes() -> None:
    packed, unpacker = zipped(iter([b"first\n", b"last\n"])), zlib.decompressobj(GZIP_BITS)
    assert unpacker.decompress(next(packed)) == b"first\n"
    assert unpacker.decompress(b"".join(packed)) == b"last\n"


def test_it_says_how_far_each_broker_is_behind_with_its_dispatch(api: Client) -> None:
    Broker.objects.filter(cluster__name="prod").update(dispatch_behind_bytes=64 * 2**20)
    found = {
        dict(labels)["cluster"]: value
        for (name, labels), value in samples_of(api).items()
        if name == "consumerscope_broker_dispatch_behind_bytes"
    }
    assert found == {"prod": 64 * 2**20}


def test_a_lower_bound_of_a_queue_s_lag_is_no_series(api: Client, settings: Any) -> None:
    settings.METRICS_QUEUE_SERIES = 10
    Broker.objects.filter(cluster__name="prod").update(dispatch_behind_bytes=64 * 2**20)
    samples = samples_of(api).items()
    assert sorted(value for (name, _), value in samples if name == "consumerscope_queue_lag_messages") == [5, 10]
