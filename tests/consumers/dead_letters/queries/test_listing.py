"""A page of a group's dead letters: what each says, which were sent again, and what is not known of it."""

from datetime import timedelta
from typing import Any

import pytest

from consumers.dead_letters.filters import DeadLetterFilters
from consumers.dead_letters.listing import DeadLetterPage, DeadLetterRow, dead_letter_list
from consumers.models import ConsumerGroup, ResendOutcome
from tests.dead_letter_rows import MINUTE_AGO, a_letter, a_look, a_resend, an_item
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def billing() -> ConsumerGroup:
    return a_group(a_cluster())


def listed(group: ConsumerGroup, **paging: Any) -> DeadLetterPage:
    return dead_letter_list(group, DeadLetterFilters(), **paging)


def the_row(group: ConsumerGroup) -> DeadLetterRow:
    [row] = listed(group).rows
    return row


def test_the_newest_come_first_page_by_page(billing: ConsumerGroup) -> None:
    for offset in range(5):
        a_letter(billing, offset, stored_at=MINUTE_AGO + timedelta(seconds=offset))
    pages = [listed(billing, page=page, page_size=2) for page in (1, 2, 3, 4)]
    assert [[row.offset for row in page.rows] for page in pages] == [[4, 3], [2, 1], [0], []]
    assert {(page.count, page.pages) for page in pages} == {(5, 3)}


def test_letters_of_other_groups_are_not_among_them(billing: ConsumerGroup) -> None:
    a_letter(a_group(billing.cluster, "other"))
    assert listed(billing).rows == []


def test_what_a_letter_does_not_say_has_its_reason(billing: ConsumerGroup) -> None:
    names = ("message_id", "origin_topic", "origin_message_id", "keys", "tags", "sent_by_application")
    a_letter(billing, **dict.fromkeys(names))
    assert the_row(billing).unknown.keys() == set(names)
    assert all(the_row(billing).unknown.values())


def test_what_it_says_has_no_reason(billing: ConsumerGroup) -> None:
    a_letter(billing, tags="paid", origin_message_id="FIRST")
    assert the_row(billing).unknown == {}


@pytest.mark.parametrize("outcome", list(ResendOutcome))
def test_a_letter_says_how_sending_it_again_was_tried(billing: ConsumerGroup, outcome: ResendOutcome) -> None:
    resend = a_resend(billing, by_name="ada")
    an_item(resend, a_letter(billing), outcome=outcome, at=ago(30))
    tried = [(one.at, one.by, one.result, one.resend) for one in the_row(billing).resent]
    was_tried = outcome in ("sending", "sent", "unknown", "failed")
    assert tried == ([(ago(30), "ada", outcome, str(resend.pk))] if was_tried else [])


def test_the_newest_try_comes_first(billing: ConsumerGroup) -> None:
    letter = a_letter(billing)
    an_item(a_resend(billing, by_name="first", created_at=ago(90)), letter)
    an_item(a_resend(billing, by_name="second", created_at=ago(30)), letter)
    assert [one.by for one in the_row(billing).resent] == ["second", "first"]


@pytest.mark.parametrize("other", [{"stored_id": "ELSEWHERE"}, {"broker": "broker-b"}, {"queue_id": 1}, {"offset": 8}])
def test_a_try_of_another_letter_is_not_its_own(billing: ConsumerGroup, other: dict[str, Any]) -> None:
    an_item(a_resend(billing), a_letter(billing, 7), **other)
    assert the_row(billing).resent == []


def test_a_try_of_another_group_is_not_its_own(billing: ConsumerGroup) -> None:
    an_item(a_resend(a_group(billing.cluster, "other")), a_letter(billing))
    assert the_row(billing).resent == []


def test_a_page_takes_five_queries_at_most(billing: ConsumerGroup, django_assert_max_num_queries: Any) -> None:
    a_look(billing, 0, 40)
    resend = a_resend(billing)
    for offset in range(40):
        an_item(resend, a_letter(billing, offset, stored_at=NOW))
    with django_assert_max_num_queries(5):
        assert len(listed(billing).rows) == 40
