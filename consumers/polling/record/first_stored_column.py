"""The store time of the first unconsumed message, in the rows of every reading in which its answer holds."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from consumers.lake.schemas import TIME
from consumers.polling.samples.queue_places import places
from consumers.polling.samples.reading import FirstStored, QueueKey

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def first_stored_column(rows: pa.Table, broker: str, holding: Mapping[QueueKey, FirstStored]) -> pa.Array:
    """One value for each of the broker's rows; null where nothing holds for its consumer offset."""
    mine = {
        (group, topic, queue_id): answer
        for (group, topic, name, queue_id), answer in holding.items()
        if name == broker and answer.stored_at is not None
    }
    values, missing = np.zeros(rows.num_rows, np.int64), np.ones(rows.num_rows, bool)
    for place, at in places(rows, mine).items():
        answer = mine[place]
        if answer.stored_at is not None and rows["consumer_offset"][at].as_py() == answer.offset:
            values[at], missing[at] = (answer.stored_at - EPOCH) // timedelta(microseconds=1), False
    return pa.array(values, pa.int64(), mask=missing).cast(TIME)
