"""What keeps an owner from moving its queue, by what it holds and by the thresholds that it reports."""

import pyarrow as pa
import pytest

from consumers.pipeline.known import listed_members
from consumers.pipeline.rules.stopped import blocked_by
from tests.numbers_rows import DEFAULTS, WHOLE, as_columns
from tests.ownership_rows import a_member
from tests.pipeline_rows import at, us
from tests.world import a_cluster, a_group

COLUMNS = DEFAULTS | {"last_us": (WHOLE, us(590))}
HOLDS = {"cached_count": 40, "cached_mib": 12, "cached_min": 100, "cached_max": 139, "orderly": False}
REPORTED = {"pull_threshold": 1000, "pull_threshold_mib": 100, "pull_threshold_span": 2000}
HOLDS_NOTHING = {"cached_count": 0, "cached_mib": 0, "orderly": False}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (HOLDS | REPORTED, "message"),
        (HOLDS | REPORTED | {"pull_threshold": 39}, "flow_control"),
        # At its threshold it pulls still.
        (HOLDS | REPORTED | {"pull_threshold": 40}, "message"),
        (HOLDS | REPORTED | {"pull_threshold_mib": 11}, "flow_control"),
        (HOLDS | REPORTED | {"pull_threshold_span": 38}, "flow_control"),
        # More than RocketMQ's default, and less than its own threshold.
        (HOLDS | REPORTED | {"cached_count": 1500, "pull_threshold": 5000}, "message"),
        (HOLDS, "message_at_least"),
        (HOLDS | {"cached_count": 1500}, "message_at_least"),
        (HOLDS | REPORTED | {"orderly": True, "pull_threshold": 39}, "orderly_message"),
        ({}, "not_sampled"),
        (HOLDS_NOTHING | {"last_pull_at": at(580)}, "suspended"),
        (HOLDS_NOTHING | {"last_pull_at": at(0)}, "not_pulling"),
    ],
)
def test_flow_control_is_told_by_the_owner_s_own_thresholds(row, expected):
    assert blocked_by(as_columns(COLUMNS, [row])) == pa.array([expected])


@pytest.mark.django_db
def test_thresholds_come_from_what_members_report():
    group = a_group(a_cluster())
    own = {"pullThresholdForQueue": "50", "pullThresholdSizeForQueue": "7", "consumeConcurrentlyMaxSpan": "no number"}
    a_member(group, "c1", since=60, settings=own)
    a_member(group, "c2", since=60, settings=None)
    whose = {"cluster": "prod", "group": "billing"}
    first = {"client_id": "c1", "pull_threshold": 50, "pull_threshold_mib": 7, "pull_threshold_span": None}
    second = {"client_id": "c2"} | dict.fromkeys(REPORTED)
    assert listed_members(["prod"]).sort_by("client_id").to_pylist() == [whose | first, whose | second]
