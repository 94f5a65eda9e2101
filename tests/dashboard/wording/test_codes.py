"""Codes that pages show by themselves have words in both languages."""

import re
from pathlib import Path

import pytest
from django.utils.translation import override

from consumers.models import ResendOutcome, ResendStatus, TopicKind
from consumers.queries.limits import Freshness
from dashboard.wording.codes import ANOMALIES, CODES, code_words

LISTED = Path(__file__).resolve().parents[3] / "docs" / "anomalies.md"


@pytest.mark.parametrize("code", [*Freshness, *TopicKind.values, *ResendStatus.values, *ResendOutcome.values])
def test_every_code_has_words(code: str) -> None:
    assert code in CODES


def test_every_anomaly_that_is_documented_has_words() -> None:
    assert set(re.findall(r"^\| `(\w+)`", LISTED.read_text(), re.MULTILINE)) == set(ANOMALIES)


@pytest.mark.parametrize("code", CODES)
def test_its_words_are_translated(code: str) -> None:
    with override("zh-hans"):
        assert re.search("[\u4e00-\u9fff]", code_words(code))


def test_a_code_of_another_version_is_shown_as_it_is() -> None:
    assert code_words("yet_to_come") == "yet_to_come"
