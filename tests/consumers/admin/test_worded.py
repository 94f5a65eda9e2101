"""The admin pages show codes, reasons and JSON of rows in words, in the language of who reads them."""

import re

import pytest
from django.contrib import admin
from django.utils.translation import override

from consumers.admin.worded import CODES, SENTENCES, column, is_number, of
from consumers.models import (
    AlertRule,
    ConsumerGroup,
    GroupState,
    OffsetFile,
    Rebalance,
    RepeatEvent,
    ResetQueue,
    StateChange,
    StoredFinding,
)
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import ReadBackEvidence
from tests.consumers.admin.staff import a_staff_client
from tests.world import NOW, a_cluster, a_group, a_judged_group

MODELS = [model for model in admin.site._registry if model._meta.app_label == "consumers"]
FIELDS = [field for model in MODELS for field in model._meta.fields]
WITH_CHOICES = [field for field in FIELDS if field.choices]


def shown(row, name: str) -> str:
    return column(row._meta.get_field(name))(row)


@pytest.mark.parametrize("field", WITH_CHOICES, ids=str)
def test_every_choice_has_words(field) -> None:
    assert {code for code, _label in field.choices} <= set(of(CODES, field))


@pytest.mark.parametrize("name", [*CODES, *SENTENCES])
def test_words_are_given_for_columns_that_there_are(name: str) -> None:
    assert name in {field.name for field in FIELDS} | {f"{field.model.__name__}.{field.name}" for field in FIELDS}


def test_a_code_of_another_version_is_shown_as_it_is() -> None:
    assert shown(StateChange(after="SOMETHING_LATER"), "after") == "SOMETHING_LATER"


def test_a_null_is_no_code() -> None:
    assert shown(StateChange(before=None), "before") == "no value"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("drain_seconds", 14400.0, "14,400"),
        ("drain_seconds", 0.0, "0"),
        ("retry_share", 0.125, "0.125"),
        ("dlq_day_messages", 1_234_567, "1,234,567"),
        ("drain_seconds", None, "no value"),
    ],
)
def test_a_number_has_separators_and_no_idle_fraction(name: str, value: float | None, expected: str) -> None:
    assert shown(GroupState(**{name: value}), name) == expected


def test_a_number_is_no_name_of_a_row() -> None:
    assert is_number(column(GroupState._meta.get_field("drain_seconds")))
    assert not is_number(column(GroupState._meta.get_field("rule")))


def test_answers_about_members_are_counted_by_day() -> None:
    row = ConsumerGroup(presence={"2026-03-14": [1846, 843]})
    assert shown(row, "presence") == "2026-03-14: 843 of 1,846 answers without a member"


def test_the_numbers_of_a_rule_are_shown_with_their_units() -> None:
    row = GroupState(detail={"lag_messages": 40, "expired_messages": 1})
    assert shown(row, "detail") == "lag 40 messages\n1 message expired unread"


def test_a_volume_that_is_unknown_is_named_with_its_reason() -> None:
    row = GroupState(volumes_unknown={"retry_share": "nothing_consumed"})
    assert shown(row, "volumes_unknown") == "retry share: nothing was consumed"


def test_a_built_in_rule_has_its_name_in_each_language() -> None:
    with override("zh-hans"):
        assert (shown(AlertRule(name="Dead letters"), "name"), shown(AlertRule(name="Mine"), "name")) == (
            "死信",
            "Mine",
        )


def test_a_stored_reason_is_shown_in_words() -> None:
    row = ResetQueue(evidence=stored_reason(ReadBackEvidence.PASSED_BETWEEN, target=40, before=60))
    assert shown(row, "evidence") == "Only a member that started at 40 reports offsets between it and 60."


def test_several_causes_of_a_rebalance_are_shown_in_words() -> None:
    assert shown(Rebalance(cause="joined, queue_count"), "cause") == "joined, queue count"


def test_the_evidence_of_a_rebalance_is_a_sentence() -> None:
    row = Rebalance(evidence=[{"cause": "left", "client_id": "c1"}], started_before=NOW)
    assert shown(row, "evidence") == "c1 left by 03:00:00 UTC · its final commit was seen"


def test_a_finding_is_a_sentence() -> None:
    row = StoredFinding(code="retried_in_place", group_name="billing")
    assert shown(row, "params") == "A failed message blocks its queue"


def test_a_finding_of_another_version_is_shown_with_its_parameters() -> None:
    assert shown(StoredFinding(code="later", params={"topic": "Orders"}), "params") == "topic: Orders"


def test_a_part_of_a_repeat_is_shown_without_its_json() -> None:
    part = {"at_us": 1_773_457_240_000_000, "topic": "Orders", "low": 40, "high": None, "confidence": "proven"}
    words = "at: 2026-03-14 03:00:40 UTC, topic: Orders, at least: 40, at most: no value, confidence: proven"
    assert shown(RepeatEvent(parts=[part]), "parts") == words


def test_names_of_topics_and_brokers_stay_as_they_are() -> None:
    row = ConsumerGroup(unsubscribed={"my_old_topic": "2026-03-14T03:00:00Z"})
    assert shown(row, "unsubscribed") == "my_old_topic: 2026-03-14 03:00:00 UTC"


def test_an_offset_file_says_why_it_was_not_read() -> None:
    row = OffsetFile(error='{"code": "empty", "params": {"path": "/a.json"}}')
    assert "/a.json" in shown(row, "error")
    assert "{" not in shown(row, "error")


@pytest.mark.django_db
def test_a_page_of_a_row_has_words_and_names_in_chinese() -> None:
    a_judged_group(a_group(a_cluster()))
    GroupState.objects.update(state="STALL", rule="blocked", detail={"still_seconds": 360.0})
    page = a_staff_client("viewer").get(
        f"/admin/consumers/groupstate/{GroupState.objects.get().pk}/change/", headers={"Accept-Language": "zh-hans"}
    )
    assert all(words in page.text for words in ("停滞", "阻塞", "消费延迟", "6 分钟"))
    assert not any(words in page.text for words in ("STALL", "blocked", "still_seconds", "Time lag", "Share of"))


@pytest.mark.django_db
def test_a_filter_lists_every_code_in_words_and_finds_its_rows() -> None:
    a_judged_group(a_group(a_cluster()))
    GroupState.objects.update(state="STALL")
    client = a_staff_client("viewer")
    page = client.get("/admin/consumers/groupstate/").text
    assert re.search(r'<a href="\?state__exact=STALL">\s*stalled\s*</a>', page)
    assert "0 group states" in client.get("/admin/consumers/groupstate/?state__exact=STOP").text


@pytest.mark.django_db
def test_a_row_is_titled_by_what_it_is_about_in_the_head_and_in_the_path() -> None:
    a_judged_group(a_group(a_cluster()))
    GroupState.objects.update(state="STALL")
    page = a_staff_client("viewer").get(f"/admin/consumers/groupstate/{GroupState.objects.get().pk}/change/").text
    assert page.count("billing · stalled") == 3  # the title of the window, the path, the head
    assert "GroupState object" not in page
