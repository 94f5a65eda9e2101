"""The catalogue of words: whole, and without words for what no code says."""

from collections.abc import Mapping
from enum import StrEnum
from importlib import import_module
from pathlib import Path

import pytest
from django.utils.functional import Promise
from django.utils.translation import override

import consumers.vocabulary
import consumers.words
from consumers.vocabulary.reasons import VolumeReason
from consumers.vocabulary.states import UnknownReason, code_of
from consumers.words.reasons import CATALOGUES as CATALOGUES_OF_REASONS, REASONS, reason_words, volume_words
from consumers.words.states import rule_words


def modules(package) -> list:
    folder = Path(package.__file__).parent
    return [import_module(f"{package.__name__}.{path.stem}") for path in sorted(folder.glob("[!_]*.py"))]


ENUMS = [
    one
    for module in modules(consumers.vocabulary)
    for one in vars(module).values()
    if isinstance(one, type) and issubclass(one, StrEnum) and one.__module__ == module.__name__
]
# Of each enum, the catalogue that begins with a code of it.
CATALOGUES = {
    type(next(iter(one))): one
    for module in modules(consumers.words)
    for one in vars(module).values()
    if isinstance(one, Mapping) and one and isinstance(next(iter(one)), StrEnum)
}


@pytest.mark.parametrize("enum", ENUMS, ids=lambda enum: enum.__name__)
def test_every_code_has_words_and_every_words_a_code(enum):
    assert list(CATALOGUES[enum]) == list(enum)


@pytest.mark.parametrize("enum", ENUMS, ids=lambda enum: enum.__name__)
def test_words_are_made_in_the_language_of_who_reads_them(enum):
    assert all(isinstance(words, Promise) and str(words) for words in CATALOGUES[enum].values())


@pytest.mark.parametrize("enum", ENUMS, ids=lambda enum: enum.__name__)
def test_no_two_codes_of_a_kind_have_the_same_words(enum):
    assert len({str(words) for words in CATALOGUES[enum].values()}) == len(enum)


def test_no_two_reasons_that_are_stored_have_the_same_code():
    assert len(REASONS) == sum(map(len, CATALOGUES_OF_REASONS))


def test_a_code_of_another_version_is_said_as_it_is():
    assert rule_words("some_later_rule") == "some_later_rule"


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ("never_committed", "never committed"),
        ("broker_unreachable:broker-a: 10.0.0.1:10911: refused", "broker-a could not be read: 10.0.0.1:10911: refused"),
        ("broker_never_read:broker-a: timed out", "broker-a was never read: timed out"),
        ("never committed", "never committed"),
        (
            '{"code": "dispatch_behind", "broker": "broker-a", "behind_bytes": 67108864}',
            "broker-a has stored 67 MB that it has not dispatched: its lags are lower bounds",
        ),
        ("of a later version", "of a later version"),
    ],
)
def test_a_reason_is_said_with_what_its_broker_said(stored, said):
    assert reason_words(stored) == said


@pytest.mark.parametrize(
    ("stored", "code"),
    [
        ("never_committed", UnknownReason.NEVER_COMMITTED),
        ("broker_unreachable:broker-a: refused", UnknownReason.BROKER_UNREACHABLE),
        ('{"code": "dispatch_behind", "broker": "broker-a"}', UnknownReason.DISPATCH_BEHIND),
        ("never committed", None),
        (None, None),
    ],
)
def test_the_text_of_an_earlier_version_is_taken_for_no_code(stored, code):
    assert code_of(stored) is code


def test_each_of_two_reasons_of_a_volume_is_said():
    said = "the consumer offset went back; the broker offset is ahead of nothing"
    assert volume_words("consumer_went_back; the broker offset is ahead of nothing") == said


def test_no_code_of_a_volume_is_one_of_a_reading():
    assert not set(VolumeReason) & set(UnknownReason)


# RocketMQ's own words, and what is the words of another code alone.
SAME_IN_CHINESE = {
    *("POP", "Broker", "%(unknown_reason)s。", "%(parts)s", "%(present_members)s", "%(other_findings)s"),
    *("%(volume_reason)s", "%(place)s，Topic %(topic)s", "%(why)s：%(lost_queues)s", "%(why)s：%(slaves)s"),
    *("%(broker)s：%(error)s", "%(said)s", "%(lines)s", "（%(error)s）"),
}


@pytest.mark.parametrize("enum", CATALOGUES, ids=lambda enum: enum.__name__)
def test_every_code_has_words_in_chinese(enum) -> None:
    with override("zh-hans"):
        words = {str(one) for one in CATALOGUES[enum].values()} - SAME_IN_CHINESE
    assert [one for one in words if not any("\u4e00" <= letter <= "\u9fff" for letter in one)] == []
