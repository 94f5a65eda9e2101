"""Labels as people type them."""

import pytest
from hypothesis import given, strategies as st

from dashboard.pages.alerts.alert_forms import WrongLabels, labels_of, lines_of_labels

WORD = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=20)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("", {}),
        (" \r\n ,", {}),
        ("team=payments", {"team": "payments"}),
        ("team = payments\r\nenv=prod", {"team": "payments", "env": "prod"}),
        ("team=payments, env=prod", {"team": "payments", "env": "prod"}),
        ("where=a=b", {"where": "a=b"}),
        ("team=payments\nteam=payments", {"team": "payments"}),
    ],
)
def test_they_are_read(text: str, labels: dict[str, str]) -> None:
    assert labels_of(text) == labels


@pytest.mark.parametrize("text", ["payments", "team=", "=payments", "team=a\nteam=b"])
def test_what_is_none_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(WrongLabels, match="label"):
        labels_of(text)


@given(st.dictionaries(WORD, WORD, max_size=5))
def test_what_is_shown_is_read_back(labels: dict[str, str]) -> None:
    assert labels_of(lines_of_labels(labels)) == labels
