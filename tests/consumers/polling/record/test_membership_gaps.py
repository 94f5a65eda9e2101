"""Times when the members of a group were not reported, as they are stored once they are over."""

import pytest

from consumers.models import MembershipGap
from tests.readings import at, client, group_members, owned

pytestmark = pytest.mark.django_db

Q0 = owned("Orders", "broker-a", 0)
LISTED = group_members("billing", "c1")
REFUSED = group_members("billing", error="broker-a: refused", answered_by=())
SAID, SILENT = client("billing", "c1", Q0), client("billing", "c1", error="timed out")


def gaps():
    return list(MembershipGap.objects.order_by("ended_at").values_list("began_at", "ended_at", "is_listed"))


def listed_then(observe, answers):
    for seconds, answer in answers:
        observe(seconds, [answer], [SAID] if answer is LISTED else [])


def test_a_group_that_is_listed_when_first_seen_has_none(observe):
    listed_then(observe, [(0, LISTED), (15, LISTED)])
    assert gaps() == []


def test_a_list_that_is_refused_for_more_than_a_minute_is_one_once_it_is_complete_again(observe):
    listed_then(observe, [(0, LISTED), (15, REFUSED), (75, REFUSED)])
    assert gaps() == []
    listed_then(observe, [(90, LISTED), (105, LISTED)])
    assert gaps() == [(at(0), at(90), False)]


def test_a_list_that_is_refused_for_a_minute_is_none(observe):
    listed_then(observe, [(0, LISTED), (15, REFUSED), (60, LISTED)])
    assert gaps() == []


def test_the_time_before_the_first_complete_list_is_one(observe):
    listed_then(observe, [(0, REFUSED), (90, LISTED)])
    assert gaps() == [(at(0), at(90), False)]


@pytest.mark.parametrize(("seconds", "count"), [(900, 0), (901, 1)])
def test_a_group_that_was_not_asked_has_one_once_its_last_answer_says_nothing_any_more(observe, seconds, count):
    listed_then(observe, [(0, LISTED), (seconds, LISTED)])
    assert len(gaps()) == count


def test_a_member_that_is_silent_for_more_than_two_minutes_is_one_once_it_answers_again(observe):
    for seconds, said in ((0, SAID), (15, SILENT), (120, SILENT), (135, SAID), (150, SAID)):
        observe(seconds, [LISTED], [said])
    assert gaps() == [(at(0), at(135), True)]


def test_a_member_that_is_silent_until_it_leaves_is_one(observe):
    for seconds, said in ((0, SAID), (15, SILENT)):
        observe(seconds, [LISTED], [said])
    observe(135, [group_members("billing")])
    assert gaps() == [(at(0), at(135), True)]


@pytest.mark.parametrize(("first", "seconds"), [(SAID, 120), (SILENT, 600)], ids=["two minutes", "never answered"])
def test_a_member_that_was_silent_for_a_moment_or_never_answered_before_is_none(observe, first, seconds):
    for at_seconds, said in ((0, first), (15, SILENT), (seconds, SAID)):
        observe(at_seconds, [LISTED], [said])
    assert gaps() == []
