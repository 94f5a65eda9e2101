"""Which of a broker's counts are asked for, where the calls of a minute do not suffice for all."""

import pytest

from consumers.polling.statistics_poller import Place, planned

COMMITTED = {
    "broker-b": {("billing", "Orders")},
    "broker-a": {
        ("billing", "Orders"),
        ("audit", "Orders"),
        ("billing", "%RETRY%billing"),
        ("audit", "%DLQ%billing"),
        ("CID_RMQ_SYS_TRANS", "RMQ_SYS_TRANS_HALF_TOPIC"),
    },
}
TOPICS = [Place("broker-a", "Orders", ""), Place("broker-b", "Orders", "")]
GROUPS = [
    Place("broker-a", "Orders", "audit"),
    Place("broker-a", "Orders", "billing"),
    Place("broker-b", "Orders", "billing"),
]


@pytest.mark.parametrize(
    ("calls", "places"),
    [(100, [*TOPICS, *GROUPS]), (8, [*TOPICS, *GROUPS]), (7, [*TOPICS, *GROUPS[:2]]), (2, TOPICS), (1, TOPICS[:1])],
)
def test_topics_come_first_then_groups_by_name_as_far_as_calls_suffice(calls, places):
    assert planned(COMMITTED, calls) == places


def test_a_place_names_the_counts_as_brokers_do():
    assert (TOPICS[0].statistics, TOPICS[0].key) == (("TOPIC_PUT_SIZE",), "Orders")
    assert (GROUPS[0].statistics, GROUPS[0].key) == (("GROUP_GET_SIZE", "SNDBCK_PUT_NUMS"), "Orders@audit")
