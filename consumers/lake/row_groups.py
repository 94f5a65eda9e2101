"""Which row groups of a file can hold rows that are asked for, by what its footer says of them."""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq

# Of the least and the greatest value of a row group: whether a wanted one may lie between.
MayHold = Callable[[str, str], bool]


def row_groups(metadata: pq.FileMetaData, column: str, may_hold: MayHold) -> list[int]:
    """Those whose statistics of a column of texts do not rule it out."""
    names = metadata.schema.names
    if column not in names:
        raise pa.ArrowInvalid(f"The file has no column {column}: it is of another table.")
    place = names.index(column)
    chosen = []
    for number in range(metadata.num_row_groups):
        statistics = metadata.row_group(number).column(place).statistics
        if statistics is None or not statistics.has_min_max or may_hold(statistics.min, statistics.max):
            chosen.append(number)
    return chosen
