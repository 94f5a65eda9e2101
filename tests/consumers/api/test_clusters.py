"""GET /api/v1/clusters/"""

import pytest
import time_machine

from tests.world import NOW, a_broker, a_cluster, a_dead_broker

pytestmark = pytest.mark.django_db
URL = "/api/v1/clusters/"


@time_machine.travel(NOW, tick=False)
def test_it_lists_clusters_with_their_brokers_and_last_reading(api):
    cluster = a_cluster()
    a_broker(cluster)
    a_dead_broker(cluster)

    [row] = api.get(URL).json()["results"]

    assert (row["name"], row["namesrv"], row["freshness"]) == ("prod", "127.0.0.1:9876", "silent")
    assert [(broker["name"], broker["reachable"], broker["error"]) for broker in row["brokers"]] == [
        ("broker-a", True, None),
        ("broker-b", False, "connection refused"),
    ]
    assert {name: row["last_reading"][name] for name in ("complete", "calls", "bytes", "seconds", "queues")} == {
        "complete": True,
        "calls": 4,
        "bytes": 1900,
        "seconds": 0.41,
        "queues": 4,
    }


@time_machine.travel(NOW, tick=False)
def test_it_says_null_of_a_cluster_that_was_never_read(api):
    a_cluster(read_at=None)
    [row] = api.get(URL).json()["results"]
    assert (row["last_reading"], row["brokers"]) == (None, [])
    assert row["unknown"]["last_reading"] == "no reading of it has been taken yet"


def test_it_is_empty_without_clusters(api):
    assert api.get(URL).json() == {"count": 0, "next": None, "previous": None, "results": []}


def test_it_refuses_a_parameter_that_it_does_not_know(api):
    answer = api.get(URL, {"name": "prod"})
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["name"])


def test_it_only_reads(api):
    assert api.post(URL).status_code == 405
