"""Large results leave Spark in pieces: a million rows at once are more than the driver of a small session can hold."""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .queue_arrays import QUEUE

ROWS_AT_ONCE = 200_000


def in_pieces(frame: DataFrame, rows: int, rows_at_once: int = ROWS_AT_ONCE, key: Sequence[str] = QUEUE) -> pa.Table:
    """All rows of `frame`, which has the columns of `key`; `rows` is about how many there are."""
    pieces = max(1, -(-rows // rows_at_once))
    if pieces == 1:
        return frame.toArrow()
    piece = F.pmod(F.xxhash64(*key), F.lit(pieces))
    return pa.concat_tables([frame.where(piece == number).toArrow() for number in range(pieces)])
