"""GET /api/v1/clusters/"""

import pytest
import time_machine

from consumers.models import HistorySize
from tests.delay_rows import a_delaying_broker, levels
from tests.world import NOW, a_broker, a_cluster, a_dead_broker, ago

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
    assert row["unknown"]["last_reading"] == "not polled yet"


@time_machine.travel(NOW, tick=False)
def test_it_tells_what_waits_on_the_delay_levels_of_each_broker(api):
    cluster = a_cluster()
    a_delaying_broker(cluster)
    levels(cluster, level3=5)
    [row] = api.get(URL).json()["results"]
    [broker] = row["delay_levels"]
    assert {name: broker[name] for name in ("broker", "configured", "backlog", "unknown")} == {
        "broker": "broker-a",
        "configured": 4,
        "backlog": 5,
        "unknown": {},
    }
    assert broker["levels"][2] == {
        "level": 3,
        "delay_seconds": 10.0,
        "backlog": 5,
        "next_due_at": ago(-20).isoformat().replace("+00:00", "Z"),
        "overdue_seconds": 0.0,
        "unknown": {},
    }


@time_machine.travel(NOW, tick=False)
def test_delay_levels_that_were_not_read_are_null_with_their_reason(api):
    a_delaying_broker(a_cluster(), delays_error="no permission")
    [row] = api.get(URL).json()["results"]
    level = row["delay_levels"][0]["levels"][0]
    why = "broker-a did not report its delay levels: no permission"
    assert (level["backlog"], level["overdue_seconds"], level["unknown"]["backlog"]) == (None, None, why)


def test_it_is_empty_without_clusters(api):
    assert api.get(URL).json() == {"count": 0, "next": None, "previous": None, "results": []}


def test_it_refuses_a_parameter_that_it_does_not_know(api):
    answer = api.get(URL, {"name": "prod"})
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["name"])


def test_it_only_reads(api):
    assert api.post(URL).status_code == 405


@pytest.mark.parametrize(("named", "read_only"), [(["prod"], True), (["*"], True), ([], False)])
def test_it_tells_whether_a_cluster_is_read_only(api, settings, named, read_only):
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = named
    a_cluster()
    [row] = api.get(URL).json()["results"]
    assert row["read_only"] is read_only


def the_history(api):
    [row] = api.get(URL).json()["results"]
    return row["history"]


@time_machine.travel(NOW, tick=False)
def test_it_tells_the_room_that_the_history_of_a_cluster_takes(api, settings):
    settings.LAKE_DISK_FLOOR_MIB = 1
    a_cluster()
    days = [["2026-03-13", 2_000_000]]
    table = {"bytes": 9_000_000, "first_day": "2026-03-12", "oldest_whole_day": days[0], "newest_whole_days": days}
    tables = {"prod": {"windows_600": table}}
    HistorySize.objects.create(measured_at=ago(600), seconds=0.1, free_bytes=2**20 + 4_000_000, tables=tables)
    history = the_history(api)
    assert {name: history[name] for name in ("bytes", "growth_bytes_a_day", "floor_bytes", "floor_seconds")} == {
        "bytes": 9_000_000, "growth_bytes_a_day": 2_000_000, "floor_bytes": 2**20, "floor_seconds": 2 * 86400,
    }  # fmt: skip
    [of_table] = [one for one in history["tables"] if one["table"] == "windows_600"]
    assert (of_table["kept_seconds"], of_table["bytes"], of_table["unknown"]) == (90 * 86400, 9_000_000, {})


@time_machine.travel(NOW, tick=False)
def test_history_that_was_not_measured_is_null_with_its_reason(api):
    a_cluster()
    history = the_history(api)
    for name in ("measured_at", "bytes", "growth_bytes_a_day", "free_bytes", "floor_seconds"):
        assert history[name] is None
        assert history["unknown"][name].startswith("not measured yet")
