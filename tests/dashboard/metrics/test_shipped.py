"""Rules and dashboard name only metrics, and labels of them, that /metrics has."""

import json
import re

import pytest
from django.test import override_settings

from dashboard.metrics.families import scrape
from tests.dashboard.metrics.shipped import DASHBOARD, dashboard_expressions, rule_expressions
from tests.plugins.made_once import MadeOnce
from tests.world import NOW, a_cluster

USED = re.compile(r"\b((?:consumerscope|rocketmq)_\w+)(?:\{([^}]*)\})?")
BY = re.compile(r"\b(?:by|on) \(([\w, ]+)\)")


@pytest.fixture(scope="module")
def labels(made_once: MadeOnce) -> dict[str, set[str]]:
    """By metric."""

    def scraped() -> dict[str, set[str]]:
        a_cluster()
        with override_settings(METRICS_QUEUE_SERIES=1):
            return {family.name: set(family.labels) for family in scrape(NOW).families}

    return made_once(scraped)


@pytest.mark.parametrize("expression", [*rule_expressions(), *dashboard_expressions()])
def test_an_expression_names_what_there_is(labels: dict[str, set[str]], expression: str) -> None:
    used = USED.findall(expression)
    assert used
    grouped = {name.strip() for names in BY.findall(expression) for name in names.split(",")}
    for name, matchers in used:
        assert name in labels
        assert set(re.findall(r"(\w+)\s*[=!]", matchers)) <= labels[name]
        assert grouped <= labels[name]


@pytest.mark.parametrize("expression", list(dashboard_expressions()))
def test_a_panel_has_no_zero_where_nothing_was_scraped(expression: str) -> None:
    assert "vector(" not in expression
    assert "absent(" not in expression


def test_the_dashboard_takes_nothing_from_elsewhere() -> None:
    text = DASHBOARD.read_text()
    assert "http" not in text
    sources = {panel["datasource"]["uid"] for panel in json.loads(text)["panels"]}
    assert sources == {"${datasource}"}
    ids = [panel["id"] for panel in json.loads(text)["panels"]]
    assert len(ids) == len(set(ids))


def test_the_dashboard_s_variables_ask_for_what_there_is(labels: dict[str, set[str]]) -> None:
    for variable in json.loads(DASHBOARD.read_text())["templating"]["list"]:
        if variable["type"] == "query":
            name, label = re.findall(r"label_values\((\w+)(?:\{.*\})?, (\w+)\)", variable["definition"])[0]
            assert label in labels[name]
