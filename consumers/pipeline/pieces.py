"""Large results leave Spark in pieces: a million rows at once are more than the driver of a small session can hold."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .queue_arrays import QUEUE

ROWS_AT_ONCE = 200_000


def in_pieces(frame: DataFrame, rows: int, rows_at_once: int = ROWS_AT_ONCE, key: Sequence[str] = QUEUE) -> pa.Table:
    """All rows of `frame`, which has the columns of `key`; `rows` is about how many there are."""
    return pa.concat_tables(pieces(frame, rows, rows_at_once, key))


def pieces(
    frame: DataFrame, rows: int, rows_at_once: int = ROWS_AT_ONCE, key: Sequence[str] = QUEUE
) -> Iterator[pa.Table]:
    """The same piece by piece; rows with the same key are in the same piece."""
    count = max(1, -(-rows // rows_at_once))
    if count == 1:
        yield frame.toArrow()
        return
    piece = F.pmod(F.xxhash64(*key), F.lit(count))
    for number in range(count):
        yield frame.where(piece == number).toArrow()
