"""What is said of the next messages of topics that a group filters."""

import pytest

from consumers.models import TagSample
from consumers.queries.queues.starts import NOT_LOOKED_AT, NOT_TAGS, tag_samples
from tests.world import a_cluster, a_group, ago

pytestmark = pytest.mark.django_db


def group_with(expression, kind="TAG"):
    return a_group(a_cluster(), subscriptions=[{"topic": "Orders", "expression": expression, "expression_type": kind}])


def sampled(group, looked_at=64, matching=3, expression="TagA"):
    values = {"looked_at": looked_at, "matching": matching, "asked_at": ago(30), "expression": expression}
    TagSample.objects.create(group=group, topic="Orders", **values)


@pytest.mark.parametrize(
    ("looked_at", "matching", "sentence"),
    [
        (64, 3, "3 of the next 64 messages of Orders match TagA"),
        (64, 1, "1 of the next 64 messages of Orders match TagA"),
        (64, 0, "0 of the next 64 messages of Orders match TagA"),
        (1, 1, "1 of the next 1 message of Orders matches TagA"),
        (1, 0, "0 of the next 1 message of Orders matches TagA"),
    ],
)
def test_it_says_how_many_of_the_next_messages_match(looked_at, matching, sentence):
    group = group_with("TagA")
    sampled(group, looked_at, matching)
    [row] = tag_samples(group)
    assert (row.sentence, row.looked_at, row.matching, row.unknown_reason) == (sentence, looked_at, matching, None)
    assert row.asked_at == ago(30)


@pytest.mark.parametrize(
    ("expression", "kind", "reason"),
    [("TagA", "TAG", NOT_LOOKED_AT), ("a > 5", "SQL92", NOT_TAGS), ("TagB", "TAG", NOT_LOOKED_AT)],
)
def test_what_was_not_sampled_is_null_with_its_reason(expression, kind, reason):
    group = group_with(expression, kind)
    if expression == "TagB":
        sampled(group, expression="TagA")
    [row] = tag_samples(group)
    assert (row.looked_at, row.matching, row.asked_at, row.unknown_reason) == (None, None, None, reason)
    assert str(reason) in row.sentence


@pytest.mark.parametrize("expression", ["*", "", None])
def test_a_group_that_takes_everything_has_no_sample(expression):
    assert tag_samples(group_with(expression)) == []
