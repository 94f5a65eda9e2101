"""Delay levels, samples and timer wheels as rows."""

import pytest

from consumers.models import Broker, DelayLevel, Rung
from consumers.polling.delay_answers import BrokerDelays, GroupRung, LevelReading, LevelSample, NextDue, WheelAnswer
from consumers.polling.record.delays import record_delays
from tests.readings import at
from tests.world import a_broker, a_cluster, a_group

pytestmark = pytest.mark.django_db

WAITING = LevelReading(10, 15, NextDue(10, at(30)))
EMPTY = LevelReading(15, 15, None)
SEEN = GroupRung(2, {2: 1, 1: 1}, at(-9), at(1))


@pytest.fixture
def cluster():
    cluster = a_cluster(read_at=None)
    a_broker(cluster)
    a_group(cluster, "billing")
    a_group(cluster, "audit")
    return cluster


def delays(levels=None, samples=None, **more):
    return BrokerDelays("broker-a", levels={3: WAITING} if levels is None else levels, samples=samples or {}, **more)


def sample(*groups):
    return {3: LevelSample(5, 5, dict.fromkeys(groups, SEEN))}


def test_a_level_is_stored_with_what_is_due_next(cluster):
    record_delays(cluster, [delays()], at(0))
    row = DelayLevel.objects.get()
    assert (row.broker, row.level, row.delay_offset, row.broker_offset) == ("broker-a", 3, 10, 15)
    assert (row.next_due_at, row.next_error, row.read_at) == (at(30), None, at(0))
    assert (row.looked_at, row.sampled_of, row.sampled_at, row.sample_error) == (None, None, None, None)
    assert Broker.objects.get().delays_at == at(0)


def test_a_level_goes_on_and_keeps_its_sample(cluster):
    record_delays(cluster, [delays(samples=sample("billing"))], at(0))
    record_delays(cluster, [delays({3: EMPTY})], at(15))
    row = DelayLevel.objects.get()
    assert (row.delay_offset, row.next_due_at, row.read_at) == (15, None, at(15))
    assert (row.looked_at, row.sampled_of, row.sampled_at) == (5, 5, at(0))


def test_a_group_s_part_of_a_sample_is_its_rung(cluster):
    record_delays(cluster, [delays(samples=sample("billing"))], at(0))
    rung = Rung.objects.get()
    assert (rung.group.name, rung.broker, rung.level, rung.messages) == ("billing", "broker-a", 3, 2)
    assert (rung.attempts, rung.oldest_stored_at, rung.next_due_at) == ({"1": 1, "2": 1}, at(-9), at(1))


def test_groups_that_are_no_more_in_a_sample_lose_their_rung(cluster):
    record_delays(cluster, [delays(samples=sample("billing", "audit"))], at(0))
    record_delays(cluster, [delays(samples=sample("audit"))], at(60))
    assert [(rung.group.name, rung.sampled_at) for rung in Rung.objects.all()] == [("audit", at(60))]


def test_a_reading_without_a_sample_leaves_the_rungs(cluster):
    record_delays(cluster, [delays(samples=sample("billing"))], at(0))
    record_delays(cluster, [delays()], at(15))
    assert Rung.objects.count() == 1


def test_a_sample_that_failed_leaves_the_one_before_with_its_reason(cluster):
    record_delays(cluster, [delays(samples=sample("billing"))], at(0))
    record_delays(cluster, [delays(samples={3: LevelSample(error="refused")})], at(60))
    row = DelayLevel.objects.get()
    assert (row.looked_at, row.sampled_at, row.sample_error) == (5, at(0), "refused")
    assert Rung.objects.get().sampled_at == at(0)
    record_delays(cluster, [delays(samples=sample("billing"))], at(120))
    assert DelayLevel.objects.get().sample_error is None


def test_a_broker_s_failure_stands_beside_it_and_leaves_its_levels(cluster):
    record_delays(cluster, [delays()], at(0))
    record_delays(cluster, [BrokerDelays("broker-a", error="silent")], at(15))
    assert (Broker.objects.get().delays_at, Broker.objects.get().delays_error) == (at(0), "silent")
    assert DelayLevel.objects.get().read_at == at(0)
    record_delays(cluster, [delays()], at(30))
    assert Broker.objects.get().delays_error is None


def test_levels_that_a_broker_has_no_more_go(cluster):
    record_delays(cluster, [delays({3: WAITING, 19: EMPTY}, sample("billing"))], at(0))
    record_delays(cluster, [delays({19: EMPTY})], at(15))
    assert (DelayLevel.objects.get().level, Rung.objects.count()) == (19, 0)


def test_levels_of_a_broker_that_is_gone_go(cluster):
    record_delays(cluster, [delays(samples=sample("billing"))], at(0))
    Broker.objects.all().delete()
    record_delays(cluster, [], at(15))
    assert (DelayLevel.objects.count(), Rung.objects.count()) == (0, 0)


def test_groups_that_are_not_known_are_left_out(cluster):
    record_delays(cluster, [delays(samples=sample("stranger"))], at(0))
    assert Rung.objects.count() == 0


def test_a_timer_wheel_is_stored_and_its_refusal_leaves_it(cluster):
    record_delays(cluster, [delays(wheel=WheelAnswer({"%RETRY%billing": 4}))], at(0))
    record_delays(cluster, [delays(wheel=WheelAnswer(None, "the wheel is off"))], at(60))
    record_delays(cluster, [delays()], at(75))
    row = Broker.objects.get()
    assert (row.wheel, row.wheel_at, row.wheel_error) == ({"%RETRY%billing": 4}, at(0), "the wheel is off")


def test_a_reading_costs_the_same_statements_for_one_group_as_for_many(cluster, django_assert_max_num_queries):
    for number in range(30):
        a_group(cluster, f"g{number}")
    levels = dict.fromkeys(range(1, 19), WAITING)
    names = [f"g{number}" for number in range(30)]
    samples = {level: LevelSample(5, 5, dict.fromkeys(names, SEEN)) for level in levels}
    with django_assert_max_num_queries(20):
        record_delays(cluster, [delays(levels, samples)], at(0))
    assert Rung.objects.count() == 30 * 18
