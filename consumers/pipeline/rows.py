"""Rows of the lake for one bucket of groups.

Files are in the order of their groups, and a bucket is a range of names: of each file the row groups are read that can
hold the range, so that all buckets together read each of them about once.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from consumers.lake import reader
from consumers.lake.encoded import encoded, indices
from consumers.lake.one_group import row_groups
from consumers.lake.schemas import TABLES, TEXT, TIME
from consumers.lake.store import Lake, is_within
from consumers.rocketmq.names import DLQ_PREFIX
from consumers.vocabulary.times import microseconds

from .kernel.readings import KEY, Block
from .reading_files import blocks, in_schema, opened, threads, with_dictionaries
from .slices import MINUTE, floor


@dataclass(frozen=True)
class Span:
    """Groups by name: from `first` up to, but without, `end`; to the last of all where that is None."""

    first: str = ""
    end: str | None = None

    def may_hold(self, least: str, greatest: str) -> bool:
        return self.first <= greatest and (self.end is None or least < self.end)

    def spelled(self, prefix: str) -> "Span":
        """The span of names that stand behind a prefix, such as dead-letter topics."""
        return Span(prefix + self.first, None if self.end is None else prefix + self.end)

    def of(self, names: "pa.Array | pa.ChunkedArray") -> np.ndarray:
        """Which of the names are in it."""
        return _of_texts(names, self._has)

    def _has(self, names: pa.Array) -> np.ndarray:
        is_mine = np.asarray(pc.greater_equal(names, self.first))
        return is_mine if self.end is None else is_mine & np.asarray(pc.less(names, self.end))


def _of_texts(texts: "pa.Array | pa.ChunkedArray", test: Callable[[pa.Array], np.ndarray]) -> np.ndarray:
    """Null passes no test. A few texts fill many rows."""
    whole = encoded(texts)
    return np.append(test(whole.dictionary), False)[indices(whole)]


def spans(lake: Lake, names: Sequence[str], count: int) -> tuple[Span, ...]:
    """`count` ranges of groups with about as many rows each, by these files; fewer where there are fewer groups."""
    found: list[tuple[str, int]] = []
    for name in names if count > 1 else ():
        metadata = pq.read_metadata(name, filesystem=lake.filesystem)
        place = metadata.schema.names.index("group")
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            statistics = group.column(place).statistics
            if statistics is not None and statistics.has_min_max:
                found.append((statistics.min, group.num_rows))
    found.sort()
    ends = np.cumsum([rows for _, rows in found])
    places = np.searchsorted(ends, [ends[-1] * part / count for part in range(1, count)] if found else [], side="right")
    bounds = sorted({found[place][0] for place in places} - {found[0][0] if found else ""})
    return tuple(Span(first, end) for first, end in zip(["", *bounds], [*bounds, None], strict=True))


@dataclass(frozen=True)
class Only:
    """Rows whose `column` is one of these texts."""

    column: str
    values: pa.Array

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self.values.to_pylist())

    def may_hold(self, least: str, greatest: str) -> bool:
        place = bisect_left(self._sorted, least)
        return place < len(self._sorted) and self._sorted[place] <= greatest

    def of(self, texts: "pa.Array | pa.ChunkedArray") -> np.ndarray:
        """Which of the texts are among them."""
        return _of_texts(texts, lambda distinct: np.asarray(pc.is_in(distinct, value_set=self.values)))


class Rows:
    """Rows of the lake of the groups of one bucket."""

    def __init__(self, lake: Lake, clusters: Sequence[str], span: Span) -> None:
        self._lake, self._clusters, self._span = lake, clusters, span

    def table(
        self,
        name: str,
        since: datetime,
        until: datetime,
        only: Only | None = None,
        group: str = "group",
        whole_files: bool = False,
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """Of [since, until), or (`whole_files`) all rows before `until` of the files that were written of it, each of a
        minute or of an hour. `group`: the column that names the group; a dead-letter topic does it with a prefix.
        `columns`: only these, `group` among them."""
        tests = [] if only is None else [(only.column, only)]
        wanted = Wanted(
            name,
            TABLES[name].names if columns is None else columns,
            None if whole_files else since,
            until,
            [*tests, *self._of_span(name, group)],
        )
        return pa.concat_tables(
            reader.steadily(
                self._lake,
                lambda cluster=cluster: self._files(name, cluster, since, until),  # type: ignore[misc]
                partial(self._scanned, wanted),
            )
            for cluster in self._clusters
        )

    def has(self, name: str, since: datetime, until: datetime) -> bool:
        """Whether any file has rows of any group of [since, until)."""
        return any(self._files(name, cluster, since, until) for cluster in self._clusters)

    def readings(self, since: datetime, until: datetime) -> list[Block]:
        """Those of [since, until), in the order of their files."""
        wanted = Wanted("readings", TABLES["readings"].names, since, until, self._of_span("readings", "group"))

        def scanned(names: Sequence[str]) -> Block:
            rows = self._scanned(wanted, names)
            return Block(rows.select(KEY), rows)

        def read(names: Sequence[str]) -> list[Block]:
            # A file of one reading has no row of another time.
            paths = [path for path in names if is_within(path, since, until)]
            with opened(self._lake, paths, self._span.may_hold) as files:
                return blocks(self._lake, files, self._span.of, scanned)

        found = [
            reader.steadily(self._lake, lambda cluster=cluster: self._files("readings", cluster, since, until), read)  # type: ignore[misc]
            for cluster in self._clusters
        ]
        return [block for part in found for block in part] or [scanned([])]

    def _files(self, name: str, cluster: str, since: datetime, until: datetime) -> list[str]:
        found = reader.files(self._lake, name, cluster, since, until)
        # A file of knots has a few from before its minute: whoever wants them asks for more minutes, and not for hours.
        return [path for path in found if is_within(path, floor(since, MINUTE), until)]

    def _of_span(self, name: str, group: str) -> "list[tuple[str, Span]]":
        """The test of the column that names the group; none for tables without groups."""
        if self._span == Span() or group not in TABLES[name].names:
            return []
        return [(group, self._span if group == "group" else self._span.spelled(DLQ_PREFIX))]

    def _scanned(self, wanted: "Wanted", names: Sequence[str]) -> pa.Table:
        """Of these files; a dataset of them would take twice as long."""
        with threads(self._lake) as pool:
            return pa.concat_tables([wanted.schema.empty_table(), *pool.map(partial(wanted.read, self._lake), names)])


@dataclass(frozen=True)
class Wanted:
    """Rows of `table` of [since, until), since the beginning where that is None, for which each of `tests` of a column
    holds; of row groups those that may have some. `columns`: those of the answer."""

    table: str
    columns: Sequence[str]
    since: datetime | None
    until: datetime
    tests: "Sequence[tuple[str, Span | Only]]"

    @property
    def schema(self) -> pa.Schema:
        whole = with_dictionaries(TABLES[self.table])
        return pa.schema([whole.field(name) for name in self.columns])

    def read(self, lake: Lake, path: str) -> pa.Table:
        """Of one file. Columns that it lacks are null."""
        time, schema = reader.TIME_COLUMN[self.table], TABLES[self.table]
        texts = [field.name for field in schema if field.type == TEXT]
        with lake.filesystem.open_input_file(path) as source:
            file = pq.ParquetFile(source, pre_buffer=lake.is_object_store, read_dictionary=texts)
            held = [set(row_groups(file.metadata, name, test.may_hold)) for name, test in self.tests]
            chosen = sorted(set(range(file.metadata.num_row_groups)).intersection(*held))
            if time not in file.schema_arrow.names:
                raise pa.ArrowInvalid(f"The file has no column {time}: it is of another table.")
            asked = dict.fromkeys([*self.columns, time, *(name for name, _ in self.tests)])
            needed = [name for name in asked if name in file.schema_arrow.names]
            rows = file.read_row_groups(chosen, columns=needed, use_threads=False)
        at = np.asarray(pc.cast(pc.cast(rows[time], TIME), pa.int64()))
        is_wanted = at < microseconds(self.until)
        if self.since is not None:
            is_wanted &= at >= microseconds(self.since)
        for name, test in self.tests:
            is_wanted &= test.of(rows[name])
        rows = rows if is_wanted.all() else rows.filter(pa.array(is_wanted))
        return in_schema(rows, self.schema)
