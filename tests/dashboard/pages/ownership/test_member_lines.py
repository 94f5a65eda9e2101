from typing import Any

import pytest

from consumers.ownership.rows import MemberRow
from dashboard.pages.ownership.ownership_tables import MemberLine, member_lines
from tests.world import ago

A, B = "10.0.0.7@3312", "10.0.0.8@3312"


def a_member(client_id: str = A, **fields: Any) -> MemberRow:
    values = dict.fromkeys(name for name in MemberRow.__dataclass_fields__ if name not in ("client_id", "unknown"))
    address = f"{client_id.split('@')[0]}:50001"
    values |= {"address": address, "connections": {"broker-a": [address]}, "seen_at": ago(5), "queues": 4}
    return MemberRow(client_id=client_id, unknown={}, **(values | fields))


def the_line(expected: dict[str, int] | None = None, **fields: Any) -> MemberLine:
    [line] = member_lines([a_member(**fields)], [A, B], expected)
    return line


def test_a_member_has_the_colour_that_it_has_in_the_picture() -> None:
    first, second, third = member_lines([a_member(A), a_member(B), a_member("10.0.0.9@1")], [A, B], None)
    assert (first.colour, second.colour, third.colour) == (1, 2, None)


@pytest.mark.parametrize(
    ("connections", "shown"),
    [
        ({"a": ["10.0.0.7:1"], "b": ["10.0.0.7:2"]}, [("", "10.0.0.7:50001")]),
        ({"a": ["10.0.0.7:1"], "b": ["10.0.0.8:2"]}, [("a", "10.0.0.7:1"), ("b", "10.0.0.8:2")]),
        ({"a": ["10.0.0.7:2", "10.0.0.7:1"]}, [("a", "10.0.0.7:1"), ("a", "10.0.0.7:2")]),
        ({}, [("", "10.0.0.7:50001")]),
    ],
)
def test_addresses_stand_by_broker_only_where_they_tell_something(
    connections: dict[str, list[str]], shown: list[tuple[str, str]]
) -> None:
    assert the_line(connections=connections).addresses == shown


def test_the_busiest_of_several_is_marked() -> None:
    busy, idle = member_lines([a_member(A, messages_per_second=9.0), a_member(B, messages_per_second=3.0)], [], None)
    assert (busy.is_busiest, idle.is_busiest) == (True, False)
    assert not the_line(messages_per_second=9.0).is_busiest


def test_members_that_consume_nothing_or_of_which_it_is_not_known_are_not_the_busiest() -> None:
    lines = member_lines([a_member(A, messages_per_second=0.0), a_member(B, messages_per_second=None)], [], None)
    assert [line.is_busiest for line in lines] == [False, False]


def test_two_processes_of_one_id_are_an_alarm() -> None:
    assert "two processes share this client ID" in the_line(duplicated_since=ago(60)).alarms[0]
    assert the_line().alarms == []


@pytest.mark.parametrize(
    ("expected", "note"),
    [
        (None, "owns no queue"),
        ({A: 2}, "owns none of the 2 queues expected"),
        ({B: 0}, "no queue expected: 0 queues for 1 member"),
        ({B: 4}, "no queue is expected to be assigned to it"),
    ],
)
def test_a_member_without_a_queue_says_why(expected: dict[str, int] | None, note: str) -> None:
    assert the_line(expected, queues=0).notes == [note]


def test_a_member_whose_queues_are_not_known_is_not_said_to_have_none() -> None:
    assert the_line({A: 2}, queues=None).notes == []
