"""GET /api/v1/groups/{cluster}/{group}/members/: found, missing, refused."""

import pytest
import time_machine

from consumers.models import Client, ConsumerGroup
from tests.ownership_rows import a_member, it_held
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot

pytestmark = pytest.mark.django_db
URL = "/api/v1/groups/prod/billing/members/"
# Scripts hold on to these.
NAMES = {
    *("client_id", "address", "language", "version", "online_since", "seen_at", "subscription", "strategy"),
    *("consume_type", "message_model", "queues", "messages_per_second", "unknown"),
}


@pytest.fixture
def group(tmp_path, settings):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    with time_machine.travel(NOW, tick=False):
        cluster = a_cluster()
        a_broker(cluster)
        group = a_group(cluster)
        a_snapshot(group, a_queue(cluster), 1, 2)
        for number in range(3):
            a_member(group, f"10.0.0.{number}@1", since=3600, connections={"broker-a": [f"10.0.0.{number}:5"]})
        it_held(group, a_queue(cluster), "10.0.0.0@1", since=3600)
        yield group


def test_it_lists_members_with_what_is_known_of_each(group, api):
    seen = api.get(URL).json()
    first, *_ = seen["results"]
    assert (seen["count"], seen["unknown_reason"]) == (3, None)
    assert set(first) >= NAMES
    assert (first["client_id"], first["queues"]) == ("10.0.0.0@1", 1)
    assert first["connections"] == {"broker-a": ["10.0.0.0:5"]}
    assert (first["messages_per_second"], first["never_written"]) == (None, [])
    assert first["unknown"]["messages_per_second"] == "no minute since 2026-03-14 02:50:00 UTC is aggregated yet"


def test_the_groups_own_document_lists_the_same(group, api):
    assert api.get("/api/v1/groups/prod/billing/").json()["clients"] == api.get(URL).json()["results"]


def test_no_member_is_not_the_same_as_members_that_nobody_asked_for(group, api):
    Client.objects.all().delete()
    assert (api.get(URL).json()["count"], api.get(URL).json()["unknown_reason"]) == (0, None)
    ConsumerGroup.objects.update(membership_at=None)
    assert api.get(URL).json()["unknown_reason"] == "the group's members have not been asked yet"


def test_it_gives_pages(group, api):
    seen = api.get(URL, {"page_size": 2, "page": 2}).json()
    assert (seen["count"], len(seen["results"]), seen["next"]) == (3, 1, None)


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [("prod/absent", {}, 404), ("absent/billing", {}, 404), ("prod/billing", {"topic": "Orders"}, 400)],
)
def test_what_it_cannot_answer_is_a_problem(group, api, path, query, status):
    answer = api.get(f"/api/v1/groups/{path}/members/", query)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
