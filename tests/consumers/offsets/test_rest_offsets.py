"""GET groups/{cluster}/{group}/offsets/"""

import pytest
import time_machine
from django.test import Client

from tests.store_rows import a_client, a_file_row, an_offset_file, an_owner
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot

pytestmark = pytest.mark.django_db
URL = "/api/v1/groups/prod/billing/offsets/"


@pytest.fixture
def group(settings, tmp_path):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    with time_machine.travel(NOW, tick=False):
        cluster = a_cluster(offset_files="/store/config/consumerOffset.json")
        a_broker(cluster)
        group = a_group(cluster)
        a_client(group)
        a_snapshot(group, a_queue(cluster), 100, 150)
        a_snapshot(group, a_queue(cluster, "Orders", 1), None, 150, min_offset=40, unknown_reason="never_committed")
        an_owner(group, a_queue(cluster), (112, 139, 23))
        an_offset_file(cluster, a_file_row(offset=90))
        yield group


def test_it_shows_the_stores_of_a_queue_side_by_side(group, api):
    first = api.get(URL).json()["results"][0]
    assert (first["topic"], first["broker"], first["queue_id"], first["kind"]) == ("Orders", "broker-a", 0, "normal")
    keys = ("kind", "offset", "at", "source", "finding")
    assert [tuple(store[key] for key in keys) for store in first["stores"]] == [
        ("broker_memory", 100, "2026-03-14T02:59:55Z", "broker-a", None),
        ("broker_file", 90, "2026-03-14T02:59:30Z", "/store/config/consumerOffset.json", None),
        ("client_memory", 112, "2026-03-14T02:59:55Z", "c1", None),
    ]


def test_it_says_what_a_crash_would_repeat(group, api):
    first = api.get(URL).json()["results"][0]
    assert first["exposure"] == {
        "low": 12,
        "high": 40,
        "finished_out_of_order": 5,
        "broker_dies": 0,
        "both_die_low": 12,
        "both_die_high": 50,
        "as_of": "2026-03-14T02:59:55Z",
        "notes": [],
    }
    assert (first["would_start_at"], first["unknown"]) == (100, {})


def test_what_is_not_known_is_null_with_its_reason(group, api):
    second = api.get(URL).json()["results"][1]
    assert (second["exposure"]["low"], second["exposure"]["high"]) == (None, None)
    assert second["unknown"]["exposure.low"] == "no member owns it"
    assert (second["would_start_at"], second["never_committed"]) == (None, True)
    assert second["unknown"]["would_start_at"] == "no member was present to report its ConsumeFromWhere"
    assert [store["offset"] for store in second["stores"]] == [None, None, None]
    assert all(store["finding"] for store in second["stores"])


def test_it_filters_by_topic_and_comes_in_pages(group, api):
    assert api.get(URL, {"topic": "Refunds"}).json()["results"] == []
    page = api.get(URL, {"page_size": 1, "page": 2}).json()
    assert (page["count"], [row["queue_id"] for row in page["results"]]) == (2, [1])


def test_nobody_reads_it_without_a_token(group):
    assert Client().get(URL).status_code == 401
