"""What a task of Spark does in the bench of states: its process loads this file, and has no Django."""

import pyarrow as pa

from consumers.lake.schemas import TABLES
from consumers.lake.store import Lake
from consumers.pipeline.bucket import Course, Work, queue_states, read_queues
from consumers.pipeline.rows import Rows


def states_alone(work: Work, number: int) -> dict[str, pa.Table]:
    """As DuckDB is asked for them: neither windows nor groups."""
    lake = Rows(Lake.at(work.location), work.clusters, work.spans[number])
    gathered, _ = read_queues(lake, work)
    lags = Course.of(gathered, lake, work).lags
    return {"queue_states": queue_states(gathered, lags, TABLES["windows_60"].empty_table(), lake, work)}
