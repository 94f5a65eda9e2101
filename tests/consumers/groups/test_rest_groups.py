"""GET /api/v1/groups/"""

from datetime import UTC, datetime

import pytest
import time_machine

from consumers.models import GroupState, GroupTotal
from tests.alert_rows import a_note
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_dead_broker,
    a_group,
    a_judged_group,
    a_queue,
    a_snapshot,
    a_total,
    ago,
    stored_us,
)

pytestmark = pytest.mark.django_db
URL = "/api/v1/groups/"


@pytest.fixture
def cluster():
    with time_machine.travel(NOW, tick=False):
        cluster = a_cluster()
        a_broker(cluster)
        yield cluster


def a_whole_group(cluster, name, lag=0, state="OK", broker="broker-a"):
    group = a_group(cluster, name)
    a_snapshot(group, a_queue(cluster, name, broker=broker), 100, 100 + lag)
    a_total(group, lag)
    a_judged_group(group, state)
    return group


def names(client, **query):
    return [row["group"] for row in client.get(URL, query).json()["results"]]


def test_it_answers_in_the_named_fields(cluster, api):
    a_whole_group(cluster, "billing", 40, "WARN")

    [row] = api.get(URL).json()["results"]

    assert (row["cluster"], row["group"], row["state"], row["lag_messages"]) == ("prod", "billing", "WARN", 40)
    assert row["taken_at"] == "2026-03-14T02:59:55Z"
    assert row["time_lag_seconds"] is None
    assert row["unknown"]["time_lag_seconds"].startswith("the lag is newer than the last evaluation")


def test_a_lag_that_is_newer_than_the_evaluation_has_the_time_lag_that_polls_tell(cluster, api):
    a_whole_group(cluster, "billing", 40)
    GroupTotal.objects.update(first_stored_us=stored_us(12.5))

    [row] = api.get(URL).json()["results"]

    assert (row["time_lag_seconds"], row["time_lag_kind"]) == (7.5, "interpolated")
    assert row["time_lag_at"] == row["taken_at"] == "2026-03-14T02:59:55Z"
    assert api.get("/api/v1/groups/prod/billing/status/").json()["time_lag_seconds"] == 7.5


@pytest.mark.parametrize(
    ("stored", "judged", "lag", "expected"),
    [
        (12, {"time_lag_seconds": 33.0}, 40, 33.0),
        (12, {"time_lag_seconds": None}, 40, None),
        (12, {"time_lag_kind": "at_least"}, 40, None),
        (12, {"judged_at": ago(3600)}, 40, None),
        (12, {}, 0, 0.0),
        (12, {}, None, None),
        (3, {}, 40, None),
    ],
    ids=[
        "evaluated",
        "evaluated as unknown",
        "a queue was not evaluated",
        "evaluated too long ago",
        "no lag",
        "a queue is unknown",
        "a newer reading is being recorded",
    ],
)
def test_what_polls_tell_is_of_a_newer_lag_alone(cluster, api, stored, judged, lag, expected):
    group = a_whole_group(cluster, "billing", 40)
    GroupTotal.objects.update(lag_messages=lag, first_stored_us=stored_us(stored))
    GroupState.objects.filter(group=group).update(**judged)
    assert api.get(URL).json()["results"][0]["time_lag_seconds"] == expected


def test_groups_are_ordered_by_the_time_lag_that_polls_tell(cluster, api):
    for name, seconds in (("audit", 8), ("billing", 30), ("stock", 12)):
        group = a_whole_group(cluster, name, 40)
        GroupTotal.objects.filter(group=group).update(first_stored_us=stored_us(seconds))
    assert names(api, ordering="-time_lag_seconds") == ["billing", "stock", "audit"]


def test_retries_of_a_group_that_never_committed_to_its_retry_topic_are_unknown_and_not_zero(cluster, api):
    a_judged_group(a_group(cluster, "pricing-cache"), retry_rate=None)

    [row] = api.get(URL).json()["results"]

    reason = "too few polls have a committed offset of its retry topic"
    assert (row["retry_rate"], row["unknown"]["retry_rate"]) == (None, reason)


def test_it_finds_a_group_that_only_the_overlay_makes_unknown(cluster, api):
    a_dead_broker(cluster)
    a_whole_group(cluster, "well")
    a_whole_group(cluster, "dead", broker="broker-b")
    assert names(api, state="UNKNOWN") == ["dead"]


def test_it_filters_and_orders(cluster, api):
    for name, lag in (("audit", 1), ("billing", 3), ("inventory", 2)):
        a_whole_group(cluster, name, lag)
    a_total(a_group(cluster, "CID_RMQ_SYS_TRANS", kind="system"), 9)

    assert names(api, ordering="-lag_messages") == ["billing", "inventory", "audit"]
    assert names(api, search="INV") == ["inventory"]
    assert names(api, kind="system") == ["CID_RMQ_SYS_TRANS"]
    assert names(api, online="false") == []


def test_it_links_its_pages(cluster, api):
    for number in range(3):
        a_whole_group(cluster, f"group-{number}")

    first = api.get(URL, {"page_size": 2, "ordering": "group"}).json()
    second = api.get(first["next"]).json()

    assert (first["count"], first["previous"], len(first["results"])) == (3, None, 2)
    assert ([row["group"] for row in second["results"]], second["next"]) == (["group-2"], None)


@pytest.mark.parametrize(
    ("query", "name", "sentence"),
    [
        ({"state": "BAD"}, "state", "Allowed: LOSS, STOP, STALL, REWIND, WARN, UNKNOWN, RECREATED, OK."),
        ({"kind": "odd"}, "kind", "Allowed: user, system, ghost."),
        ({"ordering": "password"}, "ordering", "Allowed: cluster, -cluster,"),
        ({"online": "perhaps"}, "online", "Must be a valid boolean."),
        ({"page": "0"}, "page", "greater than or equal to 1"),
        ({"page": str(2**62)}, "page", "less than or equal to 1000000000"),
        ({"page_size": "1001"}, "page_size", "less than or equal to 1000"),
        (
            {"stat": "OK"},
            "stat",
            "Unknown parameter. Allowed: broker, cluster, fields, firing, format, groups, health, kind, label, online,",
        ),
    ],
)
def test_it_refuses_what_it_does_not_know_and_says_what_is_allowed(cluster, api, query, name, sentence):
    answer = api.get(URL, query)

    problem = answer.json()
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert (problem["type"], problem["title"], problem["status"]) == ("about:blank", "Bad Request", 400)
    assert sentence in problem["errors"][name][0]


def test_it_has_no_page_beyond_the_last(cluster, api):
    answer = api.get(URL, {"page": 2})
    assert answer.status_code == 404
    assert answer.json()["detail"] == "There is no page 2: the last of 0 results is page 1."


def test_it_says_which_cluster_is_missing(cluster, api):
    answer = api.get(URL, {"cluster": "nowhere"})
    assert (answer.status_code, answer.json()["detail"]) == (404, "There is no cluster 'nowhere'.")


def test_it_asks_the_database_as_often_for_a_hundred_groups_as_for_one(cluster, api, django_assert_max_num_queries):
    a_dead_broker(cluster)
    for number in range(30):
        a_whole_group(cluster, f"group-{number}", broker="broker-b" if number % 2 else "broker-a")
    with django_assert_max_num_queries(12):
        assert api.get(URL).json()["count"] == 30


def test_it_says_every_time_in_utc(cluster, api):
    a_whole_group(cluster, "billing")
    row = api.get(URL).json()["results"][0]
    for name in ("taken_at", "judged_at", "since"):
        assert datetime.fromisoformat(row[name]).tzinfo == UTC
        assert row[name].endswith("Z")


def test_exactly_the_named_groups_are_listed_of_whatever_kind(api, cluster):
    for name in ("billing", "audit", "stock"):
        a_whole_group(cluster, name)
    a_group(cluster, "CID_RMQ_SYS_TRANS", kind="system")
    assert names(api, groups="prod/billing,prod/CID_RMQ_SYS_TRANS,else/audit") == ["CID_RMQ_SYS_TRANS", "billing"]


def test_a_name_without_a_cluster_is_refused(api):
    answer = api.get(URL, {"groups": "billing"})
    assert (answer.status_code, "write CLUSTER/GROUP" in answer.text) == (400, True)


def test_a_topic_filters_groups_by_their_offsets(api, cluster):
    a_whole_group(cluster, "billing")
    a_whole_group(cluster, "audit")
    assert names(api, topic="audit") == ["audit"]


def test_owners_labels_and_brokers_filter_groups(api, cluster):
    a_whole_group(cluster, "billing")
    a_whole_group(cluster, "audit", broker="broker-b")
    a_note("bill*", owner="payments-team", labels={"team": "payments"})
    assert names(api, owner="payments-team") == names(api, label="team=payments") == ["billing"]
    assert names(api, broker="broker-b") == ["audit"]
    assert names(api, owner="payments-team", broker="broker-b") == []
    rows = b"".join(api.get(URL, {"label": "team", "format": "csv"}).streaming_content).decode().splitlines()
    assert ["billing" in row for row in rows] == [False, True]


def test_a_label_without_a_name_is_refused(api, cluster):
    answer = api.get(URL, {"label": "=payments"})
    assert (answer.status_code, "NAME=VALUE" in answer.text) == (400, True)
