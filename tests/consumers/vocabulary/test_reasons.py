"""Reasons that code tells apart: by their code, whatever the language of their words."""

from consumers.vocabulary.reasons import CodedReason, ReasonCode, reason_code


def test_a_coded_reason_is_its_words_and_its_code() -> None:
    reason = CodedReason(ReasonCode.NO_MEMBER, "消费组没有成员")
    assert (reason, reason_code(reason)) == ("消费组没有成员", ReasonCode.NO_MEMBER)


def test_other_reasons_have_no_code() -> None:
    assert (reason_code("no_member"), reason_code(None)) == (None, None)
