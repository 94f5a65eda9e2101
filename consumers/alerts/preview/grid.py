"""The moments at which a preview looks: the ends of windows of one width. What lies between two of them is not seen."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from consumers.pipeline.slices import floor, microseconds

STEPS = (60, 600, 3600)
# Past so many values the next wider windows are taken: each is read out of the database and sent to Spark.
VALUES_AT_MOST = 1_500_000


@dataclass(frozen=True)
class Grid:
    """`since` and `until` are whole steps."""

    since: datetime
    until: datetime
    step_seconds: int

    @classmethod
    def of(cls, since: datetime, until: datetime, step_seconds: int) -> "Grid":
        """The whole steps of [since, until)."""
        step = timedelta(seconds=step_seconds)
        return cls(floor(since + step - timedelta(microseconds=1), step), floor(until, step), step_seconds)

    @property
    def count(self) -> int:
        return max(0, (self.until - self.since) // timedelta(seconds=self.step_seconds))

    @property
    def step_us(self) -> int:
        return self.step_seconds * 1_000_000

    @property
    def first_us(self) -> int:
        return microseconds(self.since) + self.step_us

    @property
    def last_us(self) -> int:
        return microseconds(self.until)

    def moments_in(self, begin_us: int, end_us: int) -> range:
        """Those in [begin_us, end_us)."""
        first = self.first_us + max(0, -((self.first_us - begin_us) // self.step_us)) * self.step_us
        return range(first, min(end_us, self.last_us + 1), self.step_us)

    def moments_from(self, at: datetime) -> int:
        """How many of its moments are later than `at`."""
        return self.moments_between(at + timedelta(microseconds=1), self.until + timedelta(microseconds=1))

    def moments_between(self, begin: datetime, end: datetime) -> int:
        """How many of its moments lie in [begin, end)."""
        return max(0, self._moments_before(end) - self._moments_before(begin))

    def _moments_before(self, at: datetime) -> int:
        steps = -((self.since - at) // timedelta(seconds=self.step_seconds))
        return min(max(0, steps - 1), self.count)


def step_for(subjects: int, since: datetime, until: datetime, finest_seconds: int) -> int:
    """The narrowest windows, `finest_seconds` or wider, of which not too many are needed."""
    seconds = (until - since).total_seconds()
    fitting = [step for step in STEPS if step >= finest_seconds and subjects * seconds / step <= VALUES_AT_MOST]
    return fitting[0] if fitting else STEPS[-1]


def sampled(spans: DataFrame, grid: Grid) -> DataFrame:
    """`spans`, which have from_us and to_us, with a row for each moment in [from_us, to_us), as at_us."""
    first, step = F.lit(grid.first_us), F.lit(grid.step_us)
    begin = F.greatest(F.ceil((F.col("from_us") - first) / step).cast("bigint"), F.lit(0).cast("bigint"))
    end = F.least(F.ceil((F.col("to_us") - first) / step).cast("bigint") - 1, F.lit(grid.count - 1).cast("bigint"))
    placed = spans.withColumns({"begin": begin, "end": end}).where(F.col("begin") <= F.col("end"))
    rows = placed.withColumn("place_in_grid", F.explode(F.sequence("begin", "end")))
    return rows.withColumn("at_us", first + F.col("place_in_grid") * step).drop("begin", "end", "place_in_grid")
