"""What rules see of repeats: events whose cause is sure, and the least that was redelivered, within an hour."""

import pytest

from consumers.models import AlertRule, ConsumerGroup, Measure
from tests.alert_rows import the_default_rules
from tests.consumers.alerts.measures.group_rows import a_behind_group, a_judged_cluster, of_group
from tests.rebalance_rows import a_repeat
from tests.world import ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def billing() -> ConsumerGroup:
    return a_behind_group(a_judged_cluster())


def seen(measure: Measure) -> object:
    return of_group(measure)[0]


def test_a_watched_group_without_a_repeat_has_a_measured_zero(billing: ConsumerGroup) -> None:
    assert (seen(Measure.REPEATS), seen(Measure.REDELIVERED)) == (0, 0)


def test_they_count_an_hour(billing: ConsumerGroup) -> None:
    a_repeat(billing, ago(60))
    a_repeat(billing, ago(3590), redelivered_low=5)
    a_repeat(billing, ago(3700), redelivered_low=900)

    assert (seen(Measure.REPEATS), seen(Measure.REDELIVERED)) == (2, 45)


def test_no_built_in_rule_is_about_repeats(db: None) -> None:
    the_default_rules()
    assert AlertRule.objects.exists()
    assert not AlertRule.objects.filter(measure__in=[Measure.REPEATS, Measure.REDELIVERED]).exists()


def test_a_cause_that_is_only_possible_is_no_event(billing: ConsumerGroup) -> None:
    a_repeat(billing, confidence="possible", redelivered_low=0)

    assert seen(Measure.REPEATS) == 0


def test_an_unknown_bound_adds_nothing_to_the_least(billing: ConsumerGroup) -> None:
    a_repeat(billing, redelivered_low=None, redelivered_high=None)
    a_repeat(billing, ago(300), redelivered_low=7, redelivered_high=None)

    assert seen(Measure.REDELIVERED) == 7


@pytest.mark.parametrize("measure", [Measure.REPEATS, Measure.REDELIVERED])
def test_a_group_whose_members_nobody_asked_for_is_not_known(billing: ConsumerGroup, measure: Measure) -> None:
    a_repeat(billing)
    ConsumerGroup.objects.update(membership_at=None, members=None)

    assert seen(measure) is None


@pytest.mark.parametrize("measure", [Measure.REPEATS, Measure.REDELIVERED])
def test_a_group_whose_members_nobody_tells_any_more_is_not_known(billing: ConsumerGroup, measure: Measure) -> None:
    ConsumerGroup.objects.update(membership_at=ago(7200), members=None, membership_error="broker-a: no answer")

    assert of_group(measure) == (None, "broker-a: no answer")


@pytest.mark.parametrize("measure", [Measure.REPEATS, Measure.REDELIVERED])
def test_nothing_is_known_while_nothing_is_evaluated(billing: ConsumerGroup, measure: Measure) -> None:
    billing.judged.delete()

    assert seen(measure) is None
