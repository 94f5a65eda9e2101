"""One preview as a worker does it: taken once, bounded in time, and ended with a result or a sentence."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from django.conf import settings

from consumers.alerts.measures.registry import SPECS
from consumers.lake.store import Lake
from consumers.models import AlertRule, Comparison, Measure, PreviewStatus, RulePreview
from consumers.pipeline.runs import sentence
from consumers.pipeline.upkeep import retentions
from consumers.queries.limits import limits
from consumers.vocabulary.alerts import PreviewReason
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.times import from_microseconds

from .compared import Fired, evaluated, excluded
from .judged import decided, observations, replayed
from .known_times import known_then
from .request import Chosen, chosen, finest_seconds, is_cancelled
from .result import DRAWN_AT_MOST, ReplayFindings, most_fired, result_of, unknown_spans
from .stored import stored_result
from .values import DAY_US, Grid, Past, PastScan, PastSource, Retention, Values, step_for

# Answers one preview: whom the rule selects, what was known of each, and what the machine makes of it.

# Of few subjects, or made without the database: nothing is gained by looking less often.
MINUTE = 60
TEN_MINUTES = 600


def answer(past: Past, preview: RulePreview, retention: Retention, now: datetime) -> dict[str, Any]:
    """The preview's `result`, see result.py. Raises what `past.go_on` raises."""
    rule = AlertRule(**preview.rule)
    selected = chosen(rule, now)
    grid = grid_for(rule, len(selected.subjects), preview.since, preview.until, now, retention)
    return result_of(rule, selected, grid, _found(past, rule, selected, grid, retention, now), now)


def grid_for(
    rule: AlertRule, subjects: int, since: datetime, until: datetime, now: datetime, retention: Retention
) -> Grid:
    if not _source(rule).is_windowed:
        return Grid.of(since, until, MINUTE)
    finest = finest_seconds(now - since, retention.tables)
    step = step_for(subjects, since, until, finest)
    # Of topics the lake has windows of one minute and of ten.
    return Grid.of(since, until, min(step, TEN_MINUTES) if rule.topic else step)


def _found(
    past: Past, rule: AlertRule, selected: Chosen, grid: Grid, retention: Retention, now: datetime
) -> ReplayFindings:
    comparison, spec = Comparison(rule.comparison), SPECS[Measure(rule.measure)]
    known: dict[int, int] = {}
    known_at = np.zeros(grid.count, np.int64)
    incidents: list[dict[str, Any]] = []
    # Of those that fire: at which moments they are known.
    of_fired: dict[int, np.ndarray] = {}
    for values in values_of(past, rule, selected, grid, retention) if selected.subjects and grid.count else ():
        past.go_on()
        values = decided(values, selected.terms)
        is_known = ~np.isnan(values.value)
        known |= zip(values.places.tolist(), is_known.sum(axis=1).tolist(), strict=True)
        known_at += is_known.sum(axis=0)
        fired = replayed(observations(values, grid.at_us, selected.terms, is_age=spec.is_age), comparison)
        incidents += [_incident(one) for one in fired]
        for row in np.flatnonzero(np.isin(values.places, fired["place"])):
            of_fired[int(values.places[row])] = np.packbits(is_known[row])
    drawn = [place for place, _ in most_fired(selected, incidents)[:DRAWN_AT_MOST]]
    on_days = np.bincount(grid.at_us // DAY_US, weights=known_at)
    return ReplayFindings(
        incidents=incidents,
        known=known,
        known_on={int(day): int(on_days[day]) for day in np.flatnonzero(on_days)},
        known_at=grid.at_us[known_at > 0].tolist(),
        unknown_spans={
            place: unknown_spans(
                grid, map(from_microseconds, _moments(of_fired[place], grid)), selected.first_seen[place]
            )
            for place in drawn
        },
        excluded=excluded(rule, {one["place"]: selected.subjects[one["place"]] for one in incidents}, now),
        evaluated=evaluated(rule, selected, grid, [_fired(one, selected) for one in incidents]),
    )


def values_of(past: Past, rule: AlertRule, selected: Chosen, grid: Grid, retention: Retention) -> Iterator[Values]:
    """Of all that the rule looks at, as it was known then; subjects of which nothing is known may be left out."""
    source = _source(rule)
    scan = PastScan(selected.places_of_groups(), selected.places(), rule.topic, grid, past, retention)
    read = source.read_topic if rule.topic else source.read
    if read is None:
        raise ValueError(f"{rule.measure} has no history by topic.")
    return known_then(read(scan), scan, source.needs)


def _source(rule: AlertRule) -> PastSource:
    source = SPECS[Measure(rule.measure)].past
    if source is None:
        raise ValueError(f"No past of {rule.measure} is stored.")
    return source


def _moments(packed: np.ndarray, grid: Grid) -> list[int]:
    return grid.at_us[np.unpackbits(packed, count=grid.count) > 0].tolist()


def _incident(one: np.void) -> dict[str, Any]:
    """{place, started_us, fired_us, resolved_us, worst_value}, the last two null where there is none."""
    place, *values = one.item()
    started, fired, resolved, worst = (None if np.isnan(number) else number for number in values)
    times = {"started_us": started, "fired_us": fired, "resolved_us": resolved}
    return {"place": place, **times, "worst_value": worst}


def _fired(one: Mapping[str, Any], selected: Chosen) -> Fired:
    resolved_us = one["resolved_us"]
    return Fired(
        selected.subjects[one["place"]].key,
        from_microseconds(one["fired_us"]),
        None if resolved_us is None else from_microseconds(resolved_us),
    )


logger = logging.getLogger(__name__)

# Others wait for the worker, and pages for the answer.
LIMIT_SECONDS = 60.0
# So long after it a worker that has not let go is ended: see the task.
GRACE_SECONDS = 60.0
LOOK_SECONDS = 0.5
TOO_LONG = stored_reason(PreviewReason.TOO_LONG, limit_seconds=LIMIT_SECONDS)


class GivenUp(Exception):
    """It took too long, or nobody wants it any more."""


def site_lake() -> Lake:
    return Lake.at(settings.CONSUMERSCOPE_LAKE)


def work_on(preview_id: UUID, clock: Callable[[], datetime], lake_of: Callable[[], Lake] = site_lake) -> None:
    """Nothing where another has it, or it waits no more. What fails is kept as a sentence, then raised; what was
    cancelled meanwhile stays so."""
    waiting = RulePreview.objects.filter(pk=preview_id, status=PreviewStatus.WAITING)
    if not waiting.update(status=PreviewStatus.RUNNING, started_at=clock()):
        return
    began = time.monotonic()
    try:
        result = _answered(RulePreview.objects.get(pk=preview_id), clock(), Past(lake_of(), _bound(preview_id, began)))
    except Exception as error:
        _failed(preview_id, clock(), time.monotonic() - began, error)
        return
    _end(preview_id, clock(), time.monotonic() - began, PreviewStatus.DONE, result=stored_result(result))


def _answered(preview: RulePreview, now: datetime, past: Past) -> dict[str, Any]:
    holds = limits()
    seconds = holds.judged_seconds, holds.late_seconds, holds.kinds.evidence_seconds, holds.unknown_seconds
    return answer(past, preview, Retention(retentions(), *(timedelta(seconds=one) for one in seconds)), now)


def _bound(preview_id: UUID, began: float) -> Callable[[], None]:
    """Raises GivenUp once the time is over, or the preview cancelled: twice a second the database is asked."""
    looked = began

    def go_on() -> None:
        nonlocal looked
        if (now := time.monotonic()) - began >= LIMIT_SECONDS:
            raise GivenUp(TOO_LONG)
        if now - looked >= LOOK_SECONDS:
            looked = now
            if is_cancelled(preview_id):
                raise GivenUp(stored_reason(PreviewReason.CANCELLED))

    return go_on


def _failed(preview_id: UUID, now: datetime, seconds: float, error: Exception) -> None:
    """Raises an error that is neither a timeout nor a cancellation."""
    is_late = seconds >= LIMIT_SECONDS
    _end(preview_id, now, seconds, PreviewStatus.FAILED, error=TOO_LONG if is_late else sentence(error))
    if is_cancelled(preview_id):
        logger.info("The preview %s was cancelled after %.1f s.", preview_id, seconds)
    elif is_late:
        logger.error("The preview %s took too long, and was given up.", preview_id)
    else:
        raise error


def _end(preview_id: UUID, now: datetime, seconds: float, status: PreviewStatus, **fields: Any) -> None:
    running = RulePreview.objects.filter(pk=preview_id, status=PreviewStatus.RUNNING)
    running.update(status=status, finished_at=now, seconds=seconds, **fields)
