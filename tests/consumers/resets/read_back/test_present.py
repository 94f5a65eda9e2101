"""Who was in a group, from one look to the next."""

import pytest

from consumers.resets.applying.case import Present
from consumers.resets.planning.gather import Membership
from tests.consumers.resets.read_back.cases import members
from tests.world import NOW

SILENT = Membership(None, "it is silent")


def seen(then: tuple[str, ...] | None, *looks: Membership) -> Present:
    present = Present.at_apply(then)
    for look in looks:
        present = present.look(NOW, look)
    return present


@pytest.mark.parametrize(
    ("then", "looks", "nobody", "came_after", "stayed"),
    [
        ((), [members(), members()], True, False, False),
        ((), [members(), members("m1")], False, True, False),
        ((), [members("m1")], False, False, False),
        ((), [members(), members("m1"), members()], False, True, False),
        ((), [SILENT, members("m1")], False, False, False),
        ((), [members(), SILENT], False, False, False),
        (("m1",), [members("m1")], False, False, True),
        (("m1",), [members("m1"), members("m1", "m2")], False, False, False),
        (("m1",), [members("m1"), SILENT], False, False, False),
        (None, [members()], False, False, False),
    ],
)
def test_it_tells_who_was_there_before_and_who_came(
    then: tuple[str, ...] | None, looks: list[Membership], nobody: bool, came_after: bool, stayed: bool
) -> None:
    present = seen(then, *looks)

    assert (present.nobody, present.came_after, present.stayed) == (nobody, came_after, stayed)


@pytest.mark.parametrize(
    ("looks", "lost"),
    [
        ([members("m1"), members("m1", "m2")], False),
        ([members("m2")], True),
        ([members("m1", "m2"), members("m1")], True),
        ([members("m1"), SILENT, members("m2")], True),
    ],
)
def test_it_tells_whether_anybody_left(looks: list[Membership], lost: bool) -> None:
    assert seen(("m1",), *looks).lost is lost


@pytest.mark.parametrize(
    ("look", "obeying"),
    [
        (members("m1"), True),
        (members(), True),
        (members("m1", language="GO"), False),
        (members("m1", consume_type="CONSUME_POP", language="GO"), True),
        (members("m1", consume_type="CONSUME_ACTIVELY"), False),
    ],
)
def test_only_push_consumers_in_java_and_those_that_pop_are_known_to_follow(look: Membership, obeying: bool) -> None:
    assert seen(("m1",), look).obeying is obeying
