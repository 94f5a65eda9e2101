"""RepeatEvent rows of what a run found: those that differ are written, those not found again go.

A run finds the parts of a span of time. Parts of the same events that lie outside it are taken from the stored rows, so
that the same span twice leaves every row as it is.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from consumers.models import ConsumerGroup, RepeatEvent
from consumers.pipeline.kernel.segments import MICROSECONDS
from consumers.pipeline.repeats.parts import RepeatFound, RepeatPart, joined_parts
from consumers.polling.record.keyed_rows import upsert_rows
from consumers.vocabulary.repeats import RepeatSource
from consumers.vocabulary.times import from_microseconds, microseconds

GROUPS_AT_ONCE = 200
KEY = ("group", "cause", "started_at")


@dataclass(frozen=True)
class FoundSpan:
    """All parts of one group that a source has in (after, until): none beside `parts`."""

    group: int
    after: datetime
    until: datetime
    parts: Sequence[RepeatPart]


def write_repeats(
    source: RepeatSource, spans: Iterable[FoundSpan], merge_seconds: float, longest_seconds: float, judged_at: datetime
) -> int:
    """Returns how many events the spans have. A group that was deleted meanwhile is passed over."""
    wanted = {span.group: span for span in spans}
    there = set(ConsumerGroup.objects.filter(pk__in=wanted).values_list("pk", flat=True)) if wanted else set()
    # Parts of queues that nobody knows, which rebalances have, belong together for so long.
    reach = timedelta(seconds=longest_seconds if source == RepeatSource.REBALANCES else merge_seconds)
    count = 0
    for chosen in _batches(sorted(there)):
        with transaction.atomic():
            stored = _stored(source, [wanted[pk] for pk in chosen], reach)
            for pk in chosen:
                found = _events(wanted[pk], stored.get(pk, []), merge_seconds, longest_seconds)
                count += len(found)
                _write(source, pk, found, stored.get(pk, []), judged_at)
    return count


def _stored(source: RepeatSource, spans: Sequence[FoundSpan], reach: timedelta) -> dict[int, list[RepeatEvent]]:
    """By group the events that have parts within the span, or near enough to belong to those."""
    first, last = min(span.after for span in spans) - reach, max(span.until for span in spans) + reach
    rows = RepeatEvent.objects.filter(
        group__in=[span.group for span in spans], source=source, last_at__gte=first, started_at__lte=last
    )
    by_group: dict[int, list[RepeatEvent]] = {}
    bounds = {span.group: (span.after - reach, span.until + reach) for span in spans}
    for row in rows.order_by("started_at"):
        since, until = bounds[row.group_id]
        if row.last_at >= since and row.started_at <= until:
            by_group.setdefault(row.group_id, []).append(row)
    return by_group


def _events(
    span: FoundSpan, stored: Sequence[RepeatEvent], merge_seconds: float, longest_seconds: float
) -> list[RepeatFound]:
    after_us, until_us = microseconds(span.after), microseconds(span.until)
    events = [
        RepeatPart.of_stored(row.cause, part)
        for row in stored
        for part in row.parts
        if not after_us < part["at_us"] < until_us
    ]
    merge_us, longest_us = round(merge_seconds * MICROSECONDS), round(longest_seconds * MICROSECONDS)
    return list(joined_parts([*events, *span.parts], merge_us, longest_us))


def _write(
    source: RepeatSource, group: int, found: Sequence[RepeatFound], stored: Sequence[RepeatEvent], judged_at: datetime
) -> None:
    rows = [_values(source, group, one) for one in found]
    before = {(row.cause, row.started_at): row for row in stored}
    keys = {(row["cause"], row["started_at"]) for row in rows}
    gone = [row.pk for key, row in before.items() if key not in keys]
    RepeatEvent.objects.filter(pk__in=gone).delete()
    differing = [row for row in rows if _differs(before.get((row["cause"], row["started_at"])), row)]
    upsert_rows(RepeatEvent, KEY, [{**row, "judged_at": judged_at} for row in differing])


def _values(source: RepeatSource, group: int, found: RepeatFound) -> dict[str, Any]:
    return {
        "group": group,
        "cause": str(found.cause),
        "source": str(source),
        "confidence": str(found.confidence),
        "began_after": None if found.began_after_us is None else from_microseconds(found.began_after_us),
        "started_at": from_microseconds(found.started_us),
        "last_at": from_microseconds(found.last_us),
        "queue_count": len({part.place for part in found.parts}),
        "redelivered_low": found.low,
        "redelivered_high": found.high,
        "evidence": found.evidence,
        "parts": [part.stored() for part in found.parts],
        "unknown": found.unknown,
    }


def _differs(row: RepeatEvent | None, values: dict[str, Any]) -> bool:
    return row is None or any(getattr(row, name) != value for name, value in values.items() if name != "group")


def _batches(pks: Sequence[int]) -> Iterable[Collection[int]]:
    for start in range(0, len(pks), GROUPS_AT_ONCE):
        yield pks[start : start + GROUPS_AT_ONCE]
