"""Delay levels: the broker's list of delays, and which queue holds which level."""

import pytest
from hypothesis import given, strategies as st

from consumers.rocketmq.bodies.config_bodies import level_delays, level_of_queue, queue_of_level
from consumers.rocketmq.wire.codes import RemoteProtocolError

DEFAULT = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def test_it_reads_the_eighteen_levels_that_brokers_have_by_default() -> None:
    delays = level_delays(DEFAULT)
    assert (len(delays), delays[0], delays[2], delays[17]) == (18, 1, 10, 7200)


@given(st.lists(st.tuples(st.integers(0, 10**9 - 1), st.sampled_from("smhd")), min_size=1, max_size=40))
def test_it_reads_what_is_written_as_numbers_with_units(delays: list[tuple[int, str]]) -> None:
    text = " ".join(f"{number}{unit}" for number, unit in delays)
    assert level_delays(text) == tuple(number * SECONDS[unit] for number, unit in delays)


@pytest.mark.parametrize(
    "text", ["", " ", "1s  5s", "1s 5s ", "5", "s", "1w", "1S", "-1s", "1.5s", "1s,5s", "1s\n5s", "٣s"]
)
def test_it_refuses_what_is_no_list_of_delays(text: str) -> None:
    with pytest.raises(RemoteProtocolError, match="not delays as 1s 5m 2h 1d"):
        level_delays(text)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        delays = level_delays(text)
    except RemoteProtocolError:
        return
    assert len(delays) == len(text.split(" "))


def test_the_queue_of_level_3_is_2() -> None:
    assert (queue_of_level(3), level_of_queue(2)) == (2, 3)
