"""Resets as marks on a time axis."""

from typing import Any

import pytest

from consumers.models import ConsumerGroup, ResetStatus
from consumers.queries.reset_marks import reset_marks
from tests.reset_rows import a_reset
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def billing() -> ConsumerGroup:
    return a_group(a_cluster())


def applied(group: ConsumerGroup, since: float, until: float | None, **fields: Any) -> str:
    ended = None if until is None else ago(until)
    status = ResetStatus.APPLYING if until is None else ResetStatus.APPLIED
    return str(a_reset(group, **{"started_at": ago(since), "finished_at": ended, "status": status, **fields}).pk)


def test_a_reset_tells_who_applied_it_and_why(billing: ConsumerGroup) -> None:
    name = applied(billing, 70, 60, applied_by_name="bob")
    [mark] = reset_marks(since=ago(600), until=NOW)
    assert (mark.id, mark.cluster, mark.group, mark.status) == (name, "prod", "billing", "applied")
    assert (mark.since, mark.until, mark.by, mark.reason) == (ago(70), ago(60), "bob", "orders were lost")


@pytest.mark.parametrize(
    ("since", "until", "is_shown"),
    [(700, 650, False), (700, 600, True), (700, None, True), (300, 290, True), (90, 10, True), (60, 50, False)],
)
def test_those_that_went_on_in_the_range_are_marked(
    billing: ConsumerGroup, since: float, until: float | None, is_shown: bool
) -> None:
    applied(billing, since, until)
    assert bool(reset_marks(since=ago(600), until=ago(60))) is is_shown


def test_a_plan_is_no_mark(billing: ConsumerGroup) -> None:
    a_reset(billing)
    assert reset_marks(since=ago(600), until=NOW) == []


def test_they_are_of_one_group_or_cluster_where_one_is_asked_for(billing: ConsumerGroup) -> None:
    mine = applied(billing, 70, 60)
    other = applied(a_group(billing.cluster, "audit"), 80, 60)
    far = applied(a_group(a_cluster("far")), 90, 60)
    found = [[mark.id for mark in reset_marks(since=ago(600), until=NOW, **said)] for said in (
        {}, {"cluster": "prod"}, {"cluster": "prod", "group": "billing"}
    )]  # fmt: skip
    assert found == [[mine, other, far], [mine, other], [mine]]


def test_there_are_no_more_than_can_be_told_apart(
    billing: ConsumerGroup, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr("consumers.queries.reset_marks.MARKS_SHOWN", 2)
    names = [applied(billing, 100 - number, 50) for number in range(3)]
    with django_assert_num_queries(1):
        assert [mark.id for mark in reset_marks(since=ago(600), until=NOW)] == [names[2], names[1]]
