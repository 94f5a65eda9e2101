"""GET /api/v1/groups/{cluster}/{group}/ and what lies under it: found, missing, refused."""

import pytest
import time_machine

from consumers.models import Assignment, Client, ClientSubscription, GroupState
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_snapshot,
    a_total,
    ago,
)

pytestmark = pytest.mark.django_db
URL = "/api/v1/groups/prod/billing/"
UNDER = ["", "queues/", "members/", "assignments/", "subscriptions/", "offsets/", "history/", "status/"]


@pytest.fixture
def group():
    with time_machine.travel(NOW, tick=False):
        cluster = a_cluster()
        a_broker(cluster)
        group = a_group(cluster)
        queue = a_queue(cluster, "Orders")
        a_snapshot(group, queue, 60, 100)
        a_snapshot(group, a_queue(cluster, "%RETRY%billing", kind="retry"), 5, 5)
        a_snapshot(group, a_queue(cluster, "Orders", 1), None, 100, unknown_reason="never_committed")
        a_total(group, 40, queues=3, never_committed_queues=1)
        detail = {"still_seconds": 720, "lag_messages": 40}
        a_judged_group(group, "STALL", rule="blocked", detail=detail, worst_queue=queue)
        a_judged_queue(group, queue, "STALL", rule="blocked", detail=detail, time_lag_seconds=61.0)
        yield group


def test_it_says_the_rule_that_decided_with_its_numbers(group, api):
    seen = api.get(URL).json()
    assert (seen["state"], seen["rule"]) == ("STALL", "blocked")
    assert seen["detail"] == {"still_seconds": 720, "lag_messages": 40}
    assert seen["worst_queue"] == {
        "topic": "Orders",
        "broker": "broker-a",
        "queue_id": 0,
        "state": "STALL",
        "rule": "blocked",
        "rule_code": "blocked",
    }
    said = "blocked · queue 0 of Orders on broker-a: no commit for 12 min, lag 40 messages"
    assert seen["state_detail"] == said


def test_a_code_stands_beside_each_text(group, api):
    GroupState.objects.update(state="WARN", rule="within_threshold_before")
    seen = api.get(URL).json()
    assert (seen["rule"], seen["rule_code"]) == ("within threshold until recently", "within_threshold_before")
    queue = api.get(f"{URL}queues/?topic=Orders").json()["results"][1]
    assert (queue["unknown_reason"], queue["unknown_reason_code"]) == ("never committed", "never_committed")


def test_where_no_rule_decided_there_is_no_code_but_the_reason(group, api):
    GroupState.objects.all().delete()
    seen = api.get(URL).json()
    assert (seen["rule"], seen["rule_code"]) == ("not evaluated yet", None)
    assert seen["unknown"]["rule_code"] == "not evaluated yet"


def test_it_sums_its_topics_and_counts_never_committed_queues_apart(group, api):
    topics = {topic["topic"]: topic for topic in api.get(URL).json()["topics"]}
    assert (topics["Orders"]["lag_messages"], topics["Orders"]["queues"]) == (40, 2)
    assert (topics["Orders"]["never_committed_queues"], topics["Orders"]["time_lag_seconds"]) == (1, 61.0)
    assert (topics["%RETRY%billing"]["kind"], topics["%RETRY%billing"]["lag_messages"]) == ("retry", 0)


def test_it_lists_its_members(group, api):
    seen = {"address": "10.0.0.7:50000", "language": "JAVA", "seen_since": ago(60), "last_seen": ago(5)}
    Client.objects.create(group=group, client_id="10.0.0.7@1", running_info_at=ago(5), **seen)
    Client.objects.create(group=group, client_id="10.0.0.7@2", running_info_error="timed out", **seen)
    Client.objects.create(group=group, client_id="10.0.0.7@3", gone_by=ago(5), **seen)
    queue = a_queue(group.cluster, "Orders")
    times = {"seen_since": ago(60), "last_seen": ago(5)}
    Assignment.objects.create(group=group, queue=queue, client_id="10.0.0.7@1", **times)

    first, second = api.get(URL).json()["clients"]

    assert (first["client_id"], first["queues"]) == ("10.0.0.7@1", 1)
    assert (second["queues"], second["unknown"]["queues"]) == (None, "timed out")


def test_it_filters_queues(group, api):
    def found(**query):
        rows = api.get(f"{URL}queues/", query).json()["results"]
        return [(row["topic"], row["queue_id"]) for row in rows]

    assert found() == [("%RETRY%billing", 0), ("Orders", 0), ("Orders", 1)]
    assert found(with_lag="true") == [("Orders", 0), ("Orders", 1)]
    assert found(kind="retry") == [("%RETRY%billing", 0)]
    assert found(topic="Orders", with_lag="true", page_size=1) == [("Orders", 0)]


def test_it_has_a_small_status(group, api):
    seen = api.get(f"{URL}status/").json()
    assert (seen["state"], seen["lag_messages"], seen["since"]) == ("STALL", 40, "2026-03-14T02:50:00Z")
    assert seen["worst_queue"]["topic"] == "Orders"


def test_it_answers_history_between_two_times(group, api):
    query = {"from": "2026-03-14T02:00:00Z", "to": "2026-03-14T02:10:00Z"}
    seen = api.get(f"{URL}history/", query).json()
    assert (seen["from"], seen["to"], seen["step_seconds"]) == (*query.values(), 60)
    assert [point["lag_messages"] for point in seen["series"][0]["points"]] == [None] * 10
    assert {point["unknown_reason"] for point in seen["series"][0]["points"]} == {"not aggregated yet"}


@pytest.mark.parametrize(
    ("path", "query", "name", "sentence"),
    [
        ("", {"odd": "1"}, "odd", "Unknown parameter."),
        ("status/", {"odd": "1"}, "odd", "Unknown parameter."),
        ("offsets/", {"odd": "1"}, "odd", "Allowed: broker, fields, format, kind, page, page_size, topic."),
        ("queues/", {"kind": "odd"}, "kind", "Allowed: normal, retry, dlq, system."),
        ("history/", {"by": "odd"}, "by", "Allowed: group, topic, queue."),
        ("history/", {"step": "61"}, "step", "Allowed: 60, 600, 3600, 86400."),
        ("history/", {"from": "yesterday"}, "from", "Datetime has wrong format"),
        ("history/", {"from": "2026-03-15T00:00:00Z"}, "from", "The range is empty"),
        ("history/", {"from": "2025-03-15T00:00:00Z", "step": "60"}, "from", "Use a longer step"),
    ],
)
def test_it_refuses_what_it_does_not_know(group, api, path, query, name, sentence):
    answer = api.get(f"{URL}{path}", query)
    assert answer.status_code == 400
    assert sentence in answer.json()["errors"][name][0]


@pytest.mark.parametrize("path", UNDER)
def test_it_says_what_is_missing(group, api, path):
    no_group = api.get(f"/api/v1/groups/prod/nobody/{path}")
    no_cluster = api.get(f"/api/v1/groups/nowhere/billing/{path}")
    assert [no_group.status_code, no_cluster.status_code] == [404, 404]
    assert no_group.json()["detail"] == "There is no group 'nobody' in cluster 'prod'."
    assert no_cluster.json()["detail"] == "There is no cluster 'nowhere'."
    assert no_group["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("path", UNDER)
def test_it_finds_a_group_by_its_encoded_name(group, api, path):
    odd = a_group(group.cluster, "%RETRY%billing")
    a_total(odd, 3)
    answer = api.get(f"/api/v1/groups/prod/%25RETRY%25billing/{path}")
    assert answer.status_code == 200
    assert answer.json().get("group", "%RETRY%billing") == "%RETRY%billing"


@pytest.mark.parametrize("path", UNDER)
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_it_only_reads(group, api, path, method):
    answer = getattr(api, method)(f"{URL}{path}")
    assert (answer.status_code, answer["Content-Type"]) == (405, "application/problem+json")


@pytest.mark.parametrize("under", ["history/", "retries/", "subscriptions/", "rebalances/"])
@pytest.mark.parametrize("at", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1969-12-31T23:59:59Z"])
def test_a_time_without_room_before_or_after_it_is_refused(group, api, under, at):
    answer = api.get(f"{URL}{under}", {"to": at})
    assert (answer.status_code, answer.json()["errors"]) == (
        400,
        {"to": ["The time must be in the years from 1970 to 2999."]},
    )


def test_subscriptions_that_differ_more_often_than_one_answer_holds_are_refused(group, api, monkeypatch):
    monkeypatch.setattr("consumers.ownership.subscriptions.MOST_WANTED", 1)
    for client, expression in (("a@1", "x"), ("b@1", "y")):
        times = {"seen_since": ago(3000), "last_seen": ago(20)}
        ClientSubscription.objects.create(group=group, client_id=client, topic="T", expression=expression,
                                          expression_type="TAG", **times)  # fmt: skip
    [sentence] = api.get(f"{URL}subscriptions/").json()["errors"]["from"]
    assert sentence.endswith("differences of members. Use a shorter range.")
