"""What a rule makes of values, and the machine of incidents (consumers.alerts.evaluation.machine) over them: all
subjects at once, each in the order of time.

Values that are not known are left out: they neither fire nor resolve, and leave everything as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from consumers.alerts.rules.terms import Terms
from consumers.models import Comparison, State

from .values import Values

SECOND = 1_000_000
# A state as a value.
CODES = {state: float(number) for number, state in enumerate(State)}
INCIDENT = np.dtype(
    [("place", "i8"), ("started_us", "f8"), ("fired_us", "f8"), ("resolved_us", "f8"), ("worst_value", "f8")]
)


@dataclass(frozen=True)
class Looks:
    """What is known, one look after another: in the order of subjects, and of time. What does not hold and is not
    cleared lies between two thresholds. `since_us` is NaN where it is not told."""

    place: np.ndarray
    at_us: np.ndarray
    value: np.ndarray
    holds: np.ndarray
    cleared: np.ndarray
    since_us: np.ndarray
    for_us: np.ndarray
    clear_us: np.ndarray


def looks(values: Values, at_us: np.ndarray, terms: Sequence[Terms]) -> Looks:
    """Of the subjects of which any value holds. `terms`: those of every subject, by place."""
    own = [terms[place] for place in values.places]
    holds, cleared = _compared(values.value, own)
    if values.is_spared is not None:
        holds, cleared = holds & ~values.is_spared, cleared | (values.is_spared & ~np.isnan(values.value))
    rows = np.flatnonzero(holds.any(axis=1))
    row, column = np.nonzero(~np.isnan(values.value[rows]))
    row = rows[row]
    waits = np.array([(one.for_seconds, one.clear_seconds) for one in own]).reshape(-1, 2)
    for_us, clear_us = np.round(waits[row] * SECOND).T
    since = np.full(len(row), np.nan) if values.since_us is None else values.since_us[row, column]
    value, holds, cleared = values.value[row, column], holds[row, column], cleared[row, column]
    return Looks(values.places[row], at_us[column], value, holds, cleared, since, for_us, clear_us)


def _compared(value: np.ndarray, own: Sequence[Terms]) -> tuple[np.ndarray, np.ndarray]:
    """Which values hold, and which are beyond neither threshold. NaN does neither."""
    if own and own[0].comparison == Comparison.IN:
        holds = np.isin(value, [CODES[state] for state in own[0].states])
        return holds, ~np.isnan(value) & ~holds
    is_beyond = np.greater if own and own[0].comparison == Comparison.ABOVE else np.less
    limits = np.array([(one.threshold, one.clear_threshold) for one in own], float).reshape(-1, 2)
    holds = is_beyond(value, limits[:, :1])
    # Without a second threshold this is no for all: then the first alone counts.
    return holds, ~np.isnan(value) & ~holds & ~is_beyond(value, limits[:, 1:])


def replayed(seen: Looks, comparison: Comparison) -> np.ndarray:
    """INCIDENT: a row each that fired, in the order of subjects and time; NaN resolved: it fires still at the end, NaN
    worst: states are compared. What was pending and passed, or is pending still, leaves no row."""
    rows = len(seen.place)
    if not rows:
        return np.empty(0, INCIDENT)
    begins = np.ones(rows, bool)
    begins[1:] = (seen.place[1:] != seen.place[:-1]) | (seen.holds[1:] != seen.holds[:-1])
    # A run of looks holds all along, or not at all.
    run, first = np.cumsum(begins) - 1, np.flatnonzero(begins)
    started = np.fmin(seen.since_us[first], seen.at_us[first])
    is_over = ~seen.holds & seen.cleared
    # A look that holds breaks the clearing off, one between the thresholds does not: it begins anew in every run.
    clearing = np.full(len(first), np.inf)
    clearing[run[is_over][::-1]] = seen.at_us[is_over][::-1]
    fires = seen.holds & (seen.at_us - started[run] >= seen.for_us)
    resolves = is_over & (seen.at_us - clearing[run] >= seen.clear_us)
    turns = _turns(seen, run, np.flatnonzero(fires | resolves))
    fired = turns[seen.holds[turns]]
    following = np.append(turns, -1)[np.flatnonzero(seen.holds[turns]) + 1]
    is_resolved = (following >= 0) & (seen.place[following] == seen.place[fired])
    found = np.empty(len(fired), INCIDENT)
    found["place"], found["fired_us"] = seen.place[fired], seen.at_us[fired]
    found["started_us"] = started[run[fired]]
    found["resolved_us"] = np.where(is_resolved, seen.at_us[following], np.nan)
    end = np.where(is_resolved, following, np.searchsorted(seen.place, seen.place[fired], "right"))
    found["worst_value"] = _worst(seen, first[run[fired]], end, comparison)
    return found


def _turns(seen: Looks, run: np.ndarray, events: np.ndarray) -> np.ndarray:
    """Of looks that fire or resolve those at which it does: what fires cannot fire again, nor what rests resolve."""
    # Of each run the first alone can.
    events = events[np.unique(run[events], return_index=True)[1]]
    is_fire, place = seen.holds[events], seen.place[events]
    fired_before = np.zeros(len(events), bool)
    fired_before[1:] = is_fire[:-1] & (place[1:] == place[:-1])
    return events[is_fire != fired_before]


def _worst(seen: Looks, begin: np.ndarray, end: np.ndarray, comparison: Comparison) -> np.ndarray:
    """Of the looks [begin, end) that hold."""
    if comparison == Comparison.IN or not len(begin):
        return np.full(len(begin), np.nan)
    sign = -1.0 if comparison == Comparison.BELOW else 1.0
    held = np.append(np.where(seen.holds, sign * seen.value, -np.inf), -np.inf)
    return sign * np.maximum.reduceat(held, np.stack([begin, end], axis=1).ravel())[::2]
