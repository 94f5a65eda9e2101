"""How long a group usually stands still while behind, learned from its windows of a minute."""

from datetime import timedelta

import pyarrow as pa
import pytest

from consumers.lake.schemas import WINDOWS
from consumers.lake.store import Lake
from consumers.lake.windows import put_window
from consumers.models import GroupState
from consumers.pipeline.upkeep import learn_usual_gaps, usual_gaps
from tests.pipeline_rows import PLACE, T0
from tests.world import a_cluster, a_group, a_judged_group

MOVES, STILL = 4.0, 0.0


def minutes(rates, lag=10, **fields):
    """One window a minute from 02:00 on; a rate of None: not known, "gap": no window at all."""
    values = {**PLACE, "kind": "normal", "step_seconds": 60, "lag_messages": lag, "readings": 4, **fields}
    return [
        {**values, "start": T0 + timedelta(minutes=number), "consume_rate": rate}
        for number, rate in enumerate(rates)
        if rate != "gap"
    ]


def learned(*rows):
    return usual_gaps(pa.Table.from_pylist([row for part in rows for row in part], WINDOWS))


EVERY_FOURTH = [MOVES, STILL, STILL, STILL]


@pytest.mark.parametrize(
    ("sentence", "rows", "expected"),
    [
        ("each minute", minutes([MOVES] * 21), {"billing": 60.0}),
        ("each fourth minute", minutes(EVERY_FOURTH * 21), {"billing": 240.0}),
        ("a long stall among many moves", minutes([MOVES] * 60 + [STILL] * 30 + [MOVES]), {"billing": 60.0}),
        ("too few moves to say what is usual", minutes(EVERY_FOURTH * 20), {}),
        ("never behind", minutes(EVERY_FOURTH * 30, lag=0), {}),
        ("moves each minute, and is never behind", minutes([MOVES] * 30, lag=0), {}),
        (
            "a queue that begins in the minute after another's last",
            minutes([MOVES] * 20) + minutes(["gap"] * 20 + [MOVES], queue_id=1),
            {},
        ),
        ("a lag that is not known", minutes(EVERY_FOURTH * 30, lag=None), {}),
        ("minutes that were not read", minutes([MOVES, "gap", "gap", "gap"] * 30), {}),
        ("rates that are not known", minutes([MOVES, None, None, None] * 30), {}),
        ("no windows", [], {}),
    ],
    ids=lambda value: value.replace(" ", "_") if isinstance(value, str) else "",
)
def test_it_learns_from(sentence, rows, expected):
    assert learned(rows) == expected, sentence


def test_queues_do_not_mix_and_groups_have_their_own():
    found = learned(
        minutes(EVERY_FOURTH * 11), minutes(EVERY_FOURTH * 12, queue_id=1), minutes([MOVES] * 30, group="shipping")
    )
    assert found == {"billing": 240.0, "shipping": 60.0}


@pytest.fixture
def lake(tmp_path):
    lake = Lake.at(str(tmp_path))
    retries = minutes(([MOVES] + [STILL] * 7) * 15, topic="%RETRY%billing", kind="retry")
    for both in zip(minutes(EVERY_FOURTH * 30), retries, strict=True):
        put_window(lake, "windows_60", "prod", both[0]["start"], pa.Table.from_pylist(both, WINDOWS))
    return lake


@pytest.fixture
def state(db):
    group = a_group(a_cluster(read_at=None))
    return a_judged_group(group, "STALL", judged_at=T0, since=T0)


def test_groups_that_are_behind_are_learned_every_ten_minutes(lake, state):
    now = T0 + timedelta(hours=2)
    looks = [learn_usual_gaps(lake, now + timedelta(seconds=seconds)) for seconds in (0, 300, 600)]
    assert looks == [1, 0, 1]
    state.refresh_from_db()
    assert (state.usual_gap_seconds, state.usual_gap_at) == (240.0, now + timedelta(minutes=10))


def test_what_was_learned_is_unlearned_with_its_hours(lake, state):
    learn_usual_gaps(lake, T0 + timedelta(hours=2))
    learn_usual_gaps(lake, T0 + timedelta(hours=9))
    assert GroupState.objects.get().usual_gap_seconds is None


def test_a_group_that_is_level_is_not_looked_at(lake, state):
    GroupState.objects.update(state="OK", time_lag_seconds=0.0)
    assert learn_usual_gaps(lake, T0 + timedelta(hours=2)) == 0
