from dataclasses import replace
from typing import Any

import pytest
from django.template import Context, Template
from django.utils.html import strip_tags
from django.utils.translation import override

from consumers.groups.rows import GroupRow, KnownPart
from consumers.vocabulary.reasons import ReasonCode
from consumers.vocabulary.states import UnknownReason
from consumers.words.reasons import coded_reason
from dashboard.pages.site.patterns import examples
from dashboard.wording.numbers import FIELDS
from tests.world import NOW, ago

KNOWN: GroupRow = dict(examples(NOW)["rows"])["known"]


def shown(row: GroupRow, name: str, options: str = "") -> str:
    text = f"{{% load fields %}}{{% field row '{name}' {options} %}}"
    return Template(text).render(Context({"row": row, "now": NOW}))


def without(name: str, reason: str | None = "broker-b is silent", **fields: Any) -> GroupRow:
    reasons = {} if reason is None else {name: reason}
    return replace(KNOWN, **{name: None, "unknown": reasons} | fields)


def test_a_known_number_is_shown_with_its_unit() -> None:
    assert shown(KNOWN, "lag_messages", "unit=True") == '52,118 <span class="u">messages</span>'


def test_the_unit_of_one_is_singular() -> None:
    assert shown(replace(KNOWN, lag_messages=1), "lag_messages", "unit=True") == '1 <span class="u">message</span>'


def test_a_rate_is_in_messages_per_second_and_bare_below_a_head_that_says_so() -> None:
    row = replace(KNOWN, consume_rate=4.0)
    assert shown(row, "consume_rate", "unit=True") == '4 <span class="u">msg/s</span>'
    assert (shown(row, "consume_rate"), str(FIELDS["consume_rate"].unit)) == ("4", "msg/s")


def test_zero_is_shown_as_zero() -> None:
    assert shown(replace(KNOWN, lag_messages=0), "lag_messages") == "0"


@pytest.mark.parametrize("options", ["", "brief=True", "unit=True"])
@pytest.mark.parametrize("name", [name for name in FIELDS if hasattr(KNOWN, name)])
def test_what_is_not_known_is_said_with_its_reason_and_without_a_digit(name: str, options: str) -> None:
    drawn = shown(without(name, unknown_reason=None, lag_messages_at_least=None, taken_at=None), name, options)
    assert "unknown" in drawn or "broker-b is silent" in drawn
    assert "broker-b is silent" in drawn
    assert not any(letter.isdigit() for letter in drawn)
    assert "–" not in drawn
    assert "—" not in drawn


def test_an_unknown_lag_says_when_it_was_last_known() -> None:
    row = without("lag_messages", unknown_reason="broker-b is silent", taken_at=ago(46 * 60))
    assert "last success" in shown(row, "lag_messages")
    assert ">02:14:00<" in shown(row, "lag_messages")


def test_an_unknown_lag_shows_the_sum_that_is_known() -> None:
    assert "≥ 9,120 messages" in shown(without("lag_messages", lag_messages_at_least=9120), "lag_messages")


def test_a_time_to_drain_whose_lag_is_newer_than_its_evaluation_is_unknown() -> None:
    reason = coded_reason(ReasonCode.LAG_IS_YOUNG)
    row = without("drain_seconds", reason, lag_messages=3, consume_rate=2.0, produce_rate=1.0)
    assert "<b>unknown</b>" in shown(row, "drain_seconds", "brief=True")


def test_a_null_without_a_reason_is_still_unknown() -> None:
    assert "no reason recorded" in shown(without("members", None), "members")


def test_a_group_that_never_committed_says_that_and_no_last_good_time() -> None:
    drawn = shown(
        without(
            "lag_messages",
            "never committed",
            unknown_reason_code=UnknownReason.NEVER_COMMITTED,
            lag_messages_at_least=None,
        ),
        "lag_messages",
    )
    assert "never committed" in drawn
    assert "last success" not in drawn


@pytest.mark.parametrize(("kind", "sign"), [("interpolated", "≈ "), ("at_least", "≥ "), ("exact", "")])
def test_a_time_lag_says_what_kind_it_is(kind: str, sign: str) -> None:
    assert f"{sign}3 min 12 s" in shown(replace(KNOWN, time_lag_kind=kind), "time_lag_seconds")


@pytest.mark.parametrize(("at_most", "sign"), [(True, "≤ "), (False, "")])
def test_a_time_at_which_messages_expire_is_the_latest_where_a_queue_is_unknown(at_most: bool, sign: str) -> None:
    row = replace(KNOWN, expires_unconsumed_seconds=7200.0, expires_unconsumed_at_most=at_most)
    drawn = shown(row, "expires_unconsumed_seconds")
    assert f"{sign}2 h" in drawn
    assert ("≤" in drawn) is at_most


def test_a_group_that_does_not_drain_never_does_rather_than_unknown() -> None:
    row = without("drain_seconds", coded_reason(ReasonCode.NEVER_DRAINS))
    said = '<span class="late" title="messages are produced at least as fast as they are consumed">never</span>'
    assert shown(row, "drain_seconds") == said


def test_nothing_to_drain_is_an_answer_too() -> None:
    row = without("drain_seconds", "nothing to drain", lag_messages=0)
    assert shown(row, "drain_seconds") == '<span class="quiet">nothing to drain</span>'


def test_a_drain_time_of_an_age_is_capped() -> None:
    assert shown(replace(KNOWN, drain_seconds=1.1e16), "drain_seconds") == "&gt; 30 d"


def test_a_drain_time_is_unknown_where_a_rate_is() -> None:
    row = without("drain_seconds", "the rates are not known", consume_rate=None)
    assert "unknown" in shown(row, "drain_seconds")


def test_reasons_are_escaped() -> None:
    assert "<script>" not in shown(without("members", "<script>"), "members")


@pytest.mark.parametrize(("name", "value", "text"), [("dlq_day_messages", 44, "≥ 44"), ("retry_share", 0.05, "5 %")])
def test_what_is_known_of_a_number_is_shown_since_when_and_its_reason_on_hover(
    name: str, value: float, text: str
) -> None:
    row = without(name, "no data before 02:40", known_parts={name: KnownPart(value, ago(1200))})
    said = shown(row, name, "brief=True")
    assert said.startswith(f'<span class="known-part" title="no data before 02:40">{text}<span class="said">: ')
    assert "since\u00a0<time" in said
    assert ">02:40:00</time>" in said
    assert "unknown" not in said


def test_a_time_lag_of_an_earlier_moment_than_the_lag_beside_it_says_its_own() -> None:
    assert " · as of 02:59:40 UTC" in shown(KNOWN, "time_lag_seconds")
    assert "02:59:40</time>" not in shown(KNOWN, "time_lag_seconds")
    assert ">02:59:40</time>" in shown(KNOWN, "time_lag_seconds", "unit=True")


def test_a_time_lag_of_the_same_moment_says_none() -> None:
    row = replace(KNOWN, time_lag_at=KNOWN.taken_at)
    assert "as of" not in shown(row, "time_lag_seconds", "unit=True")


@pytest.mark.parametrize(
    ("language", "words"), [("en", "since\u00a002:50:00 (10 min ago)"), ("zh-hans", "自\u00a002:50:00（10 分钟前）")]
)
def test_since_when_stays_on_one_line_and_an_age_is_in_the_brackets_of_the_language(language: str, words: str) -> None:
    written = Template("{% load fields %}{% since at %}{% aged at %}")
    with override(language):
        said = written.render(Context({"at": ago(600), "now": NOW}))
    assert strip_tags(said) == words
