"""Numbers to states: the first rule that holds gives a queue its state, detail and, with evidence, its start."""

import json
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from consumers.pipeline.kernel.arrays.columns import Columns
from consumers.pipeline.kernel.arrays.names import QUEUE
from consumers.pipeline.rules.order import ordered_rules
from consumers.pipeline.rules.rule import Rule, values

from .durations import Durations

TIME = pa.timestamp("us", tz="UTC")
KEPT = [
    "lag_messages",
    "consume_rate",
    "produce_rate",
    "time_lag_seconds",
    "time_lag_kind",
    "time_lag_error_seconds",
    "newest_reason",
]


def judge(columns: Columns, durations: Durations) -> pa.Table:
    """The queue columns, kind, state, rule, detail (JSON), since (null: from when first judged), provisional,
    has_full_window, and the numbers that groups are summed from."""
    rules = ordered_rules(durations)
    decided_by = decide(columns, rules)
    full = has_full_window(columns, durations)
    is_short = ~full & columns.is_known("known_age_seconds")
    verdict = {
        "state": pa.array([rule.state for rule in rules]).take(pa.array(decided_by)),
        "rule": pa.array([rule.code for rule in rules]).take(pa.array(decided_by)),
        "provisional": pa.array(np.array([rule.is_provisional for rule in rules])[decided_by] | is_short),
        "has_full_window": pa.array(full),
        **_evidence(columns, rules, decided_by),
    }
    kept = columns.table.select([*QUEUE, "kind", *KEPT])
    for name, column in verdict.items():
        kept = kept.append_column(name, column)
    return kept


def decide(columns: Columns, rules: Sequence[Rule]) -> np.ndarray:
    """The place of the first rule that holds for each queue. The last rule holds always, so one does."""
    decided = np.full(columns.count, -1)
    for place, rule in enumerate(rules):
        decided[(decided < 0) & rule.mask(columns)] = place
    return decided


def has_full_window(columns: Columns, durations: Durations) -> np.ndarray:
    """One missed reading changes nothing: the window may be a few polls short at its ends."""
    reach = durations.span_seconds - 3 * durations.poll_seconds
    return (columns["readings_seen"] >= durations.window_readings) & (columns["seen_seconds"] >= reach)


def _evidence(columns: Columns, rules: Sequence[Rule], decided_by: np.ndarray) -> dict[str, pa.Array]:
    details = np.full(columns.count, None, object)
    since = np.full(columns.count, None, object)
    for place in np.unique(decided_by):
        rows, rule = np.flatnonzero(decided_by == place), rules[place]
        chosen = columns.take(rows)
        details[rows] = _details(rule, chosen)
        if rule.since_us is not None:
            since[rows] = values(rule.since_us, chosen)
    whole = [None if value is None else int(value) for value in since]
    return {"detail": pa.array(details, pa.string()), "since": pa.array(whole, pa.int64()).cast(TIME)}


def _details(rule: Rule, chosen: Columns) -> np.ndarray:
    """As JSON. What was not known is left out."""
    names = list(rule.detail)
    rows = zip(*(values(evidence, chosen) for evidence in rule.detail.values()), strict=True)
    # Most queues of a rule have the same numbers, such as no lag.
    known: dict[tuple[object, ...], str] = {}
    texts = np.empty(chosen.count, object)
    texts[:] = [known.get(row) or known.setdefault(row, _text(names, row)) for row in rows]
    return texts


def _text(names: Sequence[str], row: tuple[object, ...]) -> str:
    found = {name: value for name, value in zip(names, row, strict=True) if value is not None}
    return json.dumps(found, separators=(",", ":"))
