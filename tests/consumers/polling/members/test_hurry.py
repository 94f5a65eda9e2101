"""Which groups cannot wait for their turn."""

from dataclasses import replace

import pytest

from consumers.polling.members.collected import NEVER_SEEN, KnownGroup, KnownMember, has_changed, is_restless
from tests.readings import T0, at, group_members

HERE, ELSEWHERE = ("10.0.0.1:5",), ("10.0.0.1:6",)
KNOWN = KnownGroup(sub_version=at(0), members={"a": KnownMember({"broker-a": list(HERE)})})


def answered(*client_ids, connections=HERE, error=None, sub_version=T0, by=("broker-a",)):
    answer = group_members("g", *client_ids, error=error)
    members = [replace(member, connections={"broker-a": connections}) for member in answer.members]
    return replace(answer, members=tuple(members), sub_version=sub_version, answered_by=by)


@pytest.mark.parametrize(
    ("answer", "changed"),
    [
        (answered("a"), False),
        (answered("a", "b"), True),
        (answered(), True),
        (answered("a", connections=ELSEWHERE), True),
        (answered("a", connections=HERE + ELSEWHERE), True),
        (answered("a", by=("broker-a", "broker-b")), False),
        (answered("a", sub_version=at(1)), True),
        (answered("a", sub_version=at(-1)), False),
        (answered("a", sub_version=None), False),
    ],
    ids=[
        "nothing",
        "a member more",
        "none left",
        "another port",
        "a second process under its id",
        "a broker that lists nobody",
        "queues or subscriptions moved",
        "an older time",
        "no time told",
    ],
)
def test_a_group_has_changed_when_a_broker_tells_otherwise_than_the_rows(answer, changed):
    assert has_changed(answer, KNOWN) is changed


@pytest.mark.parametrize(
    ("answer", "changed"),
    [
        (answered(error="broker-b: silent", sub_version=None), False),
        (answered("a", error="broker-b: silent", sub_version=at(1)), True),
        (answered("b", error="broker-b: silent"), True),
        (answered("a", connections=ELSEWHERE, error="broker-a: silent", by=()), False),
    ],
    ids=["a missing member", "a newer time", "a member more", "its broker did not answer"],
)
def test_what_a_silent_broker_may_know_is_no_change(answer, changed):
    assert has_changed(answer, KNOWN) is changed


def test_the_first_time_that_is_told_of_a_known_group_is_a_change():
    assert has_changed(answered("a"), replace(KNOWN, sub_version=None))


def test_a_group_that_no_row_knows_has_changed_when_it_has_members():
    assert has_changed(answered("a"), NEVER_SEEN)
    assert not has_changed(answered(sub_version=None), NEVER_SEEN)


@pytest.mark.parametrize(("changed_at", "restless"), [(None, False), (at(0), False), (at(1), True)])
def test_a_group_is_restless_for_as_long_as_patience_lasts(changed_at, restless):
    assert is_restless(KnownGroup(members_changed_at=changed_at), 120.0, at(120)) is restless
