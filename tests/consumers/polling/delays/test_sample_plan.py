"""Which messages of delay levels are looked into: never more calls than allowed, all levels in their turn."""

from hypothesis import given, strategies as st

from consumers.polling.delay_poller import AT_ONCE, plan_sample
from tests.readings import at

KEYS = st.tuples(st.sampled_from(["broker-a", "broker-b"]), st.integers(1, 18))
WAITING = st.dictionaries(KEYS, st.tuples(st.integers(0, 1000), st.integers(1, 5000)), max_size=10)


@given(WAITING, st.integers(0, 60))
def test_every_plan_keeps_to_its_budget_and_to_what_waits(waiting, calls):
    ends = {key: (start, start + size) for key, (start, size) in waiting.items()}
    plans = plan_sample(ends, {}, calls)
    assert sum(plan.calls for plan in plans.values()) <= calls
    assert len(plans) == min(len(ends), calls)
    for plan in plans.values():
        assert plan.offsets[0] == plan.start
        assert sorted(set(plan.offsets)) == plan.offsets
        assert plan.offsets[-1] < plan.end


def test_calls_are_shared_out_before_one_level_gets_more():
    plans = plan_sample({("a", 3): (0, 10_000), ("a", 4): (0, 1), ("a", 5): (0, 10_000)}, {}, 9)
    assert [plans["a", level].calls for level in (3, 4, 5)] == [4, 1, 4]


def test_what_was_not_looked_into_for_long_comes_first():
    waiting = {("a", level): (0, 10) for level in (3, 4, 5)}
    plans = plan_sample(waiting, {("a", 3): at(60), ("a", 4): at(0)}, 2)
    assert set(plans) == {("a", 4), ("a", 5)}


def test_chunks_of_a_large_backlog_are_apart():
    plan = plan_sample({("a", 3): (7, 7 + 40 * AT_ONCE * 2)}, {}, 40)["a", 3]
    gaps = {after - before for before, after in zip(plan.offsets, plan.offsets[1:], strict=False)}
    assert (plan.is_whole, gaps) == (False, {2 * AT_ONCE})
