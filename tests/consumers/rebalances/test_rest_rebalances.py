"""GET /api/v1/rebalances/ and GET /api/v1/groups/{cluster}/{group}/rebalances/"""

import pytest
import time_machine
from django.db import connection

from consumers.models import Rebalance, RebalanceTopic
from consumers.vocabulary.reasons import RebalanceReason
from tests.rebalance_rows import a_moved_topic, a_rebalance
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
URL = "/api/v1/rebalances/"
OF_BILLING = "/api/v1/groups/prod/billing/rebalances/"


@pytest.fixture
def billing():
    with time_machine.travel(NOW, tick=False):
        yield a_group(a_cluster())


def events(api, url=URL, **query):
    return [(row["group"], row["topic"]) for row in api.get(url, query).json()["results"]]


@pytest.mark.parametrize("model", [Rebalance, RebalanceTopic])
def test_one_that_a_run_deletes_meanwhile_is_left_out(billing, api, model):
    for at in (900, 600):
        a_moved_topic(a_rebalance(billing, ago(at)))
    newest = model.objects.order_by("-pk")[:1].get()

    def deletes(execute, sql, *rest):
        if f'FROM "{model._meta.db_table}"' in sql and '"id" IN' in sql and sql.startswith("SELECT"):
            model.objects.filter(pk=newest.pk).delete()
        return execute(sql, *rest)

    with connection.execute_wrapper(deletes):
        answer = api.get(URL)
    assert [(row["started_before"], row["topic"]) for row in answer.json()["results"]] == [
        ("2026-03-14T02:45:00Z", "Orders")
    ]


def test_it_answers_in_the_named_fields(billing, api):
    a_moved_topic(a_rebalance(billing, rollout=True))

    [row] = api.get(URL).json()["results"]

    assert row == {
        "event": "prod/billing/2026-03-14T02:50:00.000000Z",
        "cluster": "prod",
        "group": "billing",
        "topic": "Orders",
        "started_after": "2026-03-14T02:49:45Z",
        "started_before": "2026-03-14T02:50:00Z",
        "last_change_at": "2026-03-14T02:50:00Z",
        "settled": True,
        "settled_at": "2026-03-14T02:50:15Z",
        "dated_at": None,
        "polls": 2,
        "cause": "joined",
        "evidence": [
            {
                "cause": "joined",
                "sentence": "10.0.0.9@3312 joined from 10.0.0.9:41022 between 02:49:45 and 02:50:00 UTC",
                "client_id": "10.0.0.9@3312",
                "address": "10.0.0.9:41022",
            }
        ],
        "members_before": 2,
        "members_after": 3,
        "client_ids_before": ["10.0.0.7@3312", "10.0.0.8@3312"],
        "client_ids_after": ["10.0.0.7@3312", "10.0.0.8@3312", "10.0.0.9@3312"],
        "queues": 8,
        "queues_moved": 1,
        "unowned_queue_seconds": 15.0,
        "doubly_owned_queue_seconds": 0.0,
        "doubly_owned_queues": 0,
        "replayed_messages_low": 3,
        "replayed_messages": 11,
        "lag_before_messages": 120,
        "lag_peak_messages": 480,
        "rollout": True,
        "episode_since": "2026-03-14T02:50:00Z",
        "judged_at": "2026-03-14T02:50:30Z",
        "unknown": {"dated_at": "no member's clock dates it between the two polls"},
        "codes": {"dated_at": "not_dated"},
    }


def test_an_unknown_number_is_null_with_its_reason(billing, api):
    a_moved_topic(a_rebalance(billing), queues_moved=None, unknown={"queues_moved": RebalanceReason.OWNERS_BEFORE})
    [row] = api.get(URL).json()["results"]
    assert (row["queues_moved"], row["unknown"]["queues_moved"]) == (None, "the owners before it were not sampled")
    assert row["codes"]["queues_moved"] == "owners_before_not_sampled"


def test_it_filters(billing, api):
    a_moved_topic(a_rebalance(billing, ago(900)))
    a_moved_topic(a_rebalance(a_group(billing.cluster, "stock"), ago(600), cause="gone, joined"))
    a_moved_topic(a_rebalance(a_group(a_cluster("second"), "audit"), ago(300)))

    assert events(api) == [("audit", "Orders"), ("stock", "Orders"), ("billing", "Orders")]
    assert events(api, cluster="second") == [("audit", "Orders")]
    assert events(api, group="stock") == [("stock", "Orders")]
    assert events(api, cause="gone") == [("stock", "Orders")]
    assert events(api, **{"from": ago(600).isoformat(), "to": ago(300).isoformat()}) == [("stock", "Orders")]


def test_a_group_has_its_own(billing, api):
    a_moved_topic(a_rebalance(billing))
    a_moved_topic(a_rebalance(a_group(billing.cluster, "stock")))
    assert events(api, OF_BILLING) == [("billing", "Orders")]
    assert events(api, OF_BILLING, cause="gone") == []


def test_it_links_its_pages(billing, api):
    for number in range(3):
        a_moved_topic(a_rebalance(billing, ago(600 + number)))
    first = api.get(OF_BILLING, {"page_size": 2}).json()
    second = api.get(first["next"]).json()
    assert (first["count"], len(first["results"]), len(second["results"]), second["next"]) == (3, 2, 1, None)


@pytest.mark.parametrize(
    ("query", "name", "sentence"),
    [
        ({"cause": "magic"}, "cause", "Allowed: joined, left, gone, silent,"),
        ({"from": "yesterday"}, "from", "Datetime has wrong format"),
        ({"from": "2026-03-14T03:00:00Z", "to": "2026-03-14T03:00:00Z"}, "from", "The range is empty"),
        ({"since": "2026-03-14T03:00:00Z"}, "since", "Unknown parameter. Allowed: cause,"),
        ({"page_size": "1001"}, "page_size", "less than or equal to 1000"),
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
        ("/api/v1/groups/prod/nobody/rebalances/", {}, "There is no group 'nobody' in cluster 'prod'."),
        (URL, {"page": 2}, "There is no page 2: the last of 0 results is page 1."),
    ],
)
def test_it_says_what_is_missing(billing, api, url, query, sentence):
    answer = api.get(url, query)
    assert (answer.status_code, answer.json()["detail"]) == (404, sentence)


def test_it_is_read_only_and_not_for_everybody(billing, api, client):
    assert api.post(URL, {}).status_code == 405
    assert client.get(URL).status_code == 401
