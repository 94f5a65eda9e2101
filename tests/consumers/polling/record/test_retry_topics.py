"""Whose retry topics a broker's topics are: names may hold the letter that joins them."""

import pytest
from hypothesis import given, strategies as st

from consumers.polling.record.brokers import retry_permissions
from consumers.rocketmq.bodies.config_bodies import TopicConfig
from consumers.rocketmq.names import is_retry_topic_of

NAMES = st.text("ab_", min_size=1, max_size=4)


def topics(*names):
    return [TopicConfig(name, 1, 1, 6, order=False, attributes=None) for name in names]


@pytest.mark.parametrize(
    ("retry", "owners"),
    [
        ("%RETRY%pay", {"pay"}),
        ("%RETRY%pay_Orders", {"pay"}),  # POP, v1
        ("%RETRY%pay+Orders", {"pay"}),  # POP, v2
        ("%RETRY%pay_out_Orders", {"pay_out"}),
        ("%RETRY%pay_out", {"pay_out"}),  # a group of that name, though a topic "out" is there too
        ("%RETRY%pay_a_b", {"pay", "pay_a"}),  # both splits are possible
        ("%RETRY%pay_Unknown", set()),
        ("%RETRY%other", set()),
        ("%RETRY%other+Orders", set()),
        ("%DLQ%pay", set()),
    ],
)
def test_a_retry_topic_belongs_to(retry, owners):
    groups = dict.fromkeys(["pay", "pay_out", "pay_a"])
    assert retry_permissions(topics("Orders", "out", "b", "a_b", retry), groups).keys() == owners


@given(groups=st.sets(NAMES, max_size=4), normal=st.sets(NAMES, max_size=4), rest=NAMES)
def test_it_agrees_with_the_rule_for_names_where_no_group_bears_the_whole_name(groups, normal, rest):
    topic = f"%RETRY%{rest}"
    found = retry_permissions(topics(*normal, topic), dict.fromkeys(groups))
    expected = {rest} if rest in groups else {group for group in groups if is_retry_topic_of(topic, group, normal)}
    assert found.keys() == expected
