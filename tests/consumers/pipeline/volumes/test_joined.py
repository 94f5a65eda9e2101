"""A long window is the sum of its parts, and unknown while one of them is."""

from datetime import timedelta

import pytest

from consumers.pipeline.volumes import whole_volumes
from tests.pipeline_rows import at

MINUTE = timedelta(minutes=1)
MISSING = "part_missing"


def part(minute, into=1, why=None):
    volumes = {"into_retry": into, "out_of_retry": 2, "into_dlq": 0, "consumed": 10}
    return {"start": at(60 * minute), **volumes, "volumes_unknown": {"into_retry": why} if why else {}}


def joined(parts, minutes=3, reach_seconds=45.0):
    return whole_volumes(parts, MINUTE, at(0), at(60 * minutes), timedelta(seconds=reach_seconds))


def test_it_is_the_sum_of_its_parts():
    assert joined([part(0, 3), part(1, 4), part(2, 5)]) == {
        "into_retry": 12,
        "out_of_retry": 6,
        "into_dlq": 0,
        "consumed": 30,
        "volumes_unknown": {},
    }


@pytest.mark.parametrize(("why", "told"), [("broker_went_back",) * 2, (None, "not_recorded")])
def test_one_part_that_is_unknown_makes_only_that_number_unknown(why, told):
    found = joined([part(0), part(1, None, why), part(2)])
    assert (found["into_retry"], found["consumed"]) == (None, 30)
    assert found["volumes_unknown"] == {"into_retry": told}


@pytest.mark.parametrize("present", [(1, 2), (0, 2), (0, 1)], ids=["first", "between", "last"])
def test_a_missing_minute_makes_all_unknown(present):
    found = joined([part(minute) for minute in present])
    assert found["volumes_unknown"] == dict.fromkeys(("into_retry", "out_of_retry", "into_dlq", "consumed"), MISSING)
    assert found["consumed"] is None


@pytest.mark.parametrize(("present", "known"), [((1, 3), 20), ((0, 4), None)])
def test_readings_rarer_than_minutes_leave_no_hole(present, known):
    assert joined([part(minute) for minute in present], minutes=5, reach_seconds=180)["consumed"] == known
