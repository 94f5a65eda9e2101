"""Open incidents of groups in bulk, and incidents as marks."""

from typing import Any

import pytest

from consumers.alerts.queries.incidents import open_incidents
from consumers.models import ConsumerGroup
from tests.alert_rows import a_rule, an_incident
from tests.world import a_cluster, a_group, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def billing() -> ConsumerGroup:
    return a_group(a_cluster())


def test_those_that_fire_are_first_and_of_them_the_worst(billing: ConsumerGroup) -> None:
    an_incident(a_rule("pending"), billing, severity="critical", status="pending", fired_at=None)
    an_incident(a_rule("old"), billing, started_at=ago(900))
    an_incident(a_rule("recent"), billing)
    an_incident(a_rule("worst"), billing, severity="critical", started_at=ago(5000))
    assert [one.rule_name for one in open_incidents([billing.pk])[billing.pk]] == ["worst", "recent", "old", "pending"]


def test_what_is_over_is_not_among_them(billing: ConsumerGroup) -> None:
    an_incident(a_rule(), billing, status="resolved", resolved_at=ago(10), ending="recovered")
    assert open_incidents([billing.pk]) == {}


def test_many_groups_are_one_query(billing: ConsumerGroup, django_assert_num_queries: Any) -> None:
    rule = a_rule()
    groups = [a_group(billing.cluster, f"g{number}") for number in range(10)]
    for group in groups:
        an_incident(rule, group)
    with django_assert_num_queries(1):
        assert open_incidents([group.pk for group in groups]).keys() == {group.pk for group in groups}
