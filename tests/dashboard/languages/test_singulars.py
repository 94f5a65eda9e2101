"""No sentence counts one thing as several: "1 messages"."""

import re

import pytest
from django.utils.translation import override

from consumers.vocabulary.offset_files import FileCode
from consumers.vocabulary.reasons import PollProblem, ReasonCode, ResendCause, stored_reason
from consumers.vocabulary.repeats import RepeatEvidence
from consumers.words.offset_files import finding_words
from consumers.words.reasons import stored_words
from consumers.words.repeats import evidence_words
from consumers.words.spans import with_counts
from tests.catalogue.extracted import extracted

UNITS = (
    "brokers|calls|clients|days|failures|files|findings|groups|incidents|lines|members|messages|polls|queues|results|rows"
    "|scrapes|tables|threads|times|topics|windows"
)
# A number before its unit; "of 1 queues" counts a part of them, and limits are above one.
COUNT = re.compile(rf"(?<!of )%\((?!n_|most|longest|least)\w+\)s (?:[a-z-]+ )?(?:{UNITS})\b")
# Numbers that are always above one, and words that are no number.
ABOVE_ONE = {
    "%(brokers)s brokers",  # said of several
    "%(clients)s clients",  # of a queue with several holders
    "%(count)s rows",  # more than a limit
    "%(count)s windows",  # more than a limit
    "%(members)s members",  # more than queues
    "%(members)s members × %(windows)s windows",
    "%(n)s groups",  # a limit
    "%(n)s queues",  # more than a limit
    "%(n)s times",  # a message that is stored or sent again
    "%(queues)s queues",  # a limit
    "%(size)s messages",  # of a batch
    "%(tables)s tables",  # of one file, which has one
    "%(times)s times",  # a key that stands again; a constant
    "%(tolerance)s messages",  # a setting
    "%(windows)s windows",
    "%(days)s days",  # a retention, which is written with its fraction
    "%(drawn)s groups",  # the most that are drawn
    *("%(measure)s of members", "%(holder)s owns queues", "%(held)s where queues", "%(path)s matches files"),
}


@pytest.mark.parametrize("count", [1, "1"])
def test_one_has_a_singular(count) -> None:
    assert with_counts({"queues": count, "days": count, "offset": 1}) == {
        "queues": count,
        "days": count,
        "offset": 1,
        "n_queues": "1 queue",
        "n_days": "1 day",
    }


def test_several_have_a_plural_and_separators() -> None:
    assert with_counts({"messages": 12_345})["n_messages"] == "12,345 messages"


def test_a_number_that_is_written_with_a_fraction_has_a_plural() -> None:
    assert with_counts({"days": "0.5"})["n_days"] == "0.5 days"


def test_no_message_of_the_catalogue_counts_one_as_several() -> None:
    found = {match[0] for one in extracted().values() if not one.plural for match in COUNT.finditer(one.singular)}
    assert found <= ABOVE_ONE


ONE = {
    stored_reason(ResendCause.TOO_MANY_SINCE, messages=1, searched=1): "1 message arrived since; only",
    stored_reason(ResendCause.FAILURES_IN_A_ROW, messages=1): "Stopped: 1 message in a row",
    stored_reason(ReasonCode.SELDOM_ASKED, times=1, changing_seconds=90): "were polled only once within",
    stored_reason(ReasonCode.MEMBER_RATES_EXPIRED, days="1"): "is retained for 1 day",
    stored_reason(PollProblem.NOT_ASKED_AFTER_FAILURES, error="x", failures=1, until="y"): "after 1 failure in a row",
}


@pytest.mark.parametrize("stored", ONE)
def test_a_reason_counts_one(stored: str) -> None:
    assert ONE[stored] in stored_words(stored)


def test_evidence_of_a_repeat_counts_one() -> None:
    assert "started 1 message behind" in evidence_words({"code": RepeatEvidence.START_BEHIND_MEMORY, "messages": 1})


def test_a_finding_of_an_offset_file_counts_one() -> None:
    params = {"offset": 1, "before": 2, "messages": 1}
    finding = {"code": FileCode.WENT_BACK_BACKUP, "where": "x", "params": params}
    assert finding_words(finding).endswith("1 message redelivered if the broker starts from it.")


def test_a_count_has_its_unit_in_chinese() -> None:
    with override("zh-hans"):
        assert with_counts({"messages": 1, "times": 1}) == {
            "messages": 1,
            "times": 1,
            "n_messages": "1 条消息",
            "n_times": "1 次",
        }
