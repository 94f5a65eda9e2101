"""What a reading's parts say together."""

import pytest

from tests.readings import client, group_members, members


@pytest.mark.parametrize(
    ("error", "spoken", "whole"),
    [(None, ("a", "b"), True), (None, ("a",), False), ("broker-b: silent", ("a", "b"), False)],
    ids=["every broker and member", "a member without a word", "a broker without an answer"],
)
def test_a_group_is_whole_when_every_broker_and_every_member_answered(error, spoken, whole):
    clients = [client("g", "a"), client("g", "b", error=None if "b" in spoken else "no answer")]
    reading = members(0, [group_members("g", "a", "b", error=error)], clients)
    assert ("g" in reading.whole_groups) == whole


def test_a_group_whose_members_were_not_asked_is_not_whole():
    assert members(0, [group_members("g", "a"), group_members("offline")]).whole_groups == {"offline"}
