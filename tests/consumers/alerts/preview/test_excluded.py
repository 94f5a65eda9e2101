"""Groups that a rule leaves alone today are told from others that would have fired."""

import pytest

from consumers.alerts.measured import SITE
from consumers.alerts.preview.compared import excluded
from tests.alert_rows import a_rule, of_group
from tests.reset_rows import a_reset, a_reset_queue
from tests.world import NOW, a_broker, a_cluster, a_group, a_judged_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db

PRESENCE = {ago(day * 86_400).date().isoformat(): [100, 60] for day in range(8)}
HABIT = {"first_seen_at": ago(30 * 86_400), "presence": PRESENCE}


def alone(rule, *groups):
    """The reasons, in the order of `groups`."""
    said = excluded(rule, {place: of_group(group) for place, group in enumerate(groups)}, NOW)
    return [said.get(place) for place in range(len(groups))]


def test_a_paused_group_is_left_alone_and_others_are_not():
    cluster = a_cluster()
    paused, other = a_group(cluster, "paused", consume_enable=False), a_group(cluster, "other")
    assert alone(a_rule(), paused, other) == ["paused by configuration: consumeEnable is false", None]


def test_one_that_is_offline_by_habit_is_so_also_while_it_is_online():
    group = a_group(a_cluster(), "nightly", online=True, members=2, **HABIT)
    said = "offline by habit: without a member for 60 % of the last 7 days"
    assert alone(a_rule(), group) == [said]
    assert alone(a_rule("Letters", measure="dlq_inflow_messages"), group) == [None]


def test_one_that_waits_by_habit_just_now_says_so():
    group = a_group(a_cluster(), "nightly", **HABIT)
    a_judged_group(group, "OK", rule="offline_by_habit")
    assert alone(a_rule(), group) == ["offline by habit, and its time lag is within its usual maximum"]


def test_a_part_of_a_topic_is_left_alone_with_its_group():
    cluster = a_cluster()
    group = a_group(cluster, "paused", consume_enable=False)
    a_snapshot(group, a_queue(cluster, "Orders"), 0, 5)
    rule = a_rule(topic="Orders")
    part = of_group(group).__class__("topic", cluster="prod", group="paused", topic="Orders", group_id=group.pk)
    assert excluded(rule, {3: part}, NOW) == {3: "paused by configuration: consumeEnable is false"}


def test_a_rule_that_is_switched_off_says_the_same():
    group = a_group(a_cluster(), "paused", consume_enable=False)
    rule = a_rule(enabled=False)
    assert alone(rule, group)[0] is not None
    assert rule.enabled is False


def test_states_and_what_is_no_group_are_the_replays_own_matter():
    group = a_group(a_cluster(), "paused", consume_enable=False)
    assert alone(a_rule(measure="state", comparison="in", states=["STOP"]), group) == [None]
    a_broker(group.cluster)
    moved = a_group(group.cluster, "moved")
    detail = {"topic": "Orders", "broker": "broker-a", "queue_id": 0}
    a_judged_group(moved, "REWIND", rule="offset_went_back", detail=detail)
    written = {"written_at": ago(605), "outcome": "CONFIRMED"}
    a_reset_queue(a_reset(moved, status="applied"), before=900, target=100, **written)
    assert alone(a_rule("Back", measure="state", comparison="in", states=["REWIND"]), moved) == [None]
    assert excluded(a_rule("Judged", measure="judgement_age_seconds"), {0: SITE}, NOW) == {}
