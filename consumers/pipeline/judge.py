"""Numbers to states: the first rule that holds gives a queue its state, detail and, with evidence, its start."""

from collections.abc import Callable
from functools import lru_cache, reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from consumers.pipeline.rules.order import ordered_rules
from consumers.pipeline.rules.rule import Rule

from .durations import Durations
from .queue_arrays import QUEUE

KEPT = [
    "lag_messages",
    "consume_rate",
    "produce_rate",
    "time_lag_seconds",
    "time_lag_kind",
    "time_lag_error_seconds",
    "newest_reason",
]


def judge(numbers: DataFrame, durations: Durations) -> DataFrame:
    """The queue columns, kind, state, rule, detail (JSON), since (null: from when first judged), provisional,
    has_full_window, and the numbers that groups are summed from."""
    decided_by, verdict = _columns(durations)
    return numbers.withColumn("decided_by", decided_by).select(*QUEUE, "kind", *verdict, *KEPT)


@lru_cache(maxsize=4)
def _columns(durations: Durations) -> tuple[Column, list[Column]]:
    # Thousands of calls into the JVM make them, and the rules of every run are the same.
    rules = ordered_rules(durations)
    full = has_full_window(durations)
    is_short = ~full & F.col("known_age_seconds").isNotNull()
    return _first([(rule.holds, F.lit(place)) for place, rule in enumerate(rules)]), [
        _of_rule(rules, lambda rule: F.lit(rule.state)).alias("state"),
        _of_rule(rules, lambda rule: F.lit(rule.name)).alias("rule"),
        _of_rule(rules, _detail).alias("detail"),
        F.timestamp_micros(_of_rule(rules, _since)).alias("since"),
        (_of_rule(rules, lambda rule: F.lit(rule.is_provisional)) | is_short).alias("provisional"),
        full.alias("has_full_window"),
    ]


def has_full_window(durations: Durations) -> Column:
    """One missed reading changes nothing: the window may be a few polls short at its ends."""
    reach = durations.span_seconds - 3 * durations.poll_seconds
    return F.coalesce(
        (F.col("readings_seen") >= durations.window_readings) & (F.col("seen_seconds") >= reach), F.lit(False)
    )


def _of_rule(rules: list[Rule], value: Callable[[Rule], Column]) -> Column:
    return _first([(F.col("decided_by") == place, value(rule)) for place, rule in enumerate(rules)])


def _first(cases: list[tuple[Column, Column]]) -> Column:
    """The value of the first case that holds. The last rule holds always, so one does."""
    return reduce(lambda chosen, case: chosen.when(*case), cases[1:], F.when(*cases[0]))


def _detail(rule: Rule) -> Column:
    # Null fields are left out of the JSON: what was not known is not there.
    return F.to_json(F.struct(*[value.alias(name) for name, value in rule.detail.items()]))


def _since(rule: Rule) -> Column:
    return F.lit(None).cast("bigint") if rule.since_us is None else rule.since_us
