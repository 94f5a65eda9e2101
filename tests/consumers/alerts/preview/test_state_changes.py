"""Since when a state was so, and whether a reset from here led to it."""

import pytest

from consumers.alerts.preview.judged import changes_of, led_to_by_resets
from consumers.models import StateChange
from tests.reset_rows import a_reset, a_reset_queue
from tests.world import a_cluster, a_group, ago

pytestmark = pytest.mark.django_db

QUEUE = {"topic": "Orders", "broker": "broker-a", "queue_id": 0}


def a_change(group, age=600, *, after="REWIND", rule="offset_went_back", **detail):
    return StateChange.objects.create(
        group=group, at=ago(age), before="OK", after=after, rule=rule, detail=QUEUE | detail
    )


def of(group, since=3600):
    return list(changes_of({group.pk}, ago(since)))


def test_what_stands_still_counts_from_when_it_stood():
    group = a_group(a_cluster())
    a_change(group, after="STALL", rule="blocked", still_seconds=200.0)
    assert [change.since for change in of(group)] == [ago(800)]


def test_any_other_state_counts_from_its_judgement():
    group = a_group(a_cluster())
    a_change(group)
    assert [change.since for change in of(group)] == [ago(600)]


def test_changes_come_in_order_of_those_groups_and_that_time():
    cluster = a_cluster()
    group, other = a_group(cluster, "billing"), a_group(cluster, "other")
    a_change(group, 300)
    a_change(group, 600)
    a_change(group, 3601)
    a_change(other, 400)
    assert [change.at for change in of(group)] == [ago(600), ago(300)]


@pytest.mark.parametrize(
    ("written", "rule", "queue_id", "is_led"),
    [
        (630, "offset_went_back", 0, True),
        (630, "offset_went_back", 1, False),
        (630, "blocked", 0, False),
        (500, "offset_went_back", 0, False),
        (2000, "offset_went_back", 0, False),
        (630, "moved_to_oldest", 0, False),
    ],
)
def test_a_reset_from_here_led_to_what_it_moved(written, rule, queue_id, is_led):
    group = a_group(a_cluster())
    reset = a_reset(group, status="applied")
    a_reset_queue(reset, queue_id=queue_id, before=900, target=100, written_at=ago(written), outcome="CONFIRMED")
    change = a_change(group, rule=rule)
    assert led_to_by_resets(of(group)) == ({change.pk} if is_led else set())
