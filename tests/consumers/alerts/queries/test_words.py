"""Rules and selections in words."""

from typing import Any

import pytest

from consumers.alerts.queries.words import MEANINGS, MEASURES, measure_words, number_words, rule_words, selection_words
from consumers.models import AlertRule, Measure


def a_rule(measure: str, comparison: str, threshold: float | None = None, **fields: Any) -> AlertRule:
    said = {"for_seconds": 0, "clear_seconds": 0} | fields
    return AlertRule(measure=measure, comparison=comparison, threshold=threshold, **said)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (
            a_rule("time_lag_seconds", "above", 300, for_seconds=300, clear_seconds=300, clear_threshold=240),
            "time lag > 5 min for 5 min · resolves at ≤ 4 min for 5 min",
        ),
        (a_rule("time_lag_seconds", "above", 300), "time lag > 5 min · resolves at ≤ 5 min"),
        (a_rule("members", "below", 1), "members < 1 · resolves at ≥ 1"),
        (a_rule("lag_messages", "above", 1000), "lag > 1,000 messages · resolves at ≤ 1,000 messages"),
        (
            a_rule("retry_share", "above", 0.125),
            "retry share > 12.5 % · resolves at ≤ 12.5 %",
        ),
        (
            a_rule("state", "in", states=["STOP", "STALL"], clear_seconds=60),
            "state = stopped or stalled · resolves after 1 min",
        ),
        (
            a_rule("findings", "above", 0, findings=["critical", "lost_offsets", "-duplicate_client_ids"]),
            "findings > 0 of critical, “Committed offsets are lost”, but not “Duplicate client ids” · resolves at ≤ 0",
        ),
    ],
)
def test_a_rule_is_one_sentence(rule: AlertRule, words: str) -> None:
    assert rule_words(rule) == words


@pytest.mark.parametrize("measure", list(Measure))
def test_every_measure_has_words_and_a_meaning(measure: Measure) -> None:
    assert measure_words(measure.value) == str(MEASURES[measure])
    assert str(MEANINGS[measure]).endswith(".")


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("time_lag_seconds", "1 min 30 s"),
        ("lag_messages", "90 messages"),
        ("expired_messages", "90 messages"),
        ("retry_share", "9,000 %"),
        ("dlq_inflow_messages", "90"),
        ("members", "90"),
    ],
)
def test_a_number_has_its_unit_where_the_measure_does_not_say_it(measure: str, words: str) -> None:
    assert number_words(measure, 90) == words


@pytest.mark.parametrize(
    ("selected", "words"),
    [
        ({}, "everything"),
        ({"cluster": "prod"}, "everything on prod"),
        ({"group_pattern": "bill*"}, "groups bill*"),
        ({"group_pattern": "bill*", "cluster": "prod", "topic": "Orders"}, "groups bill* on prod topic Orders"),
        ({"labels": {"team": "x", "app": "y"}}, "with app=y, team=x"),
        ({"rule": "Far behind"}, "of the rule Far behind"),
        ({"severities": ["critical", "warning"], "cluster": "prod"}, "critical or warning: everything on prod"),
    ],
)
def test_a_selection_is_said_in_words(selected: dict[str, Any], words: str) -> None:
    assert selection_words(**{"cluster": "", "group_pattern": "", **selected}) == words
