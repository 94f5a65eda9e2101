"""Clusters, their brokers, and how fresh their readings are."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from consumers.clusters.queries import CONFIGURED, COUNTED_WITH_MASTER, NOT_ITS_TURN, cluster_list
from consumers.models import Cluster
from consumers.queries.limits import Freshness, broker_ages, missed
from tests.world import NOW, a_broker, a_cluster, a_dead_broker, a_reading, ago


@pytest.mark.django_db
def test_a_reading_that_is_recorded_meanwhile_makes_nothing_old_new():
    """Brokers are asked for first: late beside a new reading, never fresh beside an old one."""
    a_broker(a_cluster())
    with CaptureQueriesContext(connection) as queries:
        broker_ages()
    assert ['FROM "consumers_broker"' in query["sql"] for query in queries] == [True, False]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("read_at", "broker", "expected"),
    [
        (ago(5), {}, Freshness.FRESH),
        (ago(35), {"last_read_at": ago(35)}, Freshness.LATE),
        (ago(50), {"last_read_at": ago(50)}, Freshness.SILENT),
        (ago(5), {"failing_since": ago(5), "error": "timed out"}, Freshness.SILENT),
        (ago(5), {"last_read_at": None}, Freshness.SILENT),
        (None, {"last_read_at": None}, Freshness.SILENT),
    ],
)
def test_it_tells_fresh_from_late_from_silent(read_at, broker, expected):
    a_broker(a_cluster(read_at=read_at), **broker)
    assert cluster_list(NOW)[0].freshness == expected


@pytest.mark.django_db
def test_it_counts_and_names_the_brokers_that_are_read():
    cluster = a_cluster()
    a_broker(cluster)
    a_dead_broker(cluster)
    a_broker(cluster, "broker-a", broker_id=1, last_read_at=None, reachable=None)

    [row] = cluster_list(NOW)

    assert (row.brokers_read, row.brokers_listed) == (1, 2)
    assert (row.freshness_detail, row.since) == ("broker-b could not be read: connection refused", ago(300))
    assert [(broker.name, broker.id) for broker in row.brokers] == [("broker-a", 0), ("broker-a", 1), ("broker-b", 0)]
    assert row.brokers[1].unknown == {
        **dict.fromkeys(("reachable", "last_read_at", "dispatch_behind_bytes"), NOT_ITS_TURN),
        **dict.fromkeys(("calls", "bytes", "seconds"), COUNTED_WITH_MASTER),
        **dict.fromkeys(CONFIGURED, "only masters are asked for their configuration"),
    }


@pytest.mark.django_db
def test_it_is_silent_when_no_name_server_answered():
    cluster = a_cluster()
    a_broker(cluster, last_read_at=ago(20))
    a_reading(cluster, ago(2), complete=False, queues=0, error="no name server answered")

    [row] = cluster_list(NOW)

    assert (row.freshness, row.brokers_read) == (Freshness.SILENT, 0)
    assert row.last_reading.error == "no name server answered"


@pytest.mark.django_db
def test_it_is_late_when_the_brokers_were_read_without_a_name_server():
    cluster = a_cluster()
    a_broker(cluster)
    brokers = [{"name": "broker-a", "read": True, "error": None}]
    a_reading(cluster, ago(2), error="no name server answered", brokers=brokers)

    [row] = cluster_list(NOW)

    assert (row.freshness, row.brokers_read) == (Freshness.LATE, 1)
    assert row.freshness_detail == "no name server answered"


@pytest.mark.django_db
def test_it_says_of_a_cluster_that_was_never_read_that_it_was_not():
    a_cluster(read_at=None)

    [row] = cluster_list(NOW)

    assert (row.last_reading, row.since, row.freshness) == (None, None, Freshness.SILENT)
    assert row.unknown == dict.fromkeys(("last_reading", "since"), "not polled yet")


@pytest.mark.django_db
def test_it_counts_the_readings_that_failed_and_those_that_were_missed():
    cluster = a_cluster(read_at=None)
    Cluster.objects.update(created_at=ago(100))
    a_broker(cluster)
    for seconds, complete in ((95, True), (80, False), (35, True), (20, True), (5, True)):
        a_reading(cluster, ago(seconds), complete=complete)

    [row] = cluster_list(NOW)

    assert (row.failed_readings, row.missed_readings) == (1, 2)
    assert row.readings[0].taken_at == ago(5)


@pytest.mark.django_db
@pytest.mark.parametrize(("registered", "expected"), [(7200, 239), (600, 39), (15, 0), (-5, 0)])
def test_what_was_never_read_missed_every_reading_since_it_was_registered(registered, expected):
    a_cluster(read_at=None)
    Cluster.objects.update(created_at=ago(registered))
    assert cluster_list(NOW)[0].missed_readings == expected


@pytest.mark.django_db
def test_it_says_why_no_broker_is_known():
    cluster = a_cluster(read_at=None)
    a_reading(cluster, ago(5), complete=False, error="no name server answered")
    [row] = cluster_list(NOW)
    assert (row.freshness, row.freshness_detail) == (Freshness.SILENT, "no name server answered")
    assert row.unknown == {"since": "no name server answered"}


@pytest.mark.django_db
def test_it_says_why_it_does_not_know_since_when_it_is_silent():
    a_broker(a_cluster(), last_read_at=None)
    [row] = cluster_list(NOW)
    assert (row.since, row.unknown) == (None, {"since": "broker-a has not been scraped yet"})


@pytest.mark.django_db
def test_a_broker_that_was_not_asked_for_too_long_is_not_called_reachable():
    a_broker(a_cluster(read_at=ago(7200)), last_read_at=ago(7200))
    [broker] = cluster_list(NOW)[0].brokers
    late = "broker-a has not been read for more than 45 s"
    assert (broker.reachable, broker.note, broker.error) == (None, late, None)
    assert broker.unknown["reachable"] == late


@pytest.mark.django_db
def test_it_shows_the_last_reading_however_old():
    a_cluster(read_at=ago(7200))
    assert cluster_list(NOW)[0].last_reading.taken_at == ago(7200)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [([], 0), ([5], 0), ([20], 0), ([30], 1), ([45, 30, 15], 0), ([52, 29, 14], 1), ([75, 15], 3), ([0], 0)],
)
def test_it_forgives_half_an_interval(seconds, expected):
    assert missed([NOW - timedelta(seconds=second) for second in seconds], 15, NOW) == expected


@pytest.mark.django_db
def test_a_slave_in_the_place_of_its_master_counts_as_read_but_not_as_fresh():
    cluster = a_cluster()
    a_broker(cluster, reachable=False, read_from="10.0.0.2:10911", error="connection refused")

    [row] = cluster_list(NOW)

    said = "read from slave 10.0.0.2:10911; its consumer offsets may lag by up to 63 s"
    assert (row.freshness, row.brokers_read, row.freshness_detail) == (Freshness.LATE, 1, f"broker-a: {said}")
    assert (row.brokers[0].read_from, row.brokers[0].note) == ("10.0.0.2:10911", said)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("tls", "connection"),
    [
        (None, "plain"),
        ({"ca": "/ca.pem", "certificate": None, "key": None, "verify": True}, "TLS"),
        ({"ca": "/ca.pem", "verify": True, "any_host": True}, "TLS, host names not verified"),
        ({"ca": None, "certificate": None, "key": None, "verify": False}, "TLS, certificates not verified"),
    ],
)
def test_it_tells_how_a_cluster_is_connected_to(tls, connection):
    a_cluster(tls=tls)
    assert cluster_list(NOW)[0].connection == connection


@pytest.mark.django_db
def test_a_master_says_what_its_offsets_cost_the_newest_reading():
    cluster = a_cluster(read_at=None)
    a_broker(cluster)
    a_broker(cluster, broker_id=1)
    a_broker(cluster, "broker-b")
    a_reading(cluster, ago(20), brokers=[{"name": "broker-a", "calls": 9, "bytes": 9, "seconds": 9.0}])
    entries = [("broker-b", 3, 2900, 0.3), ("broker-a", 2, 1900, 0.2)]
    brokers = [dict(zip(("name", "calls", "bytes", "seconds"), entry, strict=True)) for entry in entries]
    a_reading(cluster, ago(5), brokers=brokers)

    costs = [(broker.name, broker.calls, broker.bytes, broker.seconds) for broker in cluster_list(NOW)[0].brokers]

    assert costs == [("broker-a", 2, 1900, 0.2), ("broker-a", None, None, None), ("broker-b", 3, 2900, 0.3)]


@pytest.mark.django_db
def test_a_broker_that_is_behind_with_its_dispatch_says_so_and_its_cluster_is_not_fresh():
    cluster = a_cluster()
    a_broker(cluster, dispatch_behind_bytes=64 * 2**20)
    [row] = cluster_list(NOW)
    said = "broker-a has stored 67 MB that it has not dispatched: its lags are lower bounds"
    assert (row.freshness, row.freshness_detail) == (Freshness.LATE, said)
    assert (row.brokers[0].dispatch_behind_bytes, row.brokers[0].note) == (64 * 2**20, said)


@pytest.mark.django_db
def test_a_busy_broker_is_not_called_behind():
    a_broker(a_cluster(), dispatch_behind_bytes=4 * 2**20)
    [row] = cluster_list(NOW)
    assert (row.freshness, row.brokers[0].note) == (Freshness.FRESH, None)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"dispatch_error": "no permission"}, "no permission"),
        (
            {"dispatch_error": '{"code": "no_dispatch_backlog"}'},
            "the broker does not report how far its dispatch is behind",
        ),
        ({"dispatch_behind_bytes": 0, "failing_since": ago(5), "error": "timed out"}, "timed out"),
    ],
)
def test_how_far_a_broker_is_behind_is_unknown_with_a_reason(fields, why):
    a_broker(a_cluster(), **fields)
    [broker] = cluster_list(NOW)[0].brokers
    assert (broker.dispatch_behind_bytes, broker.unknown["dispatch_behind_bytes"]) == (None, why)
