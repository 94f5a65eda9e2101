"""What ordinary runs give one after another, and one run over the whole range: the same rows."""

import random
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from consumers.lake.reader import files
from consumers.lake.schemas import TABLES
from consumers.lake.store import COMPACTED, Lake, hour_folder
from consumers.pipeline.job import is_wide_due, write_knots, write_windows
from consumers.pipeline.kernel.anchors import ANCHORS
from consumers.pipeline.slices import slices
from consumers.pipeline.spark import joined, run_here
from tests.pipeline_rows import at, rows
from tests.pipeline_work import a_work, facts

# Runs begin at any second of a minute.
READ_EVERY, RUN_EVERY, FIRST = 15, timedelta(seconds=30), timedelta(seconds=37)
BEGIN, END = at(2400), at(4200)
KEYS = ("cluster", "group", "topic", "broker", "queue_id", "start")


def a_course(chance: random.Random) -> list[tuple[int | None, int | None]]:
    """Offsets of a queue from BEGIN's lookback on: bursts, pauses, silences of its broker, rewinds, a new life, and a
    consumer that stands."""
    found: list[tuple[int | None, int | None]] = []
    produced, consumed, silent, standing = chance.randrange(5000), 0, 0, 0
    speed = chance.uniform(0.2, 1.3)
    for _ in range(4200 // READ_EVERY):
        burst = chance.choice((0, 0, 10, 40, 300))
        produced += burst
        if not standing:
            consumed = min(produced, consumed + int(speed * chance.choice((0, 10, 40, 200))))
        event = chance.random()
        if event < 0.01:
            silent = chance.randrange(2, 12)
        elif event < 0.015:
            consumed = max(0, consumed - 500)
        elif event < 0.018:
            produced, consumed = 0, 0
        elif event < 0.025:
            standing = chance.randrange(40, 120)
        standing -= standing > 0
        silent -= silent > 0
        found.append((None, None) if silent else (consumed, produced))
    return found


def write_readings(lake: Lake, seed: int) -> None:
    chance = random.Random(seed)
    readings: list[dict[str, Any]] = []
    for group in ("billing", "shipping"):
        for queue_id in range(3):
            courses = rows(a_course(chance), every=READ_EVERY, group=group, topic=f"{group}-orders", queue_id=queue_id)
            readings += [
                row | ({"unknown_reason": "broker-a did not answer"} if row["broker_offset"] is None else {})
                for row in courses
            ]
    # Whole hours: hundreds of small files take most of the time.
    for hour in range(2):
        found = [row for row in readings if row["taken_at"].hour == at(3600 * hour).hour]
        name = f"{hour_folder('readings', 'prod', at(3600 * hour))}/{COMPACTED}"
        lake.write(pa.Table.from_pylist(found, TABLES["readings"]), name, TABLES["readings"])


def run(lake: Lake, since: datetime, until: datetime, anchors: pa.Table | None = None) -> dict[str, pa.Table]:
    """As a run of the pipeline does, without a database. `anchors`: what the run before left; None: each slice begins
    without."""
    found: dict[str, pa.Table] = {}
    for start, end in slices(since, until):
        wide = is_wide_due(lake, ["prod"], start, end)
        known = facts() if anchors is None else replace(facts(), anchors=anchors)
        work = a_work(lake, start, end, asked_since=since, is_last=end == until, is_wide=wide, facts=known)
        found = joined(run_here(work))
        anchors = None if anchors is None else found["anchors"]
        write_knots(lake, found["knots"])
        write_windows(lake, found["windows_60"])
        if wide:
            write_windows(lake, found["windows_600"])
    return found


def kept(lake: Lake, table: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """By queue and start. A window's place in its file tells nothing."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for name in files(lake, table, "prod", BEGIN, END):
        for row in pq.read_table(name, filesystem=lake.filesystem).to_pylist():
            key = tuple(row[column] for column in KEYS)
            assert key not in found, key
            found[key] = row
    return found


def by_queue(states: pa.Table) -> list[dict[str, Any]]:
    return sorted(states.to_pylist(), key=lambda row: (row["group"], row["queue_id"]))


@pytest.fixture(params=range(2))
def lakes(request: pytest.FixtureRequest, tmp_path: Any) -> tuple[Lake, Lake]:
    """Two of the same readings."""
    found = Lake.at(str(tmp_path / "live")), Lake.at(str(tmp_path / "once"))
    for lake in found:
        write_readings(lake, request.param)
    return found


def test_a_backfill_gives_what_the_ordinary_runs_gave(lakes: tuple[Lake, Lake]) -> None:
    live, once = lakes
    states = run(live, BEGIN, BEGIN + FIRST, ANCHORS.empty_table())
    anchored = 0
    since = BEGIN + FIRST
    while since < END:
        until = min(since + RUN_EVERY, END)
        anchored += states["anchors"].num_rows
        states = run(live, since, until, states["anchors"])
        since = until
    assert anchored > 20
    states_once = run(once, BEGIN, END)

    for table in ("windows_60", "windows_600"):
        ours, theirs = kept(live, table), kept(once, table)
        assert len(ours) >= 18
        assert ours.keys() == theirs.keys()
        assert [(key, ours[key], theirs[key]) for key in ours if ours[key] != theirs[key]] == []
    assert by_queue(states["queue_states"]) == by_queue(states_once["queue_states"])
    assert states["group_states"].to_pylist() == states_once["group_states"].to_pylist()


def test_the_same_range_twice_gives_the_same_rows(lakes: tuple[Lake, Lake]) -> None:
    lake, _ = lakes
    run(lake, BEGIN, END)
    once = {table: kept(lake, table) for table in ("windows_60", "windows_600")}
    run(lake, BEGIN, END)
    assert {table: kept(lake, table) for table in once} == once
