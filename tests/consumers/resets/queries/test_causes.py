"""An offset that jumped, and whether a reset from here did it."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from consumers.models import ConsumerGroup, Reading, ResetOutcome, ResetQueue, ResetStep
from consumers.queries.reset_marks import Jump, causes
from consumers.vocabulary.states import RuleCode
from tests.reset_rows import a_reset, a_reset_queue
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def billing() -> ConsumerGroup:
    return a_group(a_cluster())


def written(group: ConsumerGroup, at: datetime | None, queue_id: int = 0, **fields: Any) -> ResetQueue:
    reset = a_reset(group, by_name="ann", reason="orders were lost")
    step = ResetStep.READ_BACK if at is not None else ResetStep.FAILED
    return a_reset_queue(reset, queue_id, **{"before": 60, "written_at": at, "step": step, **fields})


def jump(group: ConsumerGroup, rule: str = RuleCode.OFFSET_WENT_BACK, **fields: Any) -> Jump:
    values = {"topic": "Orders", "broker": "broker-a", "queue_id": 0, "since": ago(60), "until": ago(10)}
    return Jump(group.pk, rule=rule, **(values | fields))


def told(one: Jump) -> dict[str, str]:
    return causes([one])[one]


def test_the_reset_that_moved_it_is_named_with_who_when_and_why(billing: ConsumerGroup) -> None:
    row = written(billing, ago(70))
    assert told(jump(billing)) == {
        "cause": "reset by ann at 2026-03-14 02:58:50 UTC (orders were lost)",
        "reset": str(row.reset_id),
    }


def test_whoever_applied_it_is_named(billing: ConsumerGroup) -> None:
    row = written(billing, ago(70))
    row.reset.applied_by_name = "bob"
    row.reset.save()
    assert told(jump(billing))["cause"].startswith("reset by bob at ")


@pytest.mark.parametrize(
    ("age", "begins"),
    [
        (58, "not by"),  # after the reading that saw it, where no later judgement looked
        (60, "reset by"),
        (150, "reset by"),  # two readings late
        (151, "perhaps the reset by"),  # its broker may not have been read for so long
        (960, "perhaps the reset by"),
        (961, "not by"),
    ],
)
def test_only_a_reset_shortly_before_can_have_done_it(billing: ConsumerGroup, age: int, begins: str) -> None:
    written(billing, ago(age))
    assert told(jump(billing, until=ago(60)))["cause"].startswith(begins)


def test_a_state_that_goes_on_may_have_a_later_cause(billing: ConsumerGroup) -> None:
    written(billing, ago(30))
    assert told(jump(billing, since=ago(600)))["cause"].startswith("reset by ann")


def _of_another_queue(group: ConsumerGroup) -> None:
    written(group, ago(70), queue_id=1)


def _of_another_group(group: ConsumerGroup) -> None:
    written(a_group(group.cluster, "audit"), ago(70))


def _forward(group: ConsumerGroup) -> None:
    written(group, ago(70), target=90)


def _read_back_as_unchanged(group: ConsumerGroup) -> None:
    written(group, ago(70), outcome=ResetOutcome.UNCHANGED)


def _never_written(group: ConsumerGroup) -> None:
    written(group, None)


@pytest.mark.parametrize(
    "made", [_of_another_queue, _of_another_group, _forward, _read_back_as_unchanged, _never_written]
)
def test_what_did_not_move_the_queue_back_is_no_cause(billing: ConsumerGroup, made: Any) -> None:
    made(billing)
    assert told(jump(billing)) == {"cause": "not by Consumerscope"}


def test_a_skip_of_ours_is_the_cause_of_a_queue_that_was_moved_up(billing: ConsumerGroup) -> None:
    written(billing, ago(70), target=90)
    assert told(jump(billing, RuleCode.MOVED_TO_OLDEST))["cause"].startswith("reset by ann")


def test_a_queue_that_its_broker_moved_up_has_no_cause_to_tell(billing: ConsumerGroup) -> None:
    assert told(jump(billing, RuleCode.MOVED_TO_OLDEST)) == {}


def test_the_newest_of_several_counts(billing: ConsumerGroup) -> None:
    written(billing, ago(90))
    newest = written(billing, ago(62))
    assert told(jump(billing))["reset"] == str(newest.reset_id)


def test_many_jumps_are_one_query_and_none_is_none(billing: ConsumerGroup, django_assert_num_queries: Any) -> None:
    for queue_id in range(20):
        written(billing, NOW - timedelta(seconds=70), queue_id=queue_id)
    jumps = [jump(billing, queue_id=queue_id) for queue_id in range(20)]
    with django_assert_num_queries(1):
        assert all("reset" in told for told in causes(jumps).values())
    with django_assert_num_queries(0):
        assert causes([]) == {}


def test_beside_an_older_jump_a_reset_from_long_before_is_still_no_cause(billing: ConsumerGroup) -> None:
    written(billing, ago(1500))
    newer, older = jump(billing), jump(billing, queue_id=1, since=ago(2000), until=ago(1900))
    assert causes([newer, older])[newer] == {"cause": "not by Consumerscope"}


@pytest.mark.parametrize(
    ("age", "broker", "slave", "begins"),
    [
        (
            75,
            "broker-a",
            "10.0.0.9:10911",
            "perhaps the failover: slave 10.0.0.9:10911 stood in for its master at 2026",
        ),
        (75, "broker-b", "10.0.0.9:10911", "not by"),
        (75, "broker-a", None, "not by"),
        (55, "broker-a", "10.0.0.9:10911", "not by"),  # after the jump
        (961, "broker-a", "10.0.0.9:10911", "not by"),
    ],
)
def test_a_master_that_is_back_may_have_its_slaves_older_offsets(
    billing: ConsumerGroup, age: int, broker: str, slave: str | None, begins: str
) -> None:
    said = [{"name": broker, "read": True, "read_from": slave}]
    fields = {"complete": True, "queues": 1, "calls": 1, "bytes": 1, "seconds": 0.1, "record_seconds": 0.1}
    Reading.objects.create(cluster=billing.cluster, taken_at=ago(age), brokers=said, members={}, **fields)
    assert told(jump(billing))["cause"].startswith(begins)


def test_a_reset_explains_a_jump_better_than_a_failover(billing: ConsumerGroup) -> None:
    written(billing, ago(70))
    said = [{"name": "broker-a", "read": True, "read_from": "10.0.0.9:10911"}]
    fields = {"complete": True, "queues": 1, "calls": 1, "bytes": 1, "seconds": 0.1, "record_seconds": 0.1}
    Reading.objects.create(cluster=billing.cluster, taken_at=ago(75), brokers=said, members={}, **fields)
    assert told(jump(billing))["cause"].startswith("reset by ann")
