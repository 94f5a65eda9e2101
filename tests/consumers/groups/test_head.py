"""The head of a group's pages says what the whole detail says."""

from dataclasses import fields

import pytest

from consumers.groups.detail import GroupHead, group_detail, group_head
from consumers.groups.rows import GroupRow
from consumers.models import Broker, ConsumerGroup
from tests.world import NOW, a_broker, a_cluster, a_group, a_judged_group, a_queue, a_snapshot, a_total, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def group() -> ConsumerGroup:
    """One of its topics lost its last subscriber two hours ago."""
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster, unsubscribed={"Old": ago(7200).isoformat(), "Orders": ago(5).isoformat()})
    a_total(group, 50)
    a_judged_group(group, "WARN")
    for topic in ("Old", "Orders"):
        a_snapshot(group, a_queue(cluster, topic), 100, 150)
    return group


def both(group: ConsumerGroup) -> tuple[GroupHead, dict[str, object]]:
    detail = group_detail("prod", "billing", now=NOW)
    assert detail is not None
    return group_head(group, now=NOW), {field.name: getattr(detail, field.name) for field in fields(GroupRow)}


def test_its_fields_are_those_of_the_detail(group: ConsumerGroup) -> None:
    head, detail = both(group)
    assert {name: getattr(head, name) for name in detail if name != "unknown"} == {
        name: value for name, value in detail.items() if name != "unknown"
    }


def test_what_is_not_read_is_unknown_in_both(group: ConsumerGroup) -> None:
    Broker.objects.update(last_read_at=ago(900), failing_since=ago(880), error="connection refused")
    head, detail = both(group)
    assert head.lag_messages is None
    assert head.unknown_reason == detail["unknown_reason"]
    assert head.state == detail["state"]


def test_it_names_the_topics_that_nobody_subscribes_to_any_more(group: ConsumerGroup) -> None:
    assert [(topic.topic, topic.retired_since) for topic in group_head(group, now=NOW).topics] == [("Old", ago(7200))]
