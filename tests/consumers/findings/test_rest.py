"""GET findings/ and groups/{cluster}/{group}/findings/"""

import pytest
import time_machine

from consumers.queries.findings import finding_row
from consumers.vocabulary.findings import FindingCode
from tests.health_rows import a_finding, was_checked
from tests.world import NOW, a_cluster, a_group

pytestmark = pytest.mark.django_db
URL, OF_BILLING = "/api/v1/findings/", "/api/v1/groups/prod/billing/findings/"


@pytest.fixture
def billing():
    with time_machine.travel(NOW, tick=False):
        cluster = a_cluster()
        groups = [a_group(cluster, name) for name in ("billing", "mail")]
        was_checked(*groups)
        a_finding(groups[0], "retries_discarded", params={"brokers": ["broker-a"]})
        a_finding(groups[1], "dlq_unreadable", "warning", params={"brokers": ["broker-b"]})
        yield groups[0]


def codes(api, url=URL, **query):
    return [(row["group"], row["code"]) for row in api.get(url, query).json()["results"]]


def test_it_answers_in_the_named_fields(billing, api):
    [row] = api.get(OF_BILLING).json()["results"]
    assert row == {
        "code": "retries_discarded",
        "severity": "critical",
        "check": "retries",
        "subject": "group",
        "cluster": "prod",
        "group": "billing",
        "topic": None,
        "broker": None,
        "client_id": None,
        "title": "Failed messages are discarded",
        "text": "Failed messages are discarded: broker-a",
        "help": "With retryQueueNums 0, a broker answers success and drops a failed message.",
        "remedy": "Set retryQueueNums of the group to 1 or more (mqadmin updateSubGroup -q 1, with its other values).",
        "log": None,
        "params": {"brokers": ["broker-a"]},
        "evidence": [{"name": "brokers", "text": "broker-a"}],
        "since": "2026-03-14T02:50:00Z",
        "last_seen_at": "2026-03-14T02:59:50Z",
        "documentation": "findings.md#retries",
        "unknown": {
            "topic": "it concerns no single topic",
            "broker": "it concerns no single broker",
            "client_id": "it concerns no single client",
            "log": "no log has a line of it",
        },
    }


LOST_LOCK = {
    "client_id": "10.0.0.7@1",
    "renewed_seconds": 40.0,
    "queues": {"count": 1, "places": [["Stock", "b", [3]]]},
}
TWO_TOPICS = {"count": 2, "places": [["Stock", "b", [3]], ["Orders", "b", [0]]]}


@pytest.mark.parametrize(
    ("code", "params", "topic", "client_id"),
    [
        ("lock_lost", LOST_LOCK, "Stock", "10.0.0.7@1"),
        ("lock_lost", LOST_LOCK | {"queues": TWO_TOPICS}, None, "10.0.0.7@1"),
        ("doubly_owned", {"topic": "Stock", "owners": ["c1", "c2"], "doubly_owned": 4}, "Stock", None),
        ("duplicate_client_ids", {"connections": {"c1": {"b": ["10.0.0.7:1", "10.0.0.8:1"]}}}, None, "c1"),
        ("lost_offsets", {"queues": 4, "brokers": ["b"]}, None, None),
    ],
)
def test_it_names_the_topic_and_the_client_that_it_concerns_alone(code, params, topic, client_id):
    names = {"cluster": "prod", "group": "billing", "broker": ""}
    row = finding_row(FindingCode(code), params, severity="warning", **names, since=NOW, last_seen_at=NOW)
    assert (row.topic, row.client_id) == (topic, client_id)
    assert {name for name in ("topic", "client_id") if name in row.unknown} == {
        name for name, value in (("topic", topic), ("client_id", client_id)) if value is None
    }


def test_it_lists_all_groups_and_narrows_the_list(billing, api):
    assert codes(api) == [("billing", "retries_discarded"), ("mail", "dlq_unreadable")]
    assert codes(api, severity="warning") == [("mail", "dlq_unreadable")]
    assert codes(api, code="retries_discarded") == [("billing", "retries_discarded")]
    assert codes(api, cluster="prod", group="mail") == [("mail", "dlq_unreadable")]
    assert codes(api, OF_BILLING, severity="warning") == []


@pytest.mark.parametrize("name", ["severity", "code", "color"])
def test_what_is_not_allowed_is_refused_with_what_is(billing, api, name):
    answer = api.get(URL, {name: "bad"})
    assert answer.status_code == 400
    assert name in answer.json()["errors"]


@pytest.mark.parametrize("url", ["/api/v1/findings/?cluster=gone", "/api/v1/groups/prod/gone/findings/"])
def test_what_is_not_there_is_missing(billing, api, url):
    assert api.get(url).status_code == 404


@pytest.mark.parametrize("url", [URL, OF_BILLING])
def test_it_is_read_with_a_token_alone(billing, api, client, url):
    assert (client.get(url).status_code, api.post(url).status_code) == (401, 405)


def test_a_list_as_csv_has_a_row_for_each(billing, api):
    lines = api.get(URL, {"format": "csv"}).getvalue().decode().splitlines()
    assert [line.split(",")[0] for line in lines] == ["code", "retries_discarded", "dlq_unreadable"]
