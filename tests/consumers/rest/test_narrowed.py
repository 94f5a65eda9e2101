"""Filters and orders of lists that are not cut in SQL."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from consumers.models import ResendStatus, ResetKind
from consumers.rest.requests import narrowed
from tests.dead_letter_rows import a_resend
from tests.ownership_rows import a_member, it_held, it_subscribed
from tests.reset_rows import a_reset
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot, ago

BILLING = "/api/v1/groups/prod/billing/"
ROWS = [SimpleNamespace(name=name, lag=lag) for name, lag in (("a", 2), ("b", None), ("c", 5), ("d", 2))]


@pytest.fixture
def group(db, stopped_clock):
    cluster = a_cluster()
    a_broker(cluster)
    return a_group(cluster)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({}, "abcd"),
        ({"lag": 2}, "ad"),
        ({"ordering": "lag"}, "adcb"),
        ({"ordering": "-lag"}, "cadb"),
        ({"ordering": "-name", "lag": 2}, "da"),
    ],
)
def test_rows_are_those_asked_for_in_the_order_asked_for_and_unknown_is_last(wanted, names):
    assert "".join(row.name for row in narrowed(ROWS, wanted)) == names


@pytest.mark.parametrize(
    ("query", "ids"), [({"ordering": "-lag_messages"}, [1, 2, 0]), ({"broker": "broker-a", "state": "OK"}, [])]
)
def test_queues_are_narrowed(group, api, query, ids):
    for queue_id, lag in enumerate((1, 9, 4)):
        a_snapshot(group, a_queue(group.cluster, "Orders", queue_id), 50, 50 + lag)
    assert [row["queue_id"] for row in api.get(f"{BILLING}queues/", query).json()["results"]] == ids


def test_queues_of_an_owner_have_those_that_another_owns_too(group, api):
    for queue_id, owners in enumerate((["10.0.0.7@1"], ["10.0.0.7@1", "10.0.0.8@1"], ["10.0.0.8@1"])):
        queue = a_queue(group.cluster, "Orders", queue_id)
        a_snapshot(group, queue, 50, 51)
        for owner in owners:
            it_held(group, queue, owner, 900)
    rows = api.get(f"{BILLING}queues/", {"owner": "10.0.0.7@1"}).json()["results"]
    assert [row["queue_id"] for row in rows] == [0, 1]


def test_members_are_ordered(group, api):
    for client_id, since in (("10.0.0.7@1", 900), ("10.0.0.8@1", 100)):
        a_member(group, client_id, since, started_at=ago(since))
    rows = api.get(f"{BILLING}members/", {"ordering": "-online_since"}).json()["results"]
    assert [row["client_id"] for row in rows] == ["10.0.0.8@1", "10.0.0.7@1"]


def test_subscriptions_are_those_of_a_topic_and_client_in_pages(group, api):
    for client_id in ("10.0.0.7@1", "10.0.0.8@1"):
        for topic in ("Orders", "Audit"):
            it_subscribed(group, client_id, 900, topic=topic)
    seen = api.get(f"{BILLING}subscriptions/", {"topic": "Orders", "page_size": 1}).json()
    assert (seen["count"], [row["client_id"] for row in seen["subscriptions"]]) == (2, ["10.0.0.7@1"])
    assert api.get(seen["next"]).json()["subscriptions"][0]["client_id"] == "10.0.0.8@1"
    assert api.get(f"{BILLING}subscriptions/", {"client_id": "10.0.0.8@1"}).json()["count"] == 2


def test_resets_are_those_of_a_kind_and_of_a_range(group, api):
    old = a_reset(group, kind=ResetKind.TIME, created_at=NOW - timedelta(days=1))
    a_reset(group)
    for query in ({"kind": "time"}, {"to": (NOW - timedelta(hours=1)).isoformat()}):
        assert [row["id"] for row in api.get("/api/v1/resets/", query).json()["results"]] == [str(old.pk)]
    export = b"".join(api.get("/api/v1/resets/export/", {"from": (NOW - timedelta(hours=1)).isoformat()}))
    assert str(old.pk).encode() not in export


def test_resends_are_those_of_a_status_that_shows(group, api):
    void = a_resend(group, status=ResendStatus.PLANNED, expires_at=ago(1))
    a_resend(group)
    rows = api.get(f"{BILLING}resends/", {"status": "expired"}).json()["results"]
    assert [row["id"] for row in rows] == [str(void.pk)]


def test_of_a_parameter_that_is_there_twice_no_value_is_dropped(group, api):
    answer = api.get("/api/v1/groups/?state=STOP&state=OK&kind=user")
    assert (answer.status_code, answer.json()["errors"]) == (
        400,
        {"state": ["The parameter is there more than once. Give it once."]},
    )
