"""Which messages die if they fail once more: by the limit that counts, among those that were looked at."""

import pytest

from consumers.retries.ladder import ladder_of
from consumers.retries.ladder_rows import BY_GROUP, BY_MEMBERS, NO_LAST, NOBODY, UNLIMITED, max_retries
from tests.delay_rows import a_delaying_broker, a_rung, levels
from tests.world import NOW, a_client, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db


def a_member(group, said, *, orderly=False, number=1, **fields):
    settings = {} if said is None else {"maxReconsumeTimes": said}
    return a_client(group, f"10.0.0.{number}@1", settings=settings, orderly=orderly, **fields)


@pytest.mark.parametrize(
    ("said", "orderly", "limit"),
    [
        ("3", False, (3, BY_MEMBERS)),
        ("0", False, (0, BY_MEMBERS)),
        ("-1", False, (16, BY_MEMBERS)),
        ("-1", True, (None, BY_MEMBERS)),
        ("2147483647", False, (None, BY_MEMBERS)),
        ("-1", None, (7, BY_GROUP)),
        (None, False, (7, BY_GROUP)),
        ("many", False, (7, BY_GROUP)),
    ],
)
def test_a_member_s_own_limit_goes_before_the_group_s(said, orderly, limit):
    group = a_group(a_cluster(), retry_max_times=7)
    a_member(group, said, orderly=orderly)
    assert max_retries(group)[:2] == limit


def test_members_that_are_gone_do_not_count():
    group = a_group(a_cluster(), retry_max_times=7)
    a_member(group, "3", gone_by=ago(60))
    assert max_retries(group)[:2] == (7, BY_GROUP)


def test_members_that_differ_leave_the_limit_unknown():
    group = a_group(a_cluster(), retry_max_times=7)
    a_member(group, "3")
    a_member(group, "-1", orderly=True, number=2)
    why = "members differ in the maximum number of retries: 3, no limit"
    assert max_retries(group) == (None, None, why)


def test_a_limit_that_nobody_told_is_unknown():
    assert max_retries(a_group(a_cluster(), retry_max_times=None)) == (None, None, NOBODY)


@pytest.fixture
def group():
    cluster = a_cluster()
    a_delaying_broker(cluster)
    levels(cluster, level3=5, level4=5)
    return a_group(cluster, "billing", retry_max_times=2)


def last():
    return ladder_of("prod", "billing", NOW).last_attempts


def test_messages_that_were_tried_as_often_as_allowed_wait_for_their_last_retry(group):
    a_rung(group, 3, 3, attempts={"1": 3}, next_due_at=ago(-2))
    a_rung(group, 4, 4, attempts={"1": 1, "2": 2, "3": 1}, next_due_at=ago(-9))
    found = last()
    assert (found.messages, found.next_due_at, found.max_retries, found.reported_by) == (3, ago(-9), 2, BY_GROUP)
    assert dict(found.unknown) == {}


def test_no_such_message_is_none_and_not_unknown(group):
    a_rung(group, 3, 3, attempts={"1": 3})
    found = last()
    assert (found.messages, found.next_due_at, found.unknown["next_due_at"]) == (0, None, NO_LAST)


def test_without_a_limit_no_message_dies(group):
    a_member(group, "-1", orderly=True)
    a_rung(group, 4, 1, attempts={"400": 1})
    found = last()
    assert (found.messages, found.max_retries, found.unknown["max_retries"]) == (0, None, UNLIMITED)


def test_members_that_differ_leave_it_unknown(group):
    a_member(group, "3")
    a_member(group, "5", number=2)
    a_rung(group, 4, 1, attempts={"4": 1})
    found = last()
    assert (found.messages, found.reported_by) == (None, None)
    assert "3, 5" in found.unknown["messages"]


def test_a_due_time_that_is_not_known_leaves_the_number(group):
    a_rung(group, 4, 1, attempts={"2": 1}, next_due_at=None)
    found = last()
    assert (found.messages, found.next_due_at) == (1, None)
    assert found.unknown["next_due_at"] == "the delay of the level is unknown"
