"""Reasons that are stored as codes with their values, in words."""

import pytest
from django.utils.translation import override

from consumers.vocabulary.reasons import reason_code, stored_reason, stored_reasons
from consumers.vocabulary.resets import ApplyReason, PlanReason, ReadBackEvidence, ResetAct
from consumers.words.reasons import stored_words


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        (stored_reason(ApplyReason.WENT_BACK, then=1500, offset=7), "it went back from 1,500 to 7"),
        (stored_reason(PlanReason.LANGUAGE_UNSURE, languages=["GO", "RUST"]),
         "members written in GO, RUST may not understand it"),
        (stored_reason(ApplyReason.SERVER_SIDE_CHANGED, broker="a", then=True, now=None),
         "useServerSideResetOffset of a changed from yes to not known since the plan."),
        (stored_reason(PlanReason.UNKNOWN_THEN, unknown_reason="never_committed"), "never committed."),
        (stored_reason(ResetAct.REQUESTED, target_kind="skip_older"), "Requested a plan: skip older."),
        ('{"code": "of_another_version", "n": 3}', "of_another_version"),
        ('["no code"]', "no code"),
    ],
)  # fmt: skip
def test_values_are_worded_by_what_they_are(stored: str, words: str) -> None:
    assert stored_words(stored) == words


def test_several_reasons_are_said_one_after_the_other() -> None:
    stored = stored_reasons([stored_reason(ReadBackEvidence.NOBODY_CONNECTED), "10.0.0.7: refused"])
    assert stored_words(stored) == "Nobody is connected. 10.0.0.7: refused"
    assert reason_code(stored_words(stored)) == "nobody_connected"


def test_words_without_a_code_have_none() -> None:
    assert reason_code(stored_words("10.0.0.7: refused")) is None


def test_a_stored_reason_is_said_in_the_language_of_the_request() -> None:
    stored = stored_reason(ApplyReason.STOPPED, why=stored_reason(ApplyReason.GROUP_GONE))
    with override("zh-hans"):
        assert stored_words(stored) == "已停止：该消费组已不存在。"
