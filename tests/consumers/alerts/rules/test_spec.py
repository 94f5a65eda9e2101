"""What a rule may say."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.django import TestCase

from consumers.alerts.fields import AlertRefused
from consumers.alerts.measures.registry import SPECS
from consumers.alerts.rule_fields import CHECKS, checked_rule
from consumers.alerts.rule_terms import RuleTerms
from consumers.models import AlertRule, Measure, Severity, State
from tests.alert_rows import a_rule
from tests.world import NOW

pytestmark = pytest.mark.django_db
BEHIND: dict[str, Any] = {
    "name": "Behind",
    "measure": "time_lag_seconds",
    "comparison": "above",
    "threshold": 300,
    "severity": "warning",
}
IN_STATES = BEHIND | {"measure": "state", "comparison": "in", "threshold": None, "states": ["STALL", "LOSS", "STALL"]}
BROKER = BEHIND | {"measure": "broker_unread_seconds"}
EXPIRY = BEHIND | {"measure": "expires_in_seconds", "comparison": "below"}
UNCONSUMED = EXPIRY | {"measure": "expires_unconsumed_seconds"}
MONTH = 30 * 86_400


def errors(fields: dict[str, Any], rule: AlertRule | None = None) -> dict[str, str]:
    with pytest.raises(AlertRefused) as refused:
        checked_rule(fields, rule)
    return refused.value.errors


def test_what_is_left_out_is_as_where_nobody_says() -> None:
    kept = checked_rule(BEHIND)
    assert kept.keys() == CHECKS.keys()
    assert (kept["enabled"], kept["for_seconds"], kept["clear_seconds"], kept["overrides"]) == (True, 0, 300, [])


def test_states_are_kept_worst_first_and_once() -> None:
    assert checked_rule(IN_STATES)["states"] == [State.LOSS, State.STALL]


def test_what_is_left_out_of_a_change_stays() -> None:
    rule = a_rule("Behind", group_pattern="bill*", note="Call Ann.")
    kept = checked_rule({"threshold": 60}, rule)
    assert (kept["threshold"], kept["group_pattern"], kept["note"]) == (60.0, "bill*", "Call Ann.")


def test_a_name_is_taken_by_another_rule_only() -> None:
    rule = a_rule("Behind")
    assert checked_rule({"severity": "info"}, rule)["severity"] == Severity.INFO
    assert errors(BEHIND) == {"name": "Another rule has this name."}


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        (BEHIND | {"name": " "}, "name", "Must not be empty"),
        (BEHIND | {"measure": "findings"}, "findings", "Name the findings to select"),
        (BEHIND | {"measure": "findings", "findings": ["bad"]}, "findings", "bad is neither a finding code"),
        (BEHIND | {"measure": "findings", "findings": ["-lock_lost"]}, "findings", "only excludes findings"),
        (BEHIND | {"findings": ["critical"]}, "findings", "selects no findings"),
        (BEHIND | {"name": "a\nb"}, "name", "one line"),
        (BEHIND | {"colour": "red"}, "colour", "Unknown field"),
        (BEHIND | {"enabled": "yes"}, "enabled", "true or false"),
        (BEHIND | {"measure": "luck"}, "measure", "one of state, lag_messages"),
        (BEHIND | {"severity": "awful"}, "severity", "critical, warning, info"),
        (BEHIND | {"comparison": "below"}, "comparison", "comparisons: above"),
        (EXPIRY | {"comparison": "above"}, "comparison", "comparisons: below"),
        (BEHIND | {"comparison": "in"}, "comparison", "comparisons: above"),
        (BEHIND | {"threshold": None}, "threshold", "give it a threshold"),
        (BEHIND | {"threshold": -1}, "threshold", "from 0"),
        (BEHIND | {"threshold": float("nan")}, "threshold", "from 0"),
        (BEHIND | {"threshold": "300"}, "threshold", "a number"),
        (BEHIND | {"threshold": True}, "threshold", "a number"),
        (BEHIND | {"states": ["STOP"]}, "states", "has no states"),
        (BEHIND | {"clear_threshold": 301}, "clear_threshold", "at most 300"),
        (EXPIRY | {"clear_threshold": 299}, "clear_threshold", "at least 300"),
        (EXPIRY | {"threshold": 0}, "threshold", "No value is below 0"),
        (UNCONSUMED | {"threshold": MONTH + 1}, "threshold", "No value is above 2,592,000"),
        (UNCONSUMED | {"clear_threshold": MONTH + 1}, "clear_threshold", "No value is above 2,592,000"),
        (UNCONSUMED | {"overrides": [{"cluster": "a", "threshold": MONTH + 1}]}, "overrides", "Override 1, threshold"),
        (BEHIND | {"for_seconds": -1}, "for_seconds", "0 to 2592000"),
        (IN_STATES | {"states": None}, "states", "list of states"),
        (IN_STATES | {"states": []}, "states", "at least one state"),
        (IN_STATES | {"states": ["UNKNOWN"]}, "states", "unknown_seconds"),
        (IN_STATES | {"states": ["OK"]}, "states", "not a state for rules"),
        (IN_STATES | {"threshold": 1}, "threshold", "has no threshold"),
        (IN_STATES | {"clear_threshold": 1}, "clear_threshold", "has no clear_threshold"),
        (BEHIND | {"measure": "retry_share", "topic": "Orders"}, "topic", "not known by topic"),
        (BEHIND | {"topic": "Ord*"}, "topic", "one topic"),
        (BEHIND | {"group_pattern": "bill[ab]"}, "group_pattern", "no brackets"),
        (BROKER | {"group_pattern": "bill*"}, "group_pattern", "of a broker"),
        (BROKER | {"labels": {"team": "x"}}, "labels", "of a broker"),
        (BROKER | {"measure": "judgement_age_seconds", "cluster": "prod"}, "cluster", "measure of the site"),
        (BEHIND | {"labels": ["team"]}, "labels", "object of at most 20"),
        (BEHIND | {"labels": {"team name": "x"}}, "labels", "letters, digits"),
        (BEHIND | {"labels": {"team": 1}}, "labels", "Label team"),
        (BEHIND | {"runbook_url": "javascript:alert(1)"}, "runbook_url", "http://"),
        (BEHIND | {"runbook_url": "https://["}, "runbook_url", "http://"),
        (BEHIND | {"runbook_url": "https://wiki.example.org/a b"}, "runbook_url", "http://"),
        (BEHIND | {"note": "\x00"}, "note", "Control characters"),
        (BEHIND | {"note": "\ud800"}, "note", "halves of characters"),
        (BEHIND | {"overrides": {}}, "overrides", "a list"),
        (BEHIND | {"overrides": [{"threshold": 1}]}, "overrides", "must name a cluster"),
        (BEHIND | {"overrides": [{"group_pattern": "a"}]}, "overrides", "changes nothing"),
        (BEHIND | {"overrides": [{"group_pattern": "a", "wait": 1}]}, "overrides", "Override 1, wait"),
        (
            BEHIND | {"overrides": [{"group_pattern": "a", "clear_threshold": 301}]},
            "overrides",
            "Override 1, clear_threshold",
        ),
        (IN_STATES | {"overrides": [{"group_pattern": "a", "threshold": 1}]}, "overrides", "no override has"),
        (BROKER | {"overrides": [{"group_pattern": "a", "threshold": 1}]}, "overrides", "a cluster only"),
    ],
)
def test_a_wrong_field_is_refused_with_what_is_allowed(fields: dict[str, Any], field: str, said: str) -> None:
    found = errors(fields)
    assert (list(found), said in found[field]) == ([field], True), found


def test_all_that_is_wrong_is_said_at_once() -> None:
    assert errors({"threshold": "x", "labels": 1}).keys() == {
        "threshold", "labels", "name", "measure", "comparison", "severity"
    }  # fmt: skip


def test_every_measure_can_be_made_a_rule_of() -> None:
    for measure, spec in SPECS.items():
        for comparison in spec.comparisons:
            numbers = (
                {"threshold": 1, "states": None} if comparison != "in" else {"threshold": None, "states": ["STOP"]}
            )
            sought = {"findings": ["critical"]} if spec.seeks_findings else {}
            checked_rule(BEHIND | {"measure": measure, "comparison": comparison} | numbers | sought)
    assert SPECS.keys() == set(Measure)


NULLS = ("key", "threshold", "states", "clear_threshold")
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*CHECKS, "x"]), inner, max_size=4),
    max_leaves=10,
)


class Fuzzed(TestCase):
    @settings(max_examples=60)
    @given(st.dictionaries(st.sampled_from([*CHECKS, "x"]), anything))
    def test_whatever_is_said_is_kept_or_refused_field_by_field(self, fields: dict[str, Any]) -> None:
        refused: dict[str, str] = {}
        kept: dict[str, Any] = {}
        try:
            kept = checked_rule(BEHIND | fields)
        except AlertRefused as error:
            refused = error.errors
        assert bool(kept) is not bool(refused)
        assert all(sentence and name in fields | BEHIND for name, sentence in refused.items())
        if kept:
            rule = AlertRule(**kept, changed_at=NOW)
            rule.full_clean(exclude=[*NULLS, "changed_by_name"])
            rule.save()
            rule.refresh_from_db()
            RuleTerms.of(rule)
            assert checked_rule({}, rule) == kept
