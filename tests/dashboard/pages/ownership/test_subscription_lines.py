from typing import Any

from consumers.ownership.subscriptions import SubscriptionRow
from dashboard.pages.ownership.ownership_tables import subscription_lines
from tests.world import ago


def a_row(client_id: str, expression: str = "*", **fields: Any) -> SubscriptionRow:
    values: dict[str, Any] = {"topic": "Orders", "expression_type": "TAG", "seen_since": ago(900), "last_seen": ago(5)}
    return SubscriptionRow(client_id=client_id, expression=expression, **(values | {"gone_by": None} | fields))


def test_members_that_say_the_same_stand_on_one_line() -> None:
    [line] = subscription_lines([a_row("b", seen_since=ago(600)), a_row("a", last_seen=ago(20))])
    assert (line.clients, line.since, line.last_seen) == (["a", "b"], ago(900), ago(5))


def test_what_most_say_stands_first_and_what_ended_last() -> None:
    ended = a_row("a", "old", last_seen=ago(700), gone_by=ago(690))
    older = a_row("b", "older", last_seen=ago(800), gone_by=ago(790))
    lines = subscription_lines([older, a_row("a", "new"), ended, a_row("b"), a_row("c")])
    assert [line.expression for line in lines] == ["*", "new", "old", "older"]


def test_of_many_members_some_are_named() -> None:
    [line] = subscription_lines([a_row(f"c{number}") for number in range(9)])
    assert (line.named, line.more) == (["c0", "c1", "c2", "c3"], 5)


def test_what_members_said_before_they_restarted_is_one_line():
    first = a_row("a", seen_since=ago(900), last_seen=ago(600), gone_by=ago(590))
    second = a_row("b", seen_since=ago(500), last_seen=ago(300), gone_by=ago(290))
    [standing, ended] = subscription_lines([a_row("c"), first, second])
    assert (standing.clients, ended.clients) == (["c"], ["a", "b"])
    assert (ended.since, ended.last_seen, ended.gone_by) == (ago(900), ago(300), ago(290))
