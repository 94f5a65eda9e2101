"""What lists of events say of their count: exact, or a lower bound."""

import pytest
import time_machine

from consumers.models import Reading
from tests.rebalance_rows import was_watched
from tests.world import NOW, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db
HOUR = 3600
OF_GROUP = "/api/v1/groups/prod/billing/"
URLS = ("/api/v1/rebalances/", "/api/v1/repeats/", f"{OF_GROUP}rebalances/", f"{OF_GROUP}repeats/")
MORE = (
    "for part of this time brokers were not scraped, members not reported, scrapes not evaluated, or no record is left"
    " of it: there may be more"
)


@pytest.fixture(autouse=True)
def billing():
    with time_machine.travel(NOW, tick=False):
        group = a_group(a_cluster())
        a_snapshot(group, a_queue(group.cluster), 1, 2)
        yield group


def completeness(api, url, **query):
    answer = api.get(url, query).json()
    assert answer["count"] == 0
    return answer["completeness"]


@pytest.mark.parametrize("url", URLS)
def test_a_count_of_a_range_that_was_watched_is_exact(api, billing, url):
    was_watched(billing.cluster, HOUR)
    assert completeness(api, url, **{"from": ago(HOUR).isoformat()}) == {
        "count_is_lower_bound": False,
        "from": "2026-03-14T02:00:00Z",
        "to": "2026-03-14T03:00:00Z",
        "unknown_reason": None,
        "unknown": {},
    }


@pytest.mark.parametrize("url", URLS)
def test_a_count_of_a_range_that_was_partly_watched_is_a_lower_bound(api, billing, url):
    was_watched(billing.cluster, HOUR)
    found = completeness(api, url, **{"from": ago(2 * HOUR).isoformat()})
    assert (found["count_is_lower_bound"], found["unknown_reason"]) == (True, MORE)


@pytest.mark.parametrize("url", URLS)
def test_where_nothing_was_scraped_nothing_is_known_of_events(api, url):
    Reading.objects.all().delete()
    found = completeness(api, url)
    assert (found["count_is_lower_bound"], found["from"]) == (True, None)
    assert found["unknown_reason"] == found["unknown"]["from"] == "nothing was scraped yet"


@pytest.mark.parametrize("query", [{}, {"to": ago(-HOUR).isoformat()}], ids=["without a range", "into the future"])
def test_a_list_is_of_the_time_from_the_first_scrape_to_now(api, billing, query):
    was_watched(billing.cluster, HOUR)
    found = completeness(api, URLS[0], **query)
    assert (found["count_is_lower_bound"], found["from"], found["to"]) == (
        False,
        "2026-03-14T02:00:00Z",
        "2026-03-14T03:00:00Z",
    )


def test_csv_says_last_that_there_may_be_more(api, billing):
    was_watched(billing.cluster, HOUR)
    query = {"format": "csv", "from": ago(2 * HOUR).isoformat()}
    assert api.get(URLS[0], query).getvalue().decode().endswith(f"\r\n# incomplete: {MORE}\r\n")


def test_a_count_of_another_cluster_is_exact(api, billing):
    was_watched(billing.cluster, HOUR)
    a_cluster("other")
    query = {"from": ago(HOUR).isoformat()}
    found = [completeness(api, URLS[0], **query, **of)["count_is_lower_bound"] for of in ({}, {"cluster": "prod"})]
    assert found == [True, False]
