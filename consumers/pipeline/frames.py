"""Files of the lake, and tables of known rows, as Spark frames."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from consumers.lake import reader
from consumers.lake.schemas import TABLES
from consumers.lake.store import Lake


@dataclass(frozen=True)
class Frames:
    spark: SparkSession
    lake: Lake
    clusters: Sequence[str]

    def table(self, name: str, since: datetime, until: datetime) -> DataFrame:
        """The rows of [since, until); files outside the hours of the range are not opened."""
        time = F.col(reader.TIME_COLUMN[name])
        return self.files(name, since, until).where((time >= F.lit(since)) & (time < F.lit(until)))

    def has(self, name: str, since: datetime, until: datetime) -> bool:
        """Whether any hour of the range has a file."""
        return any(reader.files(self.lake, name, cluster, since, until) for cluster in self.clusters)

    def files(self, name: str, since: datetime, until: datetime) -> DataFrame:
        """All rows of the files of the hours of the range."""
        names = [file for cluster in self.clusters for file in reader.files(self.lake, name, cluster, since, until)]
        schema = from_arrow_schema(TABLES[name])
        if not names:
            return self.spark.createDataFrame([], schema)
        return self.spark.read.schema(schema).parquet(*reader.urls(self.lake, names))

    def known(self, rows: pa.Table) -> DataFrame:
        return self.spark.createDataFrame(rows)
