"""Rows of the lake for one bucket of groups.

Files are in the order of their groups, and a bucket is a range of names: of each file the row groups are read that can
hold the range, so that all buckets together read each of them about once.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from consumers.lake import reader
from consumers.lake.one_group import FILES_AT_ONCE, MayHold, row_groups
from consumers.lake.schemas import TABLES, TIME
from consumers.lake.store import Lake, is_within
from consumers.rocketmq.names import DLQ_PREFIX

from .kernel.readings import KEY, Block
from .reading_files import blocks, opened
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
        """Which of the names are in it. A few names fill many rows."""
        whole = names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names
        encoded = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
        is_mine = np.asarray(pc.greater_equal(encoded.dictionary, self.first))
        if self.end is not None:
            is_mine = is_mine & np.asarray(pc.less(encoded.dictionary, self.end))
        return np.append(is_mine, False)[np.asarray(encoded.indices)]


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

    @property
    def expression(self) -> pc.Expression:
        return pc.field(self.column).isin(self.values)

    def may_hold(self) -> MayHold:
        values = sorted(self.values.to_pylist())

        def holds(least: str, greatest: str) -> bool:
            place = int(np.searchsorted(values, least))
            return place < len(values) and values[place] <= greatest

        return holds


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
        time = pc.field(reader.TIME_COLUMN[name])
        within = time < pa.scalar(until, pa.timestamp("us", tz="UTC"))
        if not whole_files:
            within &= time >= pa.scalar(since, pa.timestamp("us", tz="UTC"))
        wanted = within if only is None else within & only.expression
        chosen = self._chosen(name, only, group)
        return pa.concat_tables(
            reader.steadily(
                self._lake,
                lambda cluster=cluster: self._files(name, cluster, since, until),  # type: ignore[misc]
                lambda names: self._scanned(name, names, wanted, chosen, group, columns),
            )
            for cluster in self._clusters
        )

    def has(self, name: str, since: datetime, until: datetime) -> bool:
        """Whether any file has rows of any group of [since, until)."""
        return any(self._files(name, cluster, since, until) for cluster in self._clusters)

    def readings(self, since: datetime, until: datetime) -> list[Block]:
        """Those of [since, until), in the order of their files."""
        within = (pc.field("taken_at") >= pa.scalar(since, TIME)) & (pc.field("taken_at") < pa.scalar(until, TIME))

        def scanned(names: Sequence[str]) -> Block:
            rows = self._scanned("readings", names, within, self._chosen("readings", None, "group"), "group")
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

    def mine(self, rows: pa.Table) -> pa.Table:
        """Rows of the database of the bucket's groups."""
        return rows if self._span == Span() else rows.filter(pa.array(self._span.of(rows["group"])))

    def _chosen(self, name: str, only: Only | None, group: str) -> list[tuple[str, MayHold]]:
        """The columns by which row groups are passed over."""
        chosen = [] if only is None else [(only.column, only.may_hold())]
        if self._span != Span() and group in TABLES[name].names:
            chosen.append((group, self._span_of(group).may_hold))
        return chosen

    def _span_of(self, group: str) -> Span:
        return self._span if group == "group" else self._span.spelled(DLQ_PREFIX)

    def _scanned(
        self,
        name: str,
        names: Sequence[str],
        wanted: pc.Expression,
        chosen: Sequence[tuple[str, MayHold]],
        group: str,
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        schema = with_dictionaries(TABLES[name])
        columns = schema.names if columns is None else list(columns)
        texts = [field.name for field in schema if pa.types.is_dictionary(field.type)]
        files = ds.ParquetFileFormat(dictionary_columns=texts)

        def needed(whole: ds.ParquetFileFragment) -> ds.ParquetFileFragment:
            numbers = set.intersection(*(set(row_groups(whole.metadata, *one)) for one in chosen))
            return whole.subset(row_group_ids=sorted(numbers))

        fragments = [files.make_fragment(path, filesystem=self._lake.filesystem) for path in names]
        if chosen:
            with ThreadPoolExecutor(FILES_AT_ONCE) as pool:
                fragments = list(pool.map(needed, fragments))
        source = ds.FileSystemDataset(fragments, schema, files, self._lake.filesystem)
        if self._span == Span() or group not in schema.names:
            return source.to_table(columns, filter=wanted, fragment_readahead=reader.files_ahead(self._lake))
        found = pa.schema([schema.field(name) for name in columns])
        return pa.Table.from_batches(self._batches(source, columns, wanted, group), found)

    def _batches(
        self, source: ds.Dataset, columns: Sequence[str], wanted: pc.Expression, group: str
    ) -> Iterator[pa.RecordBatch]:
        span, ahead = self._span_of(group), reader.files_ahead(self._lake)
        for batch in source.to_batches(list(columns), filter=wanted, fragment_readahead=ahead):
            if batch.num_rows:
                is_mine = span.of(batch[group])
                yield batch if is_mine.all() else batch.filter(pa.array(is_mine))


def with_dictionaries(schema: pa.Schema) -> pa.Schema:
    """Texts of which few differ are read as numbers: of a million rows that is most of the work."""
    text = pa.dictionary(pa.int32(), pa.string())
    return pa.schema([(field.name, text if field.type == pa.string() else field.type) for field in schema])
