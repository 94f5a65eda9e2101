"""Which queues were made anew since a moment: an offset of before names another message there, or none.

Told by the broker offsets that were aggregated since (knots): both sides of one that went back are always kept.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.utils.translation import gettext as _

from consumers.lake.knot_days import day_start
from consumers.lake.paths import hour_folder
from consumers.lake.reader import dataset, files, folder_files, steadily
from consumers.lake.schemas import TIME
from consumers.lake.store import Lake

from .positions import INSTANT, PLACE, Position, in_words
from .wish import QueueKey

# A quiet queue has a knot an hour, written by a run that comes some minutes later at worst.
SILENT = timedelta(minutes=70)


@dataclass(frozen=True)
class Remade:
    """`why` by queue. `known_until` null: no broker offset was aggregated since, nothing is known."""

    why: Mapping[QueueKey, str]
    known_until: datetime | None

    def is_known(self, now: datetime) -> bool:
        return self.known_until is not None and self.known_until >= now - SILENT


def remade_since(
    lake: Lake, cluster: str, positions: Mapping[QueueKey, Position], since: datetime, now: datetime
) -> Remade:
    """Of the queues whose broker offset the positions hold."""
    knots = _knots(lake, cluster, {key.topic for key in positions}, since, now)
    then = [
        {**vars(key), "at": position.taken_at, "broker_offset": position.broker_offset}
        for key, position in positions.items()
        if position.broker_offset is not None
    ]
    seen = pa.concat_tables([pa.Table.from_pylist(then, knots.schema), knots])
    return Remade(_drops(seen), pc.max(knots["at"]).as_py())


def _knots(lake: Lake, cluster: str, topics: Collection[str], since: datetime, now: datetime) -> pa.Table:
    at = pc.field("at")
    wanted = (at >= pa.scalar(since, TIME)) & (at <= pa.scalar(now, TIME)) & pc.field("broker_offset").is_valid()
    wanted &= pc.field("topic").isin(pa.array(sorted(topics), pa.string()))

    def names() -> list[str]:
        # The knots of a settled day stand in its first hour.
        first = folder_files(lake, hour_folder("knots", cluster, day_start(since)))
        return list(dict.fromkeys([*first, *files(lake, "knots", cluster, since, now + INSTANT)]))

    return steadily(
        lake,
        names,
        lambda found: dataset(lake, "knots", found).to_table(columns=[*PLACE, "at", "broker_offset"], filter=wanted),
    )


def _drops(seen: pa.Table) -> dict[QueueKey, str]:
    """Per queue, its first broker offset that is lower than the one before."""
    ordered = seen.sort_by([(name, "ascending") for name in [*PLACE, "at"]])
    if ordered.num_rows < 2:
        return {}
    offset = ordered["broker_offset"].to_numpy()
    same = np.ones(ordered.num_rows - 1, dtype=bool)
    for name in PLACE:
        column = ordered[name].combine_chunks()
        same &= pc.equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    fell = np.flatnonzero(same & (offset[1:] < offset[:-1])) + 1
    found: dict[QueueKey, str] = {}
    for row, before in zip(ordered.take(fell).to_pylist(), offset[fell - 1].tolist(), strict=True):
        key = QueueKey.told(row)
        words = {"before": before, "after": row["broker_offset"], "at": in_words(row["at"])}
        why = _(
            "Its broker offset went from %(before)s back to %(after)s by %(at)s, as where a topic is made anew: what "
            "its offsets named before is gone. Give the offset itself if you know better."
        )
        found.setdefault(key, why % words)
    return found
