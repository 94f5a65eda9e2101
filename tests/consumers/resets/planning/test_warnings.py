"""What a plan warns of beyond its numbers."""

import pytest

from consumers.models import ConsumerGroup, GroupBroker, Resend, ResendStatus, ResetKind
from consumers.words.reasons import stored_words
from tests.reset_cluster import FakeCluster
from tests.world import NOW, a_queue

from .conftest import Planner
from .test_plan import rows, stored_at

NEAREST = "Queues that start at a message before that time"


def said(warnings: list[str], part: str) -> list[str]:
    return [words for words in map(stored_words, warnings) if part in words]


@pytest.mark.parametrize("status", [ResendStatus.RUNNING, ResendStatus.PLANNED])
def test_a_re_send_that_is_under_way_is_named(plan: Planner, group: ConsumerGroup, status: ResendStatus) -> None:
    values = {"created_at": NOW, "expires_at": NOW, "selection": {}, "rate_per_second": 1}
    Resend.objects.create(group=group, by_name="ann", reason="a try", status=status, **values)
    named = said(plan(ResetKind.EARLIEST).warnings, "Dead-letter messages are being resent to this group")
    assert bool(named) == (status == ResendStatus.RUNNING)


def test_retry_topics_that_are_not_chosen_are_named(plan: Planner, group: ConsumerGroup) -> None:
    for topic in ("%RETRY%billing", "%RETRY%billing_Orders", "%RETRY%billing-eu"):
        a_queue(group.cluster, topic, kind="retry")
    assert said(plan(ResetKind.EARLIEST).warnings, "in retry") == [
        "Messages in retry topics (%RETRY%billing, %RETRY%billing_Orders) are not affected."
    ]


def test_a_retry_topic_that_is_chosen_is_not(plan: Planner, group: ConsumerGroup, fake: FakeCluster) -> None:
    a_queue(group.cluster, "%RETRY%billing", kind="retry")
    fake.masters["broker-a"].ends["%RETRY%billing", 0] = (0, 4)
    reset = plan(ResetKind.LATEST, topics=["%RETRY%billing"])
    assert [row.topic for row in rows(reset)] == ["%RETRY%billing"]
    assert not said(reset.warnings, "in retry")


def test_a_broker_that_does_not_know_the_group_is_named(plan: Planner, group: ConsumerGroup) -> None:
    GroupBroker.objects.create(group=group, broker="broker-b", configured=False, changed_at=NOW)
    assert said(plan(ResetKind.EARLIEST).warnings, "did not know the group") == [
        "broker-b did not know the group at the last poll, and does not move offsets of unknown groups."
    ]


def test_queues_that_begin_before_the_time_are_counted(plan: Planner, fake: FakeCluster) -> None:
    fake.masters["broker-a"].early = 1
    value = stored_at(30).isoformat()
    assert said(plan(ResetKind.TIME, value).warnings, NEAREST) == [
        f"{NEAREST}: 2, by up to 1.000 s. Brokers return the nearest message."
    ]
    age = (NOW - stored_at(80)).total_seconds()
    assert not said(plan(ResetKind.SKIP_OLDER, age).warnings, NEAREST)


def test_what_is_consumed_once_more_comes_first(plan: Planner) -> None:
    assert "Redelivered messages: 160, queues: 4" in stored_words(plan(ResetKind.EARLIEST).warnings[0])
