"""docs/metrics.md names every metric with its labels and every cause, and nothing else."""

import re
from pathlib import Path

import pytest

from consumers.selectors.unknown_words import UnknownWord
from dashboard.metrics.families import families
from tests.world import NOW

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "metrics.md").read_text()
ROW = re.compile(r"^\| `(consumerscope_\w+)` \| ([\w, –]+) \|", re.MULTILINE)


@pytest.mark.django_db
def test_every_metric_is_documented_with_its_labels() -> None:
    written = {family.name: ", ".join(family.labels) or "–" for family in families(NOW)}
    documented = dict(ROW.findall(PAGE)) | dict(re.findall(r"`(consumerscope_unknown)\{([\w, ]+)\}`", PAGE))
    assert documented == written


def test_every_cause_is_documented() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", PAGE.split("## Causes")[1], re.MULTILINE)
    assert {word for row in rows for word in re.findall(r"`(\w+)`", row)} == {word.value for word in UnknownWord}
