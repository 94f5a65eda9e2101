"""What is said of each way before anybody decides."""

import pytest

from consumers.models import ResetMethod
from consumers.resets.planning.queue_plan import consequences
from consumers.words.reasons import stored_words
from tests.consumers.resets.method_facts import group_facts, offline

SERVER, CLIENT, COMMIT, NOTHING = ResetMethod.SERVER, ResetMethod.CLIENT, ResetMethod.COMMIT, ResetMethod.NOTHING


def said(group, *methods: ResetMethod) -> str:
    return "\n".join(map(stored_words, consequences(methods, ["orders"], group)))


@pytest.mark.parametrize(
    ("group", "method", "sentence"),
    [
        (group_facts(), SERVER, "drops its cached messages at its next pull"),
        (group_facts(), SERVER, "finished but not committed"),
        (group_facts(), SERVER, "older than RocketMQ 5.2 need 10 more seconds"),
        (group_facts(languages=("GO", "JAVA")), SERVER, "Members written in GO decide themselves"),
        (offline(), SERVER, "members that start later begin at the targets"),
        (offline(pop_topics=frozenset({"orders"})), SERVER, "Unacknowledged popped messages of orders"),
        (offline(pop_topics=None), SERVER, "If the group consumes by POP"),
        (group_facts(), CLIENT, "stops consuming all its topics for about 10 seconds"),
        (group_facts(), CLIENT, "messages that arrive or expire after the plan"),
        (offline(), COMMIT, "Do not start a member before the reset ends"),
        (group_facts(orderly=True), SERVER, "The group consumes in order"),
        (group_facts(orderly=True), CLIENT, "The group consumes in order"),
    ],
)
def test_a_way_has_its_consequence(group, method: ResetMethod, sentence: str) -> None:
    assert sentence in said(group, method)


@pytest.mark.parametrize(
    ("group", "method", "sentence"),
    [
        (offline(), SERVER, "at its next pull"),
        (group_facts(), SERVER, "in order"),
        (group_facts(orderly=None), CLIENT, "in order"),
        (offline(orderly=True), COMMIT, "in order"),
        (group_facts(), SERVER, "Members written in"),
        (group_facts(pop_topics=frozenset({"payments"})), SERVER, "acknowledged"),
        (group_facts(), CLIENT, "acknowledged"),
    ],
)
def test_nothing_is_said_that_does_not_happen(group, method: ResetMethod, sentence: str) -> None:
    assert sentence not in said(group, method)


def test_where_nothing_is_written_nothing_follows() -> None:
    assert consequences([NOTHING], ["orders"], group_facts(orderly=True)) == []
    assert consequences([], [], offline()) == []


def test_several_ways_have_the_consequences_of_each() -> None:
    both = said(offline(), SERVER, COMMIT)
    assert said(offline(), SERVER) in both
    assert said(offline(), COMMIT) in both
