"""Messages per second of queues, out of the newest whole minutes that the lake has."""

from datetime import timedelta

import pyarrow as pa
import pytest
from django.conf import settings as site

from consumers.lake.schemas import WINDOWS
from consumers.lake.store import Lake
from consumers.lake.windows import put_window
from consumers.ownership.members import group_rates
from tests.world import NOW, a_cluster, a_group

pytestmark = pytest.mark.django_db
FIRST, SECOND = ("Orders", "broker-a", 0), ("Orders", "broker-a", 1)


@pytest.fixture
def group(tmp_path, settings):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    return a_group(a_cluster())


def put(minutes_ago, rates, **fields):
    """The rates of the queues by their ids, in one minute that began so long ago."""
    start = NOW - timedelta(minutes=minutes_ago)
    shared = {"cluster": "prod", "start": start, "step_seconds": 60, "group": "billing", "topic": "Orders"}
    shared |= {"broker": "broker-a", "kind": "normal", "readings": 4} | fields
    rows = [shared | {"queue_id": queue_id, "consume_rate": rate} for queue_id, rate in rates.items()]
    put_window(Lake.at(site.CONSUMERSCOPE_LAKE), "windows_60", "prod", start, pa.Table.from_pylist(rows, WINDOWS))


def rates(group, late_seconds=30):
    return group_rates(group, NOW + timedelta(seconds=late_seconds))


def test_the_rate_of_a_queue_is_the_mean_of_five_minutes(group):
    for minutes_ago, rate in ((7, 900.0), (6, 900.0), (5, 1.0), (4, 2.0), (3, 3.0), (2, 4.0), (1, 5.0)):
        put(minutes_ago, {0: rate})
    found = rates(group)
    assert (found.consumed, found.since, found.until) == ({FIRST: 3.0}, NOW - timedelta(minutes=5), NOW)


def test_a_minute_in_which_it_is_not_known_counts_for_nothing(group):
    put(3, {0: 8.0})
    put(2, {0: None})
    put(1, {0: 2.0})
    assert rates(group).of([FIRST]) == (5.0, "")


def test_a_queue_whose_newest_minute_is_not_known_has_no_rate(group):
    put(2, {0: 8.0})
    put(1, {0: None}, unknown_reason="broker-a could not be read")
    assert rates(group).of([FIRST]) == (None, "Orders/broker-a/0: broker-a could not be read")


def test_a_rate_that_went_back_has_a_reason_of_its_own(group):
    put(1, {0: None})
    assert rates(group).of([FIRST])[1] == (
        "Orders/broker-a/0: the consumer offset went back, or there is no poll before this window"
    )


def test_a_queue_that_is_missing_from_the_newest_minute_has_no_rate(group):
    put(2, {0: 8.0, 1: 1.0})
    put(1, {1: 1.0})
    assert rates(group).of([FIRST]) == (
        None,
        "Orders/broker-a/0: no poll in the minute before 2026-03-14 03:00:00 UTC",
    )
    assert rates(group).of([SECOND]) == (1.0, "")


def test_a_queue_that_no_window_names_makes_the_sum_unknown(group):
    put(1, {0: 1.0})
    assert rates(group).of([FIRST, SECOND]) == (None, "Orders/broker-a/1: no window yet")


def test_of_a_queue_that_was_never_committed_nothing_was_consumed(group):
    put(1, {0: None}, unknown_reason="never_committed")
    assert rates(group).of([FIRST]) == (0.0, "")


def test_dead_letters_are_no_part_of_the_total(group):
    put(1, {0: 1.0, 1: 2.0})
    assert rates(group).total == (3.0, "")
    put(1, {0: 1.0}, kind="dlq")
    assert rates(group).consumed == {}


@pytest.mark.parametrize("kind", ["retry", "system"])
def test_queues_of_other_kinds_have_rates_as_well(group, kind):
    put(1, {0: 1.0}, kind=kind)
    assert rates(group).of([FIRST]) == (1.0, "")


def test_windows_that_are_too_old_tell_nothing_of_the_present(group):
    put(11, {0: 1.0})
    assert rates(group).why == "no minute since 2026-03-14 02:50:00 UTC is aggregated yet"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"message_model": "BROADCASTING"}, "broadcasting: each member stores its own offsets"),
        ({"outside_store": "com.example.Store"}, "com.example.Store stores its offsets, not the brokers"),
    ],
)
def test_what_brokers_do_not_know_has_no_rate(group, fields, reason):
    put(1, {0: 1.0})
    for name, value in fields.items():
        setattr(group, name, value)
    assert rates(group).of([FIRST]) == rates(group).total == (None, reason)
