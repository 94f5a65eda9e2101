"""Overrides of a rule, one on each line."""

import pytest

from consumers.alerts.rule_fields import overrides
from consumers.models import Measure
from dashboard.pages.alerts.typed_values import WrongOverride, lines_of_overrides, overrides_of

TIME_LAG = Measure.TIME_LAG
LINES = {
    "audit*: threshold=10 min": {"group_pattern": "audit*", "threshold": 600},
    "audit* on prod: threshold=10 min, clear=5 min, for=2 min, severity=critical": {
        "group_pattern": "audit*",
        "cluster": "prod",
        "threshold": 600,
        "clear_threshold": 300,
        "for_seconds": 120,
        "severity": "critical",
    },
    "on staging: off": {"cluster": "staging", "enabled": False},
    "billing: on": {"group_pattern": "billing", "enabled": True},
    "billing: clear=none": {"group_pattern": "billing", "clear_threshold": None},
}


@pytest.mark.parametrize(("line", "override"), LINES.items(), ids=LINES)
def test_a_line_is_an_override_and_back(line, override):
    assert overrides_of(line, TIME_LAG) == [override]
    assert overrides(overrides_of(line, TIME_LAG)) == [override]
    assert lines_of_overrides([override], TIME_LAG) == line


def test_they_keep_their_order():
    text = "b: off\n\na: off\n"
    assert [one["group_pattern"] for one in overrides_of(text, TIME_LAG)] == ["b", "a"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("audit", "is not an override"),
        (": off", "is not an override"),
        ("audit:", "is not an override"),
        ("audit: later", "sets nothing"),
        ("audit: threshold=", "sets nothing"),
        ("audit: owner=ann", "sets nothing"),
        ("audit: threshold=soon", "Write a length of time"),
    ],
)
def test_what_is_none_is_said(line, says):
    with pytest.raises(ValueError, match=says):
        overrides_of(line, TIME_LAG)


def test_a_wrong_line_is_named():
    with pytest.raises(WrongOverride, match="“nonsense”"):
        overrides_of("a: off\nnonsense", TIME_LAG)
