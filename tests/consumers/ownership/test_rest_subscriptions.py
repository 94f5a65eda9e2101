"""GET /api/v1/groups/{cluster}/{group}/subscriptions/: found, missing, refused."""

import pytest
import time_machine

from tests.ownership_rows import a_member, it_subscribed
from tests.world import NOW, a_cluster, a_group

pytestmark = pytest.mark.django_db
URL = "/api/v1/groups/prod/billing/subscriptions/"


@pytest.fixture
def group():
    with time_machine.travel(NOW, tick=False):
        group = a_group(a_cluster())
        for client_id, expression in (("a", "x"), ("b", "y")):
            a_member(group, client_id, since=3600)
            it_subscribed(group, client_id, since=3600, expression=expression)
        yield group


def test_it_says_who_subscribes_to_what_and_how_members_differ(group, api):
    seen = api.get(URL).json()
    assert (seen["from"], seen["to"], seen["unknown"]) == ("2026-03-07T03:00:00Z", "2026-03-14T03:00:00Z", {})
    assert [(row["client_id"], row["expression"]) for row in seen["subscriptions"]] == [("a", "x"), ("b", "y")]
    [difference] = seen["differences"]
    assert (difference["topic"], difference["since"], difference["until"]) == ("Orders", "2026-03-14T02:00:00Z", None)
    assert [wanted["client_ids"] for wanted in difference["wanted"]] == [["a"], ["b"]]


def test_a_range_before_the_first_answer_says_that_nothing_is_known(group, api):
    seen = api.get(URL, {"from": "2026-03-14T01:00:00Z", "to": "2026-03-14T01:30:00Z"}).json()
    assert seen["subscriptions"] == seen["differences"] == []
    assert seen["unknown"]["subscriptions"] == "no member has reported its subscriptions in this range"


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("prod/absent", {}, 404),
        ("absent/billing", {}, 404),
        ("prod/billing", {"topics": "Orders"}, 400),
        ("prod/billing", {"from": "2026-03-14T02:00:00Z", "to": "2026-03-14T02:00:00Z"}, 400),
    ],
)
def test_what_it_cannot_answer_is_a_problem(group, api, path, query, status):
    answer = api.get(f"/api/v1/groups/{path}/subscriptions/", query)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
