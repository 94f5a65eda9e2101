"""What the queues of a reset add up to."""

from typing import Any

import pytest

from consumers.models import ConsumerGroup, Reset, ResetMethod, ResetOutcome, ResetQueue, ResetStep
from consumers.resets.queries import totals_of
from consumers.resets.rows import ResetTotals
from tests.reset_rows import a_queue_left_out, a_reset, a_reset_queue
from tests.world import a_cluster, a_group, ago


@pytest.fixture
def billing(db: None) -> ConsumerGroup:
    return a_group(a_cluster())


@pytest.fixture
def reset(billing: ConsumerGroup) -> Reset:
    return a_reset(billing)


def sums(reset: Reset) -> ResetTotals:
    return totals_of([reset.pk])[reset.pk]


def test_it_adds_up_what_comes_again_and_what_is_skipped(reset: Reset) -> None:
    a_reset_queue(reset, 0, replayed_messages=20, skipped_messages=0)
    a_reset_queue(reset, 1, replayed_messages=0, skipped_messages=7)
    found = sums(reset)
    assert (found.replayed_messages, found.skipped_messages) == (20, 7)


def test_it_parts_queues_that_move_from_those_that_stand_and_those_left_out(reset: Reset) -> None:
    a_reset_queue(reset, 0)
    a_reset_queue(reset, 1, restorable=False, clipped=True)
    a_reset_queue(reset, 2, method=ResetMethod.NOTHING, replayed_messages=0)
    a_queue_left_out(reset, 3)
    found = sums(reset)
    assert (found.queues, found.moving, found.standing, found.left_out) == (4, 2, 1, 1)
    assert (found.restorable, found.not_restorable, found.clipped) == (1, 1, 1)
    assert found.methods == {"server_side": 2, "nothing": 1}


def test_a_queue_that_does_not_say_makes_the_sum_unknown(reset: Reset) -> None:
    a_reset_queue(reset, 0, replayed_messages=20)
    a_reset_queue(reset, 1, now_offset=None, replayed_messages=None, skipped_messages=None)
    found = sums(reset)
    assert (found.replayed_messages, found.replayed_messages_at_least) == (None, 20)
    assert found.unknown["replayed_messages"] == "unknown for 1 of 2 queues: each queue has its reason"


def test_a_sum_of_nothing_known_is_not_zero(reset: Reset) -> None:
    a_reset_queue(reset, 0, now_offset=None, replayed_messages=None, skipped_messages=None)
    found = sums(reset)
    assert (found.replayed_messages, found.replayed_messages_at_least) == (None, None)
    assert found.unknown.keys() >= {"skipped_messages", "skipped_messages_at_least"}


def confirmed(reset: Reset, queue_id: int, before: int | None, target: int, **fields: Any) -> None:
    said = {"step": ResetStep.READ_BACK, "outcome": ResetOutcome.CONFIRMED, "before": before, "target": target}
    a_reset_queue(reset, queue_id, **(said | fields))


def test_what_came_again_in_fact_counts_from_where_a_queue_stood_when_it_was_written(reset: Reset) -> None:
    confirmed(reset, 0, before=75, target=40, replayed_messages=20)
    confirmed(reset, 1, before=50, target=90)
    # What had expired by then is not skipped.
    confirmed(reset, 2, before=5, target=30, min_offset=10)
    confirmed(reset, 3, before=40, target=40, method=ResetMethod.NOTHING)
    confirmed(reset, 4, before=99, target=40, outcome=ResetOutcome.OVERWRITTEN)
    found = sums(reset)
    assert (found.replayed_in_fact, found.skipped_in_fact) == (35, 60)


def test_members_that_were_told_a_time_went_where_their_broker_said(reset: Reset) -> None:
    """What came between the plan and the reset is skipped too; what expired meanwhile does not come again."""
    confirmed(reset, 0, before=90, target=100, answered=150, method=ResetMethod.CLIENT)
    confirmed(reset, 1, before=75, target=10, answered=30, method=ResetMethod.CLIENT)
    found = sums(reset)
    assert (found.replayed_in_fact, found.skipped_in_fact) == (45, 60)


def test_before_a_queue_is_confirmed_nothing_is_known_in_fact(reset: Reset) -> None:
    confirmed(reset, 0, before=75, target=40, outcome=ResetOutcome.UNKNOWN)
    found = sums(reset)
    assert found.replayed_in_fact is found.skipped_in_fact is None
    assert found.unknown["replayed_in_fact"] == "no queue is confirmed"


def test_from_no_commit_on_nothing_is_known_in_fact(reset: Reset) -> None:
    confirmed(reset, 0, before=75, target=40)
    confirmed(reset, 1, before=None, target=40)
    assert sums(reset).unknown["skipped_in_fact"] == "1 of 2 confirmed queues had no committed offset before"


def test_queues_left_out_move_no_message_that_is_known(reset: Reset) -> None:
    a_queue_left_out(reset, 0)
    found = sums(reset)
    assert found.replayed_messages is None
    assert found.unknown["replayed_messages"] == "all queues are excluded"


def test_it_says_between_which_times_the_first_messages_lie(reset: Reset) -> None:
    for queue_id, at in enumerate((ago(60), ago(3600), None)):
        a_reset_queue(reset, queue_id, target_time=at)
    found = sums(reset)
    assert (found.earliest_target_time, found.latest_target_time) == (ago(3600), ago(60))
    assert found.queues_with_target_time == 2


def test_without_a_time_it_says_so(reset: Reset) -> None:
    a_reset_queue(reset, target_time=None)
    assert sums(reset).unknown["earliest_target_time"] == "no message at a target was read"


@pytest.mark.parametrize(
    ("fields", "done"),
    [
        ({"step": ResetStep.PLANNED}, 0),
        ({"step": ResetStep.WRITING}, 0),
        ({"step": ResetStep.WRITTEN}, 0),
        ({"step": ResetStep.UNANSWERED}, 0),
        ({"step": ResetStep.FAILED}, 1),
        ({"step": ResetStep.NOT_DONE}, 1),
        ({"step": ResetStep.READ_BACK}, 1),
        ({"step": ResetStep.READ_BACK, "method": ResetMethod.NOTHING}, 0),
    ],
)
def test_it_counts_what_needs_nothing_more(reset: Reset, fields: dict[str, Any], done: int) -> None:
    a_reset_queue(reset, **fields)
    assert sums(reset).done == done


def test_it_counts_steps_and_outcomes_of_the_queues_that_are_part_of_it(reset: Reset) -> None:
    a_reset_queue(reset, 0, step=ResetStep.READ_BACK, outcome=ResetOutcome.CONFIRMED)
    a_reset_queue(reset, 1, step=ResetStep.FAILED)
    a_queue_left_out(reset, 2)
    found = sums(reset)
    assert (found.steps, found.outcomes) == ({"read back": 1, "failed": 1}, {"CONFIRMED": 1})


def test_resets_do_not_mix(billing: ConsumerGroup, reset: Reset) -> None:
    a_reset_queue(reset, 0, outcome=ResetOutcome.CONFIRMED)
    other = a_reset(billing)
    a_reset_queue(other, 0, replayed_messages=1, outcome=ResetOutcome.UNKNOWN)
    found = totals_of([reset.pk, other.pk])
    assert [found[one.pk].replayed_messages for one in (reset, other)] == [20, 1]
    assert [found[one.pk].outcomes for one in (reset, other)] == [{"CONFIRMED": 1}, {"UNKNOWN": 1}]


def test_a_reset_without_queues_has_no_sums(reset: Reset) -> None:
    assert totals_of([reset.pk]) == {}


def test_ten_thousand_queues_cost_four_queries(reset: Reset, django_assert_num_queries: Any) -> None:
    model = a_reset_queue(reset)
    more = [ResetQueue(reset=reset, topic="T", broker="b", queue_id=n, target=1, method="commit") for n in range(9999)]
    ResetQueue.objects.bulk_create(more, batch_size=2000)
    with django_assert_num_queries(4):
        found = sums(reset)
    assert (found.queues, found.methods["commit"], model.pk is not None) == (10000, 9999, True)
