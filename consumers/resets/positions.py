"""Where a group stood at a past moment, as the readings of the lake have it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from django.utils.translation import gettext as _

from consumers.lake.one_group import read_group
from consumers.lake.reader import dataset, files, steadily
from consumers.lake.schemas import TIME
from consumers.lake.store import Lake
from consumers.vocabulary.unknown import UnknownReason
from consumers.words.unknown import reason_words

from .wish import QueueKey

# A broker that was silent then was read shortly before; what it said still earlier says nothing of the moment.
LOOKED_BACK = timedelta(minutes=15)
PLACE = ("topic", "broker", "queue_id")
FACTS = ("taken_at", "kind", "consumer_offset", "broker_offset", "unknown_reason")
INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True)
class Position:
    """The newest reading of a queue that holds a consumer offset; `offset` null: there is none, or a newer one denies
    it, and `reason` says so. `kind` is the topic's, as the group sees it."""

    kind: str
    taken_at: datetime
    offset: int | None
    broker_offset: int | None
    reason: str | None


def looked_back(poll_seconds: float) -> timedelta:
    return max(LOOKED_BACK, timedelta(seconds=3 * poll_seconds))


def positions_at(
    lake: Lake, cluster: str, group: str, at: datetime, back: timedelta = LOOKED_BACK
) -> dict[QueueKey, Position]:
    """Of every queue that a reading from `back` before `at` up to `at` saw. Empty where none saw the group."""
    found = read_group(lake, "readings", cluster, group, at - back, at + INSTANT, [*PLACE, *FACTS])
    newest = _newest(found)
    committed = _newest(found.filter(pc.is_valid(found["consumer_offset"])))
    return {key: _position(row, committed.get(key)) for key, row in newest.items()}


def was_read(lake: Lake, cluster: str, at: datetime, back: timedelta = LOOKED_BACK) -> bool:
    """Whether any reading of the cluster is kept from then."""
    time = pc.field("taken_at")
    within = (time >= pa.scalar(at - back, TIME)) & (time <= pa.scalar(at, TIME))

    def any_row(names: list[str]) -> bool:
        source: ds.Dataset = dataset(lake, "readings", names)
        return bool(source.head(1, columns=["taken_at"], filter=within).num_rows)

    return steadily(lake, lambda: files(lake, "readings", cluster, at - back, at + INSTANT), any_row)


def _newest(rows: pa.Table) -> dict[QueueKey, dict[str, Any]]:
    last = [(name, "last", pc.ScalarAggregateOptions(skip_nulls=False)) for name in FACTS]
    # Only one thread keeps the order that "last" goes by.
    newest = rows.sort_by("taken_at").group_by(list(PLACE), use_threads=False).aggregate(last)
    return {QueueKey.told(row): {name: row[f"{name}_last"] for name in FACTS} for row in newest.to_pylist()}


def _position(newest: Mapping[str, Any], committed: Mapping[str, Any] | None) -> Position:
    kind, taken_at = newest["kind"], newest["taken_at"]
    if committed is None:
        why = newest["unknown_reason"]
        reason = f"{reason_words(why) if why else _('it was not read')}."
        return Position(kind, taken_at, None, None, reason)
    if is_denied(newest):
        reason = _("nothing was committed any more; it had stood at %(offset)s until %(at)s: choose that moment.") % {
            "offset": committed["consumer_offset"],
            "at": in_words(committed["taken_at"]),
        }
        return Position(kind, taken_at, None, None, reason)
    return Position(kind, committed["taken_at"], committed["consumer_offset"], committed["broker_offset"], reason=None)


def is_denied(newest: Mapping[str, Any]) -> bool:
    """The broker was read, and had no offset: what it had before was lost, or taken away."""
    return newest["consumer_offset"] is None and newest["unknown_reason"] != UnknownReason.SLAVE_BEHIND


def in_words(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
