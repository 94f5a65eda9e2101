"""?fields=: what was chosen, and why what of it is null is."""

import pytest

from consumers.rest.answers import only
from tests.world import a_broker, a_cluster, a_dead_broker, a_group, a_judged_group, a_queue, a_snapshot, a_total

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]
GROUPS, BILLING = "/api/v1/groups/", "/api/v1/groups/prod/billing/"


@pytest.fixture
def billing():
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_snapshot(group, a_queue(cluster, "Orders"), 60, 100)
    a_total(group, 40)
    a_judged_group(group, "WARN")
    return group


def test_a_row_has_what_was_chosen_and_nothing_else(billing, api):
    [row] = api.get(GROUPS, {"fields": "lag_messages,group"}).json()["results"]
    assert list(row.items()) == [("lag_messages", 40), ("group", "billing")]


def test_a_null_that_was_chosen_brings_its_reason_and_no_other(billing, api):
    [row] = api.get(GROUPS, {"fields": "group,time_lag_seconds"}).json()["results"]
    assert row["time_lag_seconds"] is None
    assert list(row["unknown"]) == ["time_lag_seconds"]


def test_an_unknown_lag_brings_its_reason(billing, api):
    cluster = billing.cluster
    a_dead_broker(cluster)
    a_snapshot(billing, a_queue(cluster, "Orders", 1, broker="broker-b"), 60, 100)
    [row] = api.get(GROUPS, {"fields": "lag_messages"}).json()["results"]
    assert row["lag_messages"] is None
    assert "broker-b" in row["unknown_reason"]


def test_an_object_has_what_was_chosen(billing, api):
    assert api.get(f"{BILLING}status/", {"fields": "state,lag_messages"}).json() == {
        "state": "WARN",
        "lag_messages": 40,
    }


@pytest.mark.parametrize("path", [GROUPS, BILLING, f"{BILLING}queues/", f"{BILLING}history/"])
def test_a_field_that_there_is_not_is_refused_with_those_that_there_are(billing, api, path):
    answer = api.get(path, {"fields": "lag"})
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert answer.json()["errors"]["fields"][0].startswith('"lag" is not a field. Allowed: ')


def test_no_field_is_none_that_there_is(billing, api):
    assert api.get(GROUPS, {"fields": ""}).status_code == 400


@pytest.mark.parametrize(
    ("document", "names", "kept"),
    [
        ({"a": 1, "b": None, "unknown": {"b": "gone"}}, ["a"], {"a": 1}),
        ({"a": 1, "b": None, "unknown": {"b": "gone"}}, ["b"], {"b": None, "unknown": {"b": "gone"}}),
        ({"a": {"low": None}, "unknown": {"a.low": "gone"}}, ["a"], {"a": {"low": None}, "unknown": {"a.low": "gone"}}),
        ({"a": [], "unknown": {"a": "not asked"}}, ["a"], {"a": [], "unknown": {"a": "not asked"}}),
        ({"a": None, "unknown_reason": "gone"}, ["a"], {"a": None, "unknown_reason": "gone"}),
        ({"a": 1, "unknown_reason": "gone"}, ["a"], {"a": 1}),
        ({"a": None, "unknown": {"b": "x"}}, ["a", "unknown"], {"a": None, "unknown": {"b": "x"}}),
    ],
)
def test_reasons_follow_what_they_are_about(document, names, kept):
    assert only(document, names) == kept
