"""Files of the lake, and tables of known rows, as Spark frames.

Tasks read the files with pyarrow, wherever they lie: Spark itself needs no way to the lake, such as Hadoop's for S3.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from consumers.lake import reader
from consumers.lake.schemas import TABLES, TIME
from consumers.lake.store import Lake


@dataclass(frozen=True)
class Frames:
    spark: SparkSession
    lake: Lake
    clusters: Sequence[str]

    def table(self, name: str, since: datetime, until: datetime, chosen: pc.Expression | None = None) -> DataFrame:
        """The rows of [since, until), narrowed by `chosen` before they reach Spark. Files of other hours are not
        opened."""
        names = [file for cluster in self.clusters for file in reader.files(self.lake, name, cluster, since, until)]
        schema = from_arrow_schema(TABLES[name])
        if not names:
            return self.spark.createDataFrame([], schema)
        time, location = pc.field(reader.TIME_COLUMN[name]), self.lake.url
        within = (time >= pa.scalar(since, TIME)) & (time < pa.scalar(until, TIME))
        wanted = within if chosen is None else within & chosen

        def rows(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            lake = Lake.at(location)
            for batch in numbers:
                some = reader.dataset(lake, name, [names[number] for number in batch["id"].to_pylist()])
                yield from (found for found in some.to_batches(filter=wanted) if found.num_rows)

        pieces = min(len(names), self.spark.sparkContext.defaultParallelism)
        return self.spark.range(0, len(names), 1, pieces).mapInArrow(rows, schema)

    def known(self, rows: pa.Table) -> DataFrame:
        return self.spark.createDataFrame(rows)
