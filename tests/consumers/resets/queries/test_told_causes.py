"""Where the cause of a jump is told: queues, groups, lists and changes of state."""

from typing import Any

import pytest
import time_machine

from consumers.groups.detail import group_detail, queue_list
from consumers.groups.listing import group_list
from consumers.groups.rows import GroupFilters
from consumers.models import ConsumerGroup, Reset, StateChange
from consumers.overview.queries import changes
from consumers.vocabulary.states import RuleCode
from tests.reset_rows import a_reset, a_reset_queue
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_snapshot,
    a_total,
    ago,
)

pytestmark = pytest.mark.django_db
DETAIL = {"from_offset": 60, "to_offset": 40, "missing_messages": 20}
SENTENCE = "reset by ops at 2026-03-14 02:58:50 UTC (orders were lost)"


@pytest.fixture
def billing() -> ConsumerGroup:
    """Its queue went back a minute ago."""
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    queue = a_queue(cluster, "Orders")
    a_snapshot(group, queue, 40, 100)
    a_total(group, 60)
    judged = {"rule": RuleCode.OFFSET_WENT_BACK, "detail": DETAIL, "since": ago(60)}
    a_judged_queue(group, queue, "REWIND", **judged)
    a_judged_group(group, "REWIND", worst_queue=queue, **judged)
    place = {"topic": "Orders", "broker": "broker-a", "queue_id": 0}
    StateChange.objects.create(
        group=group, at=ago(50), before="OK", after="REWIND", rule=RuleCode.OFFSET_WENT_BACK, detail=DETAIL | place
    )
    return group


@pytest.fixture
def reset(billing: ConsumerGroup) -> Reset:
    made = a_reset(billing)
    a_reset_queue(made, 0, before=60, written_at=ago(70))
    return made


def said() -> list[str]:
    [queue] = queue_list("prod", "billing", now=NOW)
    [group] = group_list(GroupFilters(), now=NOW).rows
    [change] = changes(since=ago(600), until=NOW)
    return [queue.state_detail, group.state_detail, change.sentence]


def test_every_sentence_names_the_reset(billing: ConsumerGroup, reset: Reset) -> None:
    assert [sentence.endswith(SENTENCE) for sentence in said()] == [True, True, True]


def test_every_sentence_says_that_it_was_somebody_else(billing: ConsumerGroup) -> None:
    assert [sentence.endswith("not by Consumerscope") for sentence in said()] == [True, True, True]


def test_the_evidence_of_a_group_names_the_reset(billing: ConsumerGroup, reset: Reset) -> None:
    detail = group_detail("prod", "billing", now=NOW)
    assert detail is not None
    assert detail.detail == DETAIL | {"cause": SENTENCE, "reset": str(reset.pk)}


@time_machine.travel(NOW, tick=False)
def test_rest_tells_it_too(billing: ConsumerGroup, reset: Reset, api: Any) -> None:
    group = api.get("/api/v1/groups/prod/billing/").json()
    [queue] = api.get("/api/v1/groups/prod/billing/queues/").json()["results"]
    assert group["detail"]["reset"] == str(reset.pk)
    assert SENTENCE in queue["state_detail"]


def test_a_list_asks_once_for_all_and_not_at_all_where_no_offset_jumped(
    billing: ConsumerGroup, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(12):
        group_list(GroupFilters(), now=NOW)
    billing.judged.rule = "caught_up"
    billing.judged.save()
    with django_assert_max_num_queries(11):
        group_list(GroupFilters(), now=NOW)
