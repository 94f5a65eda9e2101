"""Delay levels of a broker: which are late, by whose clock, and what is then said."""

import pytest

from consumers.models import Reading
from consumers.retries.broker_levels import cluster_levels
from tests.delay_rows import a_delaying_broker, a_level, levels
from tests.world import NOW, a_cluster, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster():
    cluster = a_cluster()
    a_delaying_broker(cluster)
    return cluster


def broker(cluster):
    [found] = cluster_levels([cluster.pk], NOW)[cluster.pk]
    return found


def level(cluster, number=3):
    return next(level for level in broker(cluster).levels if level.level == number)


def with_clock(low, high):
    Reading.objects.update(members={"samples": {"clocks": {"broker-a": [low, high]}}})


# The newest reading was five seconds ago; clocks are allowed to differ by one second.
@pytest.mark.parametrize(
    ("sentence", "due_in", "clock", "overdue"),
    [
        ("it is due later", 20, (None, None), 0),
        ("it was due after the reading", -3, (None, None), 0),
        ("it was due long before the reading", -65, (None, None), 59),
        ("the clock is proven to agree", -65, (0, 0), 60),
        ("the clock is proven to be ahead", -65, (7, 8), 67),
        ("the clock is proven to be behind", -65, (-31, -30), 30),
        ("the clock may be far behind, and nothing proves it", -65, (-40, 3), 59),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_level_is_late_by_the_brokers_clock_when_it_was_read(cluster, sentence, due_in, clock, overdue):
    with_clock(*clock)
    a_level(cluster, 3, 4, due_in=due_in)
    assert level(cluster).overdue_seconds == overdue


def test_a_level_without_messages_is_not_late(cluster):
    levels(cluster)
    found = level(cluster)
    assert (found.backlog, found.overdue_seconds, found.next_due_at) == (0, 0, None)


def test_without_a_due_time_nobody_knows_whether_it_is_late(cluster):
    a_level(cluster, 3, 4, next_due_at=None, next_error="refused")
    found = level(cluster)
    assert (found.backlog, found.overdue_seconds) == (4, None)
    assert found.unknown["overdue_seconds"] == found.unknown["next_due_at"] == "refused"


@pytest.mark.parametrize(("due_in", "findings"), [(-15, 0), (-16.1, 1)])
def test_more_than_ten_seconds_are_a_finding(cluster, due_in, findings):
    levels(cluster)
    a_cluster_level = cluster.delay_levels.filter(level=3)
    a_cluster_level.update(broker_offset=104, next_due_at=ago(-due_in))
    assert len(broker(cluster).findings) == findings


def test_a_finding_names_the_worst_level_and_counts_what_waits(cluster):
    a_level(cluster, 1)
    a_level(cluster, 2)
    a_level(cluster, 3, 4, due_in=-66)
    a_level(cluster, 4, 1200, due_in=-36)
    [finding] = broker(cluster).findings
    assert finding.sentence == (
        "broker-a delivers delayed messages late: the first of level 3 was due 1 min before the newest scrape. "
        "Late levels: 3, 4, with 1,204 messages."
    )
    params = {"levels": [3, 4], "worst_level": 3, "overdue_seconds": 60.0, "waiting_messages": 1204}
    assert finding.params == params
    assert (finding.since, finding.log.text) == (ago(66), "ScheduleMessageService, executeOnTimeUp exception")


def test_the_backlog_of_a_broker_is_that_of_all_its_levels(cluster):
    levels(cluster, level3=4, level4=6)
    found = broker(cluster)
    assert (found.backlog, found.configured, found.read_at, dict(found.unknown)) == (10, 4, ago(5), {})


def test_levels_that_a_broker_is_not_configured_with_are_shown_where_something_lies_in_them(cluster):
    levels(cluster)
    a_level(cluster, 17)
    a_level(cluster, 18, 2)
    found = level(cluster, 18)
    assert [one.level for one in broker(cluster).levels] == [1, 2, 3, 4, 18]
    assert found.unknown["delay_seconds"] == "the broker is not configured with this level"


def test_all_clusters_cost_the_same_queries_as_one(cluster, django_assert_num_queries):
    other = a_cluster("other")
    a_delaying_broker(other, "broker-z")
    with django_assert_num_queries(5):
        assert set(cluster_levels([cluster.pk, other.pk], NOW)) == {cluster.pk, other.pk}
