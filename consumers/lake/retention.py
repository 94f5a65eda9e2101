"""Deletes the days and hours of history that are older than their table is kept for."""

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as pafs

from .knot_days import thin
from .reader import TIME_COLUMN, dataset, whole_files
from .schemas import TABLES, TIME
from .store import (
    COMPACTED,
    DAY,
    FOLDERS_OF_A_MONTH,
    OF_ONE_TIME,
    SETTLED_BY_DAY,
    Lake,
    file_name,
    folder_end,
    folder_start,
    merged_parts,
    parts_note,
    rows_in_group,
)
from .unreadable import FOLDER as UNREADABLE, is_of_a_file, put_aside_unreadable
from .windows import in_order

# History that lies in times which have yet to come, as a clock that was ahead leaves it: set aside, not deleted.
#
# It lies under `future/` in the lake's folder, by the path that it had, and goes with the hour that it lies in. Left
# where it was, it would stand beside what will be read at those times, and offsets would seem to go back.

FOLDER = "future"
KEPT = "00-kept.parquet"


def set_future_aside(lake: Lake, now: datetime) -> int:
    """Every file with a row of a time after `now`; its other rows stay. Returns the number of files."""
    moved = 0
    for table in TABLES:
        for name in _files_since(lake, table, folder_start(table, now)):
            moved += _set_aside(lake, table, name, now)
    return moved


def _files_since(lake: Lake, table: str, hour: datetime) -> Iterator[str]:
    day, hours = f"date={hour:%Y-%m-%d}", "" if table in SETTLED_BY_DAY else f"hour={hour:%H}"
    for cluster in _entries(lake, lake.path(table), pafs.FileType.Directory):
        for of_day in _entries(lake, cluster.path, pafs.FileType.Directory):
            for folder in _entries(lake, of_day.path, pafs.FileType.Directory) if of_day.base_name >= day else ():
                if of_day.base_name > day or folder.base_name >= hours:
                    files = _entries(lake, folder.path, pafs.FileType.File)
                    yield from (one.path for one in files if one.base_name.endswith(".parquet"))


def _set_aside(lake: Lake, table: str, name: str, now: datetime) -> bool:
    """What stays of a file is written before it goes: killed in between, the next turn does the rest."""
    within = name.removeprefix(f"{lake.root}/")
    folder, base = within.rsplit("/", 1)
    if base.startswith("."):
        return False
    time, source = TIME_COLUMN[table], dataset(lake, table, [name])
    kept = source.to_table(filter=pc.field(time) <= pa.scalar(now, TIME))
    if kept.num_rows == source.count_rows():
        return False
    target = _unused(lake, f"{FOLDER}/{within}")
    lake.make_folder_of(target)
    lake.filesystem.copy_file(name, target)
    parts = _as_parts(table, base, kept)
    for part, rows in parts.items():
        lake.write(rows, f"{folder}/{part}", TABLES[table], rows_in_group(rows.num_rows))
    if base not in parts:
        lake.filesystem.delete_file(name)
    return True


def _unused(lake: Lake, place: str) -> str:
    """A clock may be set back into the same hour twice."""
    target, times = lake.path(place), 1
    while lake.filesystem.get_file_info(target).type != pafs.FileType.NotFound:
        times += 1
        target = f"{lake.path(place).removesuffix('.parquet')}-{times}.parquet"
    return target


def _as_parts(table: str, base: str, kept: pa.Table) -> dict[str, pa.Table]:
    """Returns by name what stays of the file `base` of an hour that goes on: each time has a file, as before
    compaction, so that a window that is written again takes its place. A window that holds `now` is written again."""
    if table in SETTLED_BY_DAY:
        # Knots are a set: they stay beside those that are written again. A file of theirs is named after a minute, and
        # has knots of earlier ones; one of a whole hour or day gets a name that comes before all that are to come.
        return {KEPT if base == COMPACTED else base: kept} if kept.num_rows else {}
    at = kept[TIME_COLUMN[table]]
    return {file_name(one.as_py()): kept.filter(pc.equal(at, one)) for one in pc.unique(at)}


def _entries(lake: Lake, path: str, kind: pafs.FileType) -> list[pafs.FileInfo]:
    found = lake.filesystem.get_file_info(pafs.FileSelector(path, allow_not_found=True))
    return sorted((entry for entry in found if entry.type == kind), key=lambda entry: str(entry.path))


def expire(lake: Lake, now: datetime, keep: Mapping[str, timedelta]) -> int:
    """Deletes hours that ended longer ago than `keep` says of their table. Returns the number of deleted folders."""
    deleted = 0
    # What was set aside goes when the hour that it is missing in does.
    places = [
        (table, place, now - kept)
        for table, kept in keep.items()
        for place in (table, f"{UNREADABLE}/{table}", f"{FOLDER}/{table}")
    ]
    for table, place, before in places:
        for cluster in _folders(lake, lake.path(place)):
            for day_folder in _folders(lake, cluster.path):
                day = _day(day_folder.base_name)
                if max(day + DAY, folder_end(table, day)) <= before:
                    lake.filesystem.delete_dir(day_folder.path)
                    deleted += 1
                elif day <= before and table not in SETTLED_BY_DAY:
                    deleted += _expire_hours(lake, table, day_folder, day, before)
    return deleted


def _expire_hours(lake: Lake, table: str, day_folder: pafs.FileInfo, day: datetime, before: datetime) -> int:
    deleted = 0
    for folder in _folders(lake, day_folder.path):
        hour = day + timedelta(hours=int(folder.base_name.removeprefix("hour=")))
        if folder_end(table, hour) <= before:
            lake.filesystem.delete_dir(folder.path)
            deleted += 1
    return deleted


def _folders(lake: Lake, path: str) -> Iterator[pafs.FileInfo]:
    for entry in lake.filesystem.get_file_info(pafs.FileSelector(path, allow_not_found=True)):
        if entry.type == pafs.FileType.Directory and "=" in entry.base_name:
            yield entry


def _day(name: str) -> datetime:
    return datetime.strptime(name.removeprefix("date="), "%Y-%m-%d").replace(tzinfo=UTC)


@dataclass
class TableSize:
    """`days`: of UTC. A file of a whole month counts evenly for each of its days."""

    bytes: int = 0
    days: dict[date, int] = field(default_factory=dict)

    def add(self, days: Sequence[date], size: int) -> None:
        self.bytes += size
        for day in days:
            self.days[day] = self.days.get(day, 0) + size // len(days)

    def whole_days(self, now: datetime) -> dict[date, int]:
        """Those between the first, in which the history begins or ends, and today; the oldest first."""
        first, today = min(self.days), now.astimezone(UTC).date()
        return {day: self.days[day] for day in sorted(self.days) if first < day < today}


def table_sizes(lake: Lake) -> dict[tuple[str, str], TableSize]:
    """By cluster and table; without those that have no file."""
    sizes: dict[tuple[str, str], TableSize] = {}
    for table in TABLES:
        selector = pafs.FileSelector(lake.path(table), recursive=True, allow_not_found=True)
        for entry in lake.filesystem.get_file_info(selector):
            parts = entry.path.removeprefix(f"{lake.path(table)}/").split("/")
            if entry.type != pafs.FileType.File or len(parts) != 4:
                continue
            cluster, folder, _hour, name = parts
            size = sizes.setdefault((unquote(cluster.removeprefix("cluster=")), table), TableSize())
            size.add(_days(table, datetime.strptime(f"{folder} +0000", "date=%Y-%m-%d %z"), name), entry.size)
    return sizes


def _days(table: str, day: datetime, name: str) -> list[date]:
    if table not in FOLDERS_OF_A_MONTH:
        return [day.date()]
    if OF_ONE_TIME.fullmatch(name):
        return [date.fromisoformat(name[:8])]
    return [(day + number * DAY).date() for number in range((folder_end(table, day) - day) // DAY)]


# Makes one sorted file of each closed hour, so that a page over two days opens dozens of files, not thousands.
#
# The order of the steps is the contract: the whole hour appears as `hour.parquet` (from then on the parts are
# invisible), and only then are the parts deleted. Killed anywhere, an hour is neither lost nor shown twice; the next
# compaction finishes what was left. The file names the parts that it is made of, so that one that came late (the
# writer was stopped for a while) is taken in, and never taken for one that is in it.

logger = logging.getLogger(__name__)

ORDER = ("group", "topic", "broker", "queue_id")
# Sorted at once in memory: about 1 GB of readings.
ROWS_AT_ONCE = 5_000_000
KNOT_STEP = timedelta(minutes=1)
# Readings are read by the minute, where closed hours are evaluated anew: row groups hold so many microseconds of them.
BLOCK = 600_000_000


def compact(lake: Lake, now: datetime, margin: timedelta, rows_at_once: int = ROWS_AT_ONCE) -> int:
    """Compacts every hour that ended longer than `margin` ago and is not one file yet, and so the days and months of
    tables whose folders hold those. Returns their number."""
    compacted = 0
    for table in TABLES:
        for folder, start in _hours(lake, table):
            if folder_end(table, start) + margin <= now and _is_unfinished(lake, folder):
                compacted += _compact_what_can_be_read(lake, table, folder, rows_at_once)
    return compacted


def _compact_what_can_be_read(lake: Lake, table: str, folder: str, rows_at_once: int) -> bool:
    """Returns False where the hour was not compacted. An hour that cannot be compacted does not keep others from it."""
    for _ in range(2):
        try:
            compact_hour(lake, table, folder, rows_at_once)
            return True
        except (pa.ArrowException, OSError) as error:
            if not is_of_a_file(lake, error):
                raise
            logger.exception("%s could not be compacted.", folder)
            whole = lake.path(f"{folder}/{COMPACTED}")
            is_there = lake.filesystem.get_file_info(whole).type == pafs.FileType.File
            if not put_aside_unreadable(lake, [*_parts(lake, folder), *([whole] if is_there else [])]):
                break
    return False


def compact_hour(lake: Lake, table: str, folder: str, rows_at_once: int = ROWS_AT_ONCE) -> None:
    whole = lake.path(f"{folder}/{COMPACTED}")
    # What is cut off is put aside before anything that it would replace is deleted.
    names = whole_files(lake, _parts(lake, folder))
    if lake.filesystem.get_file_info(whole).type == pafs.FileType.File:
        whole_files(lake, [whole])
    if lake.filesystem.get_file_info(whole).type == pafs.FileType.NotFound:
        if names:
            write_hour(lake, table, folder, names, set(), rows_at_once)
    elif (merged := merged_parts(lake, whole)) is not None and (late := [n for n in names if _base(n) not in merged]):
        write_hour(lake, table, folder, [whole, *late], merged, rows_at_once)
    delete_parts(lake, folder)


def write_hour(
    lake: Lake,
    table: str,
    folder: str,
    names: Sequence[str],
    merged: Collection[str] = (),
    rows_at_once: int = ROWS_AT_ONCE,
) -> None:
    """Writes the rows of the files as one. `merged`: the parts of a whole that is among the files."""
    parts = {*merged, *(_base(name) for name in names if _base(name) != COMPACTED)}
    source = dataset(lake, table, names)
    size = rows_in_group(source.count_rows())
    with lake.new_file(f"{folder}/{COMPACTED}", TABLES[table]) as writer:
        for chunk in _sorted_chunks(source, table, rows_at_once):
            for block in _blocks(chunk, size) if table == "readings" else [chunk]:
                writer.write_table(block, row_group_size=size)
        writer.add_key_value_metadata(parts_note(parts))


def delete_parts(lake: Lake, folder: str) -> None:
    """Deletes what `hour.parquet` replaced, and what was never finished; does nothing where there is no such file."""
    whole = lake.path(f"{folder}/{COMPACTED}")
    if lake.filesystem.get_file_info(whole).type == pafs.FileType.NotFound:
        return
    merged = merged_parts(lake, whole)
    entries = lake.filesystem.get_file_info(pafs.FileSelector(lake.path(folder)))
    named = [(entry.path, entry.base_name) for entry in entries if entry.base_name != COMPACTED]
    lake.delete_files(path for path, name in named if merged is None or name in merged or name.startswith("."))


def _parts(lake: Lake, folder: str) -> list[str]:
    """Every finished file of the folder but the whole, whether readers see it or not."""
    entries = lake.filesystem.get_file_info(pafs.FileSelector(lake.path(folder), allow_not_found=True))
    names = (entry.path for entry in entries if entry.base_name.endswith(".parquet") and entry.base_name[0] != ".")
    return sorted(name for name in names if _base(name) != COMPACTED)


def _base(name: str) -> str:
    return name.rsplit("/", 1)[1]


def _sorted_chunks(source: ds.Dataset, table: str, rows_at_once: int) -> Iterator[pa.Table]:
    """The rows in order, a range of groups (or topics) at a time where all of them would not fit into memory."""
    names = TABLES[table].names
    by = [name for name in (*ORDER, TIME_COLUMN[table]) if name in names]
    if source.count_rows() <= rows_at_once:
        yield _stored(source.to_table(), table, by)
        return
    first = pc.field(by[0])
    distinct = pc.unique(source.to_table(columns=[by[0]])[by[0]]).drop_null()
    values = np.sort(distinct.to_numpy(zero_copy_only=False).astype(str))
    pieces = min(len(values), -(-source.count_rows() // rows_at_once))
    for piece in np.array_split(values, pieces) if pieces else ():
        low, high = str(piece[0]), str(piece[-1])
        yield _stored(source.to_table(filter=(first >= low) & (first <= high)), table, by)
    # No range holds a null; a sort puts it last.
    yield _stored(source.to_table(filter=first.is_null()), table, by)


def _blocks(rows: pa.Table, size: int) -> Iterator[pa.Table]:
    """The rows of each ten minutes, in their order; all at once where they are fewer than fill row groups of `size`."""
    taken = pc.cast(pc.cast(rows["taken_at"], pa.timestamp("us", tz="UTC")), pa.int64())
    block = np.asarray(taken) // BLOCK
    distinct = np.unique(block)
    if rows.num_rows < size * len(distinct):
        yield rows
        return
    for number in distinct:
        yield rows.filter(pa.array(block == number))


def _stored(rows: pa.Table, table: str, by: list[str]) -> pa.Table:
    return thin(rows, KNOT_STEP) if table == "knots" else in_order(rows, by)


def _hours(lake: Lake, table: str) -> Iterator[tuple[str, datetime]]:
    """Every hour's folder of a table, relative to the lake, with its start."""
    selector = pafs.FileSelector(lake.path(table), recursive=True, allow_not_found=True)
    for entry in lake.filesystem.get_file_info(selector):
        if entry.type == pafs.FileType.Directory and entry.base_name.startswith("hour="):
            date = entry.path.rsplit("/", 2)[1].removeprefix("date=")
            day = datetime.strptime(date, "%Y-%m-%d").replace(tzinfo=UTC)
            hour = day + timedelta(hours=int(entry.base_name.removeprefix("hour=")))
            yield entry.path.removeprefix(f"{lake.root}/"), hour


def _is_unfinished(lake: Lake, folder: str) -> bool:
    entries = lake.filesystem.get_file_info(pafs.FileSelector(lake.path(folder), allow_not_found=True))
    return [entry.base_name for entry in entries] != [COMPACTED] and len(entries) > 0
