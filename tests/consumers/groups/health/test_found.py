"""What is noticed of all groups at once, and what a check of one finds."""

import pytest

from consumers.groups.health import Reason, shown
from consumers.groups.health_checks import checked, noticed
from consumers.models import (
    Assignment,
    Client,
    ConsumerGroup,
    GroupBroker,
    GroupWindow,
    HealthLevel,
    PipelineRun,
)
from tests.health_rows import a_healthy_group, a_read_cluster
from tests.rebalance_rows import a_crash_loop, a_rebalance, was_watched
from tests.retry_rows import a_queue_is_blocked, levels_wait
from tests.world import NOW, a_group, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def group() -> ConsumerGroup:
    return a_healthy_group(a_read_cluster())


def told(reasons: tuple[Reason, ...]) -> list[tuple[str, str]]:
    return [(reason.code.value, reason.level.value) for reason in reasons]


def noticed_of(group: ConsumerGroup) -> tuple[Reason, ...]:
    """Of all groups at once, and the same of this one alone."""
    found = noticed(NOW)[group.pk]
    assert noticed(NOW, [group.pk]) == {group.pk: found}
    return found


def checked_of(group: ConsumerGroup) -> tuple[Reason, ...]:
    return checked([ConsumerGroup.objects.select_related("cluster").get(pk=group.pk)], NOW)[group.pk]


def test_nothing_is_found_of_a_group_that_is_well(group: ConsumerGroup) -> None:
    assert (noticed_of(group), checked_of(group)) == ((), ())


def test_dead_letters_of_the_newest_minutes_have_a_rate_and_a_sum_since_the_first_reading(group: ConsumerGroup) -> None:
    GroupWindow.objects.filter(group=group, start__gte=ago(600)).update(into_dlq=5)
    [reason] = noticed_of(group)
    assert told((reason,)) == [("dlq_inflow", "warning")]
    assert reason.parameters == {"day_messages": 45, "per_minute": 5.0}


def test_the_rate_of_dead_letters_is_of_the_minutes_that_are_known(group: ConsumerGroup) -> None:
    newest = [row.pk for row in GroupWindow.objects.filter(group=group).order_by("-start")[:6]]
    GroupWindow.objects.filter(pk__in=newest).update(into_dlq=6)
    GroupWindow.objects.filter(pk__in=newest[3:]).update(into_dlq=None)
    [reason] = noticed_of(group)
    assert reason.parameters["per_minute"] == 6.0


def test_dead_letters_of_this_morning_are_a_warning_without_a_rate(group: ConsumerGroup) -> None:
    GroupWindow.objects.filter(group=group, start__lt=ago(3000)).update(into_dlq=2)
    group.judged.dlq_day_messages = 30
    group.judged.save()
    [reason] = noticed_of(group)
    assert reason.parameters == {"day_messages": 30, "is_whole_day": True}


def test_a_minute_that_was_missed_leaves_the_inflow_known_and_five_do_not(group: ConsumerGroup) -> None:
    newest = GroupWindow.objects.filter(group=group).order_by("-start")
    GroupWindow.objects.filter(pk=newest[1].pk).update(into_dlq=None)
    assert noticed_of(group) == ()
    GroupWindow.objects.filter(pk__in=[row.pk for row in newest[:6]]).update(into_dlq=None)
    assert told(noticed_of(group)) == [("dlq_unknown", "unknown")]


def test_a_late_pipeline_leaves_dead_letters_and_rebalances_unknown(group: ConsumerGroup) -> None:
    PipelineRun.objects.update(until=ago(3600))
    [reason] = noticed_of(group)
    assert (reason.code, reason.level) == ("evaluation_late", "unknown")
    assert reason.parameters == {"since": ago(3600).isoformat()}


def test_before_the_first_evaluation_no_time_is_named(group: ConsumerGroup) -> None:
    PipelineRun.objects.all().delete()
    [reason] = noticed_of(group)
    assert (reason.code, reason.parameters) == ("evaluation_late", {})


def test_a_group_that_rebalances_again_and_again_is_told_with_both_counts(group: ConsumerGroup) -> None:
    was_watched(group.cluster, 86400)
    for number in range(1, 8):
        a_rebalance(group, ago(400 * number))
    [reason] = noticed_of(group)
    assert told((reason,)) == [("rebalances", "warning")]
    numbers = dict.fromkeys(("episodes_hour", "rebalances_hour", "episodes_day", "rebalances_day"), 7)
    assert reason.parameters == {"level": "flapping"} | numbers


def test_counts_of_a_time_that_was_read_in_part_are_lower_bounds(group: ConsumerGroup) -> None:
    for number in range(1, 8):
        a_rebalance(group, ago(400 * number))
    [reason] = noticed_of(group)
    assert reason.parameters["is_at_least"] is True
    assert shown(reason).text == "Flapping: ≥ 7 rebalances in 7 episodes, 1 h"


def test_members_that_change_every_forty_seconds_are_one_episode_of_many_rebalances(group: ConsumerGroup) -> None:
    a_crash_loop(group, 1200, until=30)
    [reason] = noticed_of(group)
    assert reason.parameters["level"] == "unsettled"
    assert (reason.parameters["episodes_hour"], reason.parameters["rebalances_hour"]) == (1, 29)


def test_a_blocked_queue_is_a_warning(group: ConsumerGroup) -> None:
    a_queue_is_blocked(group)
    [reason] = noticed_of(group)
    assert told((reason,)) == [("blocked_queues", "warning")]
    assert reason.parameters == {"queues": 1, "since": ago(720).isoformat()}


def test_a_queue_with_two_owners_is_critical_and_one_without_an_owner_too(group: ConsumerGroup) -> None:
    rows = list(Assignment.objects.filter(group=group).order_by("pk"))
    other = next(row for row in rows if row.client_id != rows[0].client_id)
    Assignment.objects.create(
        group=group, queue=rows[0].queue, client_id=other.client_id, seen_since=ago(600), last_seen=ago(5)
    )
    rows[-1].delete()
    found = checked_of(group)
    assert {(reason.level, reason.parameters["finding"], reason.parameters["queues"]) for reason in found} == {
        (HealthLevel.CRITICAL, "unowned_no_start", 1),
        (HealthLevel.CRITICAL, "doubly_owned", 1),
    }


def test_owners_that_were_not_read_are_unknown(group: ConsumerGroup) -> None:
    ConsumerGroup.objects.update(membership_at=ago(1000))
    assert told(checked_of(group)) == [("ownership_unknown", "unknown"), ("retry_checks_unknown", "unknown")]


def test_a_member_that_never_spoke_leaves_ownership_unknown(group: ConsumerGroup) -> None:
    member = Client.objects.filter(group=group)[0]
    Client.objects.filter(pk=member.pk).update(running_info_at=None, running_info_error="timed out", subscriptions=None)
    assert ("ownership_unknown", "unknown") in told(checked_of(group))


def test_discarded_retries_are_critical_and_name_their_brokers(group: ConsumerGroup) -> None:
    GroupBroker.objects.filter(broker="broker-b").update(retry_queue_nums=0)
    assert [reason.parameters for reason in checked_of(group) if reason.level == "critical"] == [
        {"finding": "retries_discarded", "brokers": ["broker-b"]}
    ]


def test_what_no_broker_has_said_leaves_the_retry_checks_unknown(group: ConsumerGroup) -> None:
    GroupBroker.objects.all().delete()
    [reason] = checked_of(group)
    assert told((reason,)) == [("retry_checks_unknown", "unknown")]
    assert "retries_discarded" in reason.parameters["checks"]


def test_a_group_that_is_paused_on_purpose_is_told_and_no_fault(group: ConsumerGroup) -> None:
    GroupBroker.objects.update(consume_enable=False)
    [reason] = checked_of(group)
    assert told((reason,)) == [("retry_check", "ok")]


def test_retries_that_are_delivered_late_are_a_warning(group: ConsumerGroup) -> None:
    levels_wait(group, late_seconds=600)
    assert ("late_retries", "warning") in told(checked_of(group))


def test_nothing_is_checked_of_a_system_group(group: ConsumerGroup) -> None:
    system = a_group(group.cluster, "CID_RMQ_SYS_TRANS", kind="system", membership_at=None)
    assert (checked_of(system), noticed_of(system)) == ((), ())


def test_many_groups_are_noticed_with_as_many_queries_as_one(group: ConsumerGroup, django_assert_num_queries) -> None:
    with django_assert_num_queries(8):
        noticed(NOW)
    for name in ("stock", "mail", "audit"):
        a_healthy_group(group.cluster, name)
    with django_assert_num_queries(8):
        assert len(noticed(NOW)) == 4
