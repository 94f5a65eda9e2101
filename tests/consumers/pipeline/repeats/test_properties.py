"""What holds for every repeat, whatever was read."""

from hypothesis import given, strategies as st

from consumers.pipeline.kernel.segments import MICROSECONDS
from consumers.pipeline.repeats.fallen import (
    FallenQueue,
    ListenerReport,
    ResetWrite,
    RetryMinute,
    fallen_part,
    sent_back_part,
)
from consumers.pipeline.repeats.moved import LastOwner, MovedQueue, OwnerFate, moved_part
from consumers.pipeline.repeats.parts import joined_parts

OFFSETS = st.integers(0, 10_000)
OWNERS = st.none() | st.builds(
    LastOwner,
    client_id=st.just("a"),
    fate=st.sampled_from(OwnerFate),
    held_span=st.none() | st.integers(1, 2000),
    held_count=st.none() | st.integers(0, 2000),
    head_seconds=st.none() | st.floats(0, 3600),
    is_orderly=st.none() | st.booleans(),
)


@st.composite
def fallen_queues(draw):
    to_offset = draw(OFFSETS)
    from_offset = draw(st.integers(to_offset + 1, to_offset + 10_000))
    reset = draw(
        st.none() | st.builds(ResetWrite, st.just("r"), st.just(from_offset), st.just(to_offset), st.booleans())
    )
    away = draw(st.none() | st.just(MICROSECONDS // 2))
    return FallenQueue(
        before_us=0,
        at_us=draw(st.integers(1, 600)) * MICROSECONDS,
        from_offset=from_offset,
        to_offset=to_offset,
        topic="Orders",
        broker="broker-a",
        queue_id=0,
        broker_offset=draw(st.integers(to_offset, to_offset + 20_000)),
        min_offset=draw(st.none() | OFFSETS),
        fastest=draw(st.floats(0, 1000)),
        was_lost=draw(st.booleans()),
        held_until=draw(st.none() | OFFSETS),
        reset=reset,
        away_us=away,
        back_us=away,
        slave=draw(st.none() | st.just("slave")),
        members=draw(st.none() | st.integers(0, 9)),
        fell_together=draw(st.integers(1, 9)),
    )


@given(fallen_queues())
def test_a_fall_has_bounds_the_right_way_round_that_fit_its_offsets(fallen):
    part = fallen_part(fallen)

    assert part is not None
    assert 0 <= part.low <= part.high
    assert part.until_offset - part.from_offset == part.high


@given(OWNERS, st.booleans(), st.booleans())
def test_a_queue_of_which_nothing_came_again_is_never_a_repeat(owner, has_moved, is_rollout):
    """Whoever held it, and whatever became of that member."""
    quiet = MovedQueue(
        after_us=0, at_us=1, topic="Orders", broker="broker-a", queue_id=0, low=0, high=0, from_offset=None,
        until_offset=None, has_moved=has_moved, doubly_owned_seconds_low=0.0, doubly_owned_seconds_high=0.0,
        owner=owner, is_rollout=is_rollout,
    )  # fmt: skip

    assert moved_part(quiet, 30.0) is None


@given(st.none() | st.integers(0, 9), st.none() | st.integers(0, 64), st.booleans())
def test_a_minute_into_which_nothing_was_retried_is_never_a_repeat(failures, batch, is_open):
    minute = RetryMinute(0, came=0, consumed=0)

    assert sent_back_part("%RETRY%g", minute, ListenerReport(failures, batch), is_open) is None


@given(st.lists(st.integers(0, 400), min_size=1, max_size=30), st.integers(0, 30))
def test_parts_join_to_the_same_events_in_any_order(seconds, start):
    minutes = [RetryMinute(one * MICROSECONDS, came=one + 1, consumed=0) for one in sorted(set(seconds))]
    parts = [sent_back_part("%RETRY%g", one, ListenerReport(), is_open=False) for one in minutes]
    turned = parts[start % len(parts) :] + parts[: start % len(parts)]

    def joined(parts):
        return [
            (one.started_us, one.low, one.high) for one in joined_parts(parts, 20 * MICROSECONDS, 100 * MICROSECONDS)
        ]

    assert joined(parts) == joined(turned)
    assert sum(high for _, _, high in joined(parts)) == sum(one.came for one in minutes)
