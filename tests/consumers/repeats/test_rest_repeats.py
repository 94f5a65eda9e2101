"""GET /api/v1/repeats/ and GET /api/v1/groups/{cluster}/{group}/repeats/"""

import pytest
import time_machine

from tests.rebalance_rows import a_part, a_repeat, a_repeat_of_unknown_queues
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
URL = "/api/v1/repeats/"
OF_BILLING = "/api/v1/groups/prod/billing/repeats/"


@pytest.fixture
def billing():
    with time_machine.travel(NOW, tick=False):
        yield a_group(a_cluster())


def events(api, url=URL, **query):
    return [(row["group"], row["cause"]) for row in api.get(url, query).json()["results"]]


def test_it_answers_in_the_named_fields(billing, api):
    a_repeat(billing)

    [row] = api.get(URL).json()["results"]

    left = {"code": "owner_left", "client_id": "10.0.0.7@3312", "sentence": "10.0.0.7@3312 left"}
    behind = "the new owner started 40 messages behind the old owner's memory: no final commit"
    assert row == {
        "id": "prod/billing/consumer_crash/2026-03-14T02:50:00.000000Z",
        "cluster": "prod",
        "group": "billing",
        "cause": "consumer_crash",
        "confidence": "proven",
        "began_after": "2026-03-14T02:49:45Z",
        "began_before": "2026-03-14T02:50:00Z",
        "last_at": "2026-03-14T02:50:00Z",
        "queue_count": 1,
        "redelivered_low": 40,
        "redelivered_high": 120,
        "evidence": [left, {"code": "start_behind_memory", "messages": 40, "sentence": behind}],
        "queues": [
            {
                "topic": "Orders",
                "broker": "broker-a",
                "queue_id": 0,
                "from_offset": 900,
                "to_offset": 1020,
                "redelivered_low": 40,
                "redelivered_high": 120,
                "confidence": "proven",
                "unknown": {},
            }
        ],
        "action": "Find out why the member ended: kill -9, out of memory, or a lost host.",
        "prevented_by": "Stop members with shutdown() and a signal that they handle. A shorter "
        "persistConsumerOffsetInterval and smaller pulls make a crash repeat less.",
        "judged_at": "2026-03-14T02:50:30Z",
        "unknown": {},
    }


def test_an_unknown_bound_is_null_with_its_reason(billing, api):
    part = a_part(ago(600), high=None, until_offset=None, unknown="overlap_not_counted")
    a_repeat(billing, redelivered_high=None, parts=[part], unknown={"redelivered_high": "overlap_not_counted"})

    [row] = api.get(URL).json()["results"]

    reason = "RocketMQ does not count what two owners both consume"
    assert (row["redelivered_high"], row["unknown"]) == (None, {"redelivered_high": reason})
    assert row["queues"][0]["unknown"] == {"redelivered_high": reason, "to_offset": reason}


def test_queues_that_nobody_knows_are_null_with_the_reason(billing, api):
    a_repeat_of_unknown_queues(billing)

    [row] = api.get(URL).json()["results"]

    reason = "the owners around the move were not sampled"
    bounds = dict.fromkeys(("redelivered_low", "redelivered_high"), reason)
    assert (row["redelivered_low"], row["redelivered_high"], row["unknown"]) == (None, None, bounds)
    places = dict.fromkeys(("broker", "queue_id", "from_offset", "to_offset"), reason)
    assert row["queues"][0]["unknown"] == places | bounds


def test_it_filters(billing, api):
    a_repeat(billing, ago(900))
    a_repeat(a_group(billing.cluster, "stock"), ago(600), cause="reset", confidence="possible")
    a_repeat(a_group(a_cluster("second"), "audit"), ago(300))

    assert [group for group, _ in events(api)] == ["audit", "stock", "billing"]
    assert events(api, cluster="second") == [("audit", "consumer_crash")]
    assert events(api, group="stock") == [("stock", "reset")]
    assert events(api, cause="reset") == [("stock", "reset")]
    assert events(api, confidence="possible") == [("stock", "reset")]
    assert events(api, **{"from": ago(600).isoformat(), "to": ago(300).isoformat()}) == [("stock", "reset")]


def test_groups_of_rocketmq_are_listed_only_by_name(billing, api):
    a_repeat(a_group(billing.cluster, "CID_RMQ_SYS_TRANS", kind="system"))

    assert events(api) == []
    assert events(api, group="CID_RMQ_SYS_TRANS") == [("CID_RMQ_SYS_TRANS", "consumer_crash")]


def test_a_group_has_its_own(billing, api):
    a_repeat(billing)
    a_repeat(a_group(billing.cluster, "stock"))

    assert events(api, OF_BILLING) == [("billing", "consumer_crash")]
    assert events(api, OF_BILLING, cause="reset") == []


def test_it_links_its_pages(billing, api):
    for number in range(3):
        a_repeat(billing, ago(600 + number))
    first = api.get(OF_BILLING, {"page_size": 2}).json()
    second = api.get(first["next"]).json()
    assert (first["count"], len(first["results"]), len(second["results"]), second["next"]) == (3, 2, 1, None)


@pytest.mark.parametrize(
    ("query", "name", "sentence"),
    [
        ({"cause": "magic"}, "cause", "Allowed: consumer_crash, shutdown_did_not_wait,"),
        ({"confidence": "sure"}, "confidence", "Allowed: proven, likely, possible"),
        ({"from": "yesterday"}, "from", "Datetime has wrong format"),
        ({"since": "2026-03-14T03:00:00Z"}, "since", "Unknown parameter. Allowed: cause,"),
    ],
)
@pytest.mark.parametrize("url", [URL, OF_BILLING])
def test_it_refuses_what_it_does_not_know(billing, api, url, query, name, sentence):
    answer = api.get(url, query)
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert sentence in answer.json()["errors"][name][0]


@pytest.mark.parametrize(
    ("url", "query", "sentence"),
    [
        (URL, {"cluster": "nowhere"}, "There is no cluster 'nowhere'."),
        (URL, {"group": "nobody"}, "There is no group 'nobody'."),
        (URL, {"group": "nobody", "cluster": "prod"}, "There is no group 'nobody' in cluster 'prod'."),
        ("/api/v1/groups/prod/nobody/repeats/", {}, "There is no group 'nobody' in cluster 'prod'."),
    ],
)
def test_it_says_what_is_missing(billing, api, url, query, sentence):
    answer = api.get(url, query)
    assert (answer.status_code, answer.json()["detail"]) == (404, sentence)


def test_it_is_read_only_and_not_for_everybody(billing, api, client):
    assert api.post(URL, {}).status_code == 405
    assert client.get(URL).status_code == 401


def test_it_comes_as_csv(billing, api):
    a_repeat(billing)

    answer = api.get(URL, {"format": "csv", "fields": "group,cause,redelivered_low,redelivered_high"})

    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert lines[:2] == ["group,cause,redelivered_low,redelivered_high,unknown", "billing,consumer_crash,40,120,"]


@pytest.mark.parametrize("repeats", [1, 30])
def test_its_queries_do_not_grow_with_events(billing, api, django_assert_max_num_queries, repeats):
    for number in range(repeats):
        a_repeat(billing, ago(600 + number))
    # Eight of the list, and those that say whether its time was watched.
    with django_assert_max_num_queries(14):
        api.get(OF_BILLING)
