"""GET /api/v1/groups/{cluster}/{group}/assignments/: found, missing, refused."""

import pytest
import time_machine

from tests.ownership_rows import a_member, it_held, it_subscribed, readings_every
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db
URL = "/api/v1/groups/prod/billing/assignments/"
NAMES = {"topic", "broker", "queue_id", "owner", "seen_since", "last_seen", "gone_by", "expected_owner", "unknown"}


@pytest.fixture
def group():
    with time_machine.travel(NOW, tick=False):
        cluster = a_cluster(read_at=None)
        a_broker(cluster)
        readings_every(cluster, 15, since=605)
        group = a_group(cluster, membership_at=ago(5))
        a_member(group, "a", since=605, strategy="AllocateMessageQueueAveragely")
        it_subscribed(group, "a", since=605)
        for number in range(3):
            a_snapshot(group, a_queue(cluster, queue_id=number), 1, 2)
        it_held(group, a_queue(cluster), "a", since=605)
        it_held(group, a_queue(cluster, queue_id=1), "a", since=605, until=305, gone_by=290)
        yield group


def test_it_says_who_owns_which_queue(group, api):
    seen = api.get(URL).json()
    first, second, _ = seen["results"]
    assert (seen["count"], set(first)) == (3, NAMES)
    assert (first["owner"], first["seen_since"], first["gone_by"]) == ("a", "2026-03-14T02:49:55Z", None)
    assert (second["owner"], second["unknown"]["owner"]) == (None, "no member owns it")


def test_it_says_who_owned_it_at_a_past_time(group, api):
    second = api.get(URL, {"at": "2026-03-14T02:52:00Z"}).json()["results"][1]
    assert (second["owner"], second["last_seen"], second["gone_by"]) == (
        "a",
        "2026-03-14T02:54:55Z",
        "2026-03-14T02:55:10Z",
    )


def test_a_time_with_another_offset_is_the_same_moment(group, api):
    here, there = ({"at": at} for at in ("2026-03-14T02:52:00Z", "2026-03-14T10:52:00+08:00"))
    assert api.get(URL, here).json() == api.get(URL, there).json()


def test_it_gives_pages_and_one_topic(group, api):
    seen = api.get(URL, {"page_size": 2, "page": 2}).json()
    assert (seen["count"], [row["queue_id"] for row in seen["results"]], seen["next"]) == (3, [2], None)
    assert api.get(URL, {"topic": "Absent"}).json()["results"] == []


@pytest.mark.parametrize(
    ("query", "name", "said"),
    [
        ({"at": "2026-03-14T03:00:01Z"}, "at", "is in the future"),
        ({"at": "yesterday"}, "at", "format"),
        ({"when": "2026-03-14T02:00:00Z"}, "when", "Allowed: at, broker, fields, format, owner, page,"),
        ({"page": 0}, "page", "greater than or equal to 1"),
    ],
)
def test_it_refuses_what_it_cannot_answer(group, api, query, name, said):
    answer = api.get(URL, query)
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert said in answer.json()["errors"][name][0]


@pytest.mark.parametrize("path", ["prod/absent", "absent/billing"])
def test_a_group_that_there_is_not_is_a_problem(group, api, path):
    answer = api.get(f"/api/v1/groups/{path}/assignments/")
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
    assert "absent" in answer.json()["detail"]
