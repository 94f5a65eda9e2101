"""The text itself: what Prometheus would refuse is not written."""

import math

import pytest
from hypothesis import given, strategies as st

from dashboard.metrics.exposition import LINES_AT_ONCE, Family, exposition
from tests.exposition_parser import parsed


def written(*families: Family, open_metrics: bool = False, remark: str = "") -> str:
    return "".join(exposition(families, open_metrics=open_metrics, remark=remark))


def test_it_writes_help_type_and_samples() -> None:
    family = Family("lag", "How far\nbehind.", ("group",), [(("billing",), 40), (("audit",), 0.5)])
    assert (
        written(family)
        == '# HELP lag How far\\nbehind.\n# TYPE lag gauge\nlag{group="billing"} 40\nlag{group="audit"} 0.5\n'
    )


def test_a_gauge_without_labels_has_no_braces() -> None:
    assert written(Family("age", "Age.", (), [((), 3)])).endswith("\nage 3\n")


def test_openmetrics_has_an_end() -> None:
    assert written(Family("age", "Age.", (), []), open_metrics=True).endswith("gauge\n# EOF\n")


@pytest.mark.parametrize(("name", "unit"), [("age_seconds", "seconds"), ("group_diff", None), ("group_count", None)])
def test_openmetrics_says_the_unit_that_ends_a_name(name: str, unit: str | None) -> None:
    text = written(Family(name, "Words.", (), [((), 1)]), open_metrics=True)
    assert ([line for line in text.splitlines() if "UNIT" in line]) == ([f"# UNIT {name} {unit}"] if unit else [])
    parsed(text, open_metrics=True)


def test_a_remark_stands_only_where_the_format_lets_it() -> None:
    family = Family("age", "Age.", (), [((), 3)])
    assert written(family, remark="Of one cluster.").startswith("# Of one cluster.\n# HELP")
    assert "Of one" not in written(family, remark="Of one cluster.", open_metrics=True)


def test_a_label_without_a_value_is_left_out() -> None:
    text = written(Family("lag", "Lag.", ("group", "members"), [(("billing", None), 3)]))
    assert text.endswith('\nlag{group="billing"} 3\n')


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True))
def test_any_name_survives_the_way(names: list[str]) -> None:
    text = written(Family("lag", "Lag.", ("group",), [((name,), 1) for name in names]))
    assert {dict(labels)["group"] for _name, labels in parsed(text)} == set(names)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="must be left out"):
        written(Family("lag", "Lag.", (), [((), number)]))


@pytest.mark.parametrize("number", [1e-9, 12345678901234567, 0.1, 3.0])
def test_a_number_keeps_every_digit(number: float) -> None:
    text = written(Family("lag", "Lag.", (), [((), number)]))
    assert type(number)(text.split()[-1]) == number


def test_it_comes_in_pieces() -> None:
    samples = [((str(number),), number) for number in range(3 * LINES_AT_ONCE)]
    pieces = list(exposition([Family("lag", "Lag.", ("group",), samples)], open_metrics=True))
    assert len(pieces) == 4
    assert len(parsed("".join(pieces), open_metrics=True)) == len(samples)


@pytest.mark.parametrize(
    "text",
    [
        "lag 1",
        "lag 1\n",
        "# TYPE lag counter\nlag 1\n",
        "# TYPE lag gauge\nlag 1\nlag 1\n",
        "# TYPE lag gauge\nage 1\n",
        "# TYPE lag gauge\nlag 1\n# TYPE age gauge\nage 1\n# HELP lag Again.\nlag{a=\"1\"} 1\n",
        '# TYPE lag gauge\nlag{a="\\x"} 1\n',
        '# TYPE lag gauge\nlag{a="1",a="2"} 1\n',
        '# TYPE lag gauge\nlag{a="1",} 1\n',
        "# TYPE lag gauge\nlag NaN\n",
        "# TYPE lag gauge\nlag 1\n# EOF\n",
    ],
)  # fmt: skip
def test_the_reader_of_these_tests_refuses_what_the_format_forbids(text: str) -> None:
    with pytest.raises(AssertionError):
        parsed(text)
