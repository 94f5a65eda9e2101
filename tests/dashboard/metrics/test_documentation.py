"""docs/metrics.md names every metric with its labels and every cause, and nothing else."""

import re
from pathlib import Path
from typing import Any

import pytest

from consumers.groups.shown import UnknownWord
from dashboard.metrics.families import scrape
from tests.world import NOW, a_cluster

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "metrics.md").read_text()
ROW = re.compile(r"^\| `((?:consumerscope|rocketmq)_\w+)` \| ([\w, –]+) \|", re.MULTILINE)


@pytest.mark.django_db
def test_every_metric_is_documented_with_its_labels(settings: Any) -> None:
    a_cluster()
    settings.METRICS_QUEUE_GROUPS = ["*"]
    written = {family.name: ", ".join(family.labels) or "–" for family in scrape(NOW).families}
    documented = dict(ROW.findall(PAGE)) | dict(re.findall(r"`(consumerscope_unknown)\{([\w, ]+)\}`", PAGE))
    assert documented == written


def test_every_cause_is_documented() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", PAGE.split("## Causes")[1], re.MULTILINE)
    assert {word for row in rows for word in re.findall(r"`(\w+)`", row)} == {word.value for word in UnknownWord}
