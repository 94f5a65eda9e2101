"""What a run evaluated of a group becomes its row."""

import pyarrow as pa
import pytest

from consumers.models import GroupState
from consumers.pipeline.group_rows import write_group_states
from consumers.pipeline.queue_rows import QueueIds
from tests.pipeline_rows import at
from tests.world import a_cluster, a_group

NUMBERS = {"completeness": 0.5, "time_lag_seconds": 2.0, "consume_rate": 4.0, "produce_rate": 5.0, "retry_rate": 0.25}
JUDGED = {
    "cluster": "prod",
    "group": "billing",
    "queues": 3,
    "detail": None,
    "since": None,
    "drain_seconds": None,
    "state": "OK",
    "rule": "caught up",
    "time_lag_kind": "exact",
    **dict.fromkeys(("worst_topic", "worst_broker", "worst_queue_id")),
    **NUMBERS,
}


@pytest.mark.django_db
def test_columns_of_an_evaluated_group_are_stored_where_its_row_has_them():
    a_group(a_cluster(read_at=None), "billing")
    for moment, more in ((0, {}), (60, {"retry_rate": 0.75})):
        write_group_states(pa.Table.from_pylist([JUDGED | more]), ["prod"], at(moment), {}, QueueIds().of(["prod"]))
    assert GroupState.objects.values(*NUMBERS).get() == NUMBERS | {"retry_rate": 0.75}
