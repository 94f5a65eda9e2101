"""Times that stored codes carry are said by the reader's clock, in UTC where none is known."""

from collections.abc import Callable
from datetime import UTC, timedelta, timezone as offset

import pytest
from django.utils import timezone

from consumers.vocabulary.offset_files import FileCode
from consumers.vocabulary.repeats import RepeatEvidence
from consumers.words.offset_files import finding_words
from consumers.words.repeats import evidence_words

STORED, SAID = "2026-03-14T02:14:24Z", {0: "2026-03-14 02:14:24 UTC", 8: "2026-03-14 10:14:24 UTC+08:00"}
ZONES = {0: UTC, 8: offset(timedelta(hours=8), "UTC+08:00")}


def a_file() -> str:
    return finding_words({"code": FileCode.STALE, "where": None, "params": {"at": STORED}})


def a_file_of_a_stopped_broker() -> str:
    return evidence_words({"code": RepeatEvidence.FILE_MODIFIED, "at": STORED})


def a_line_of_a_log() -> str:
    return evidence_words({"code": RepeatEvidence.LOG_LINE, "at": STORED, "log": "queue_removed", "lines": 1})


@pytest.mark.parametrize("hours", SAID)
@pytest.mark.parametrize("sentence", [a_file, a_file_of_a_stopped_broker, a_line_of_a_log])
def test_a_sentence_has_the_time_of_the_readers_clock(sentence: Callable[[], str], hours: int) -> None:
    with timezone.override(ZONES[hours]):
        assert SAID[hours] in sentence()
