"""What of a rule counts for a subject, and when a value holds or is over."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from consumers.alerts.measured import SITE, Subject
from consumers.alerts.rule_terms import RuleTerms, Terms
from consumers.models import AlertRule, Comparison, Severity, State, SubjectKind

BILLING = Subject(SubjectKind.GROUP, cluster="prod", group="billing")


def rule(**fields: Any) -> AlertRule:
    said: dict[str, Any] = {"measure": "time_lag_seconds", "comparison": "above", "threshold": 300.0}
    return AlertRule(**(said | {"clear_threshold": 200.0, "for_seconds": 60, "severity": "warning"} | fields))


def terms(**fields: Any) -> Terms:
    found = RuleTerms.of(rule(**fields)).terms(BILLING)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("value", "holds", "cleared"),
    [(301, True, False), (300, False, False), (201, False, False), (200, False, True), (0, False, True)],
)
def test_above_holds_over_the_threshold_and_is_over_at_the_other_one(value: float, holds: bool, cleared: bool) -> None:
    assert (terms().holds(value), terms().cleared(value)) == (holds, cleared)


@pytest.mark.parametrize(
    ("value", "holds", "cleared"), [(99, True, False), (100, False, False), (149, False, False), (150, False, True)]
)
def test_below_is_the_other_way_round(value: float, holds: bool, cleared: bool) -> None:
    found = terms(comparison="below", threshold=100, clear_threshold=150)
    assert (found.holds(value), found.cleared(value)) == (holds, cleared)


def test_states_hold_when_they_are_listed() -> None:
    found = terms(comparison="in", threshold=None, clear_threshold=None, states=["STOP", "STALL"])
    assert [state for state in State if found.holds(state)] == [State.STOP, State.STALL]
    assert all(found.cleared(state) is not found.holds(state) for state in State)


def test_a_state_is_not_compared_with_a_number() -> None:
    with pytest.raises(TypeError, match="compared with a threshold"):
        terms().holds(State.STALL)


numbers = st.floats(min_value=0, max_value=1e15)


@given(numbers, numbers, numbers, st.sampled_from([Comparison.ABOVE, Comparison.BELOW]))
def test_no_value_both_holds_and_is_over(value: float, one: float, other: float, comparison: Comparison) -> None:
    low, high = sorted((one, other))
    threshold, clear = (high, low) if comparison == Comparison.ABOVE else (low, high)
    found = terms(comparison=comparison, threshold=threshold, clear_threshold=clear)
    assert not (found.holds(value) and found.cleared(value))
    assert found.holds(value) or found.cleared(value) or low <= value <= high


@given(st.sampled_from(["above", "below", "in"]))
def test_what_is_not_known_neither_holds_nor_is_over(comparison: str) -> None:
    found = terms(comparison=comparison, states=["STOP"])
    assert (found.holds(None), found.cleared(None)) == (False, False)


def test_the_first_override_that_names_the_subject_counts() -> None:
    found = terms(
        overrides=[
            {"cluster": "test", "threshold": 1.0},
            {"group_pattern": "bill*", "threshold": 900.0, "severity": "critical"},
            {"group_pattern": "billing", "threshold": 5.0, "for_seconds": 0.0},
        ]
    )
    assert (found.threshold, found.severity, found.for_seconds) == (900.0, Severity.CRITICAL, 60)


def test_a_threshold_of_its_own_leaves_the_second_one_of_the_rule_behind() -> None:
    overrides = [{"group_pattern": "bill*", "threshold": 100.0}]
    assert terms(overrides=overrides).clear_threshold is None
    assert terms(overrides=[overrides[0] | {"clear_threshold": 50.0}]).clear_threshold == 50.0
    assert terms(overrides=[{"group_pattern": "bill*", "severity": "info"}]).clear_threshold == 200.0


def test_an_override_can_switch_the_rule_off_for_a_subject() -> None:
    off = RuleTerms.of(rule(overrides=[{"group_pattern": "billing", "enabled": False}]))
    assert off.terms(BILLING) is None
    assert off.terms(SITE) == off.own
