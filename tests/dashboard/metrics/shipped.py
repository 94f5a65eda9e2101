"""The rules and the dashboard that come with the project."""

import json
from collections.abc import Iterator
from pathlib import Path

import yaml

DOCS = Path(__file__).resolve().parents[3] / "docs"
RULES, DASHBOARD = DOCS / "prometheus" / "consumerscope.rules.yaml", DOCS / "grafana" / "consumerscope.json"


def rule_expressions() -> Iterator[str]:
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        for rule in group["rules"]:
            yield rule["expr"]


def dashboard_expressions() -> Iterator[str]:
    """Of its panels, with every group of every cluster chosen."""
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            yield target["expr"].replace("$cluster", ".*").replace("$group", ".*")
