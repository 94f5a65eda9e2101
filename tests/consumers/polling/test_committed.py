"""Of which groups and topics a process expects offsets, before it has polled a cluster itself."""

import pytest

from consumers.polling.memory import ClusterMemory
from consumers.polling.poll import remembered
from consumers.vocabulary.states import UnknownReason
from tests.world import a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db


def test_a_fresh_process_expects_what_was_committed_or_lost_by_broker() -> None:
    cluster = a_cluster()
    group = a_group(cluster)
    a_snapshot(group, a_queue(cluster, "Orders"), 5, 9)
    a_snapshot(group, a_queue(cluster, "Orders", broker="broker-b"), 5, 9)
    lost = {"lost_offset": 7, "lost_at": ago(60)}
    a_snapshot(group, a_queue(cluster, "Lost"), None, 9, unknown_reason=UnknownReason.OFFSET_LOST, **lost)
    a_snapshot(group, a_queue(cluster, "Noted"), None, 9, unknown_reason=UnknownReason.NEVER_COMMITTED, **lost)
    a_snapshot(group, a_queue(cluster, "Never"), None, 9, unknown_reason=UnknownReason.NEVER_COMMITTED)
    broadcast = a_group(cluster, "radio", message_model="BROADCASTING")
    a_snapshot(broadcast, a_queue(cluster, "Orders"), 5, 9)
    unknown = a_group(cluster, "unasked", message_model=None)
    a_snapshot(unknown, a_queue(cluster, "Orders"), 5, 9)
    assert remembered(cluster).committed == {
        "broker-a": {("billing", "Orders"), ("billing", "Lost"), ("billing", "Noted"), ("unasked", "Orders")},
        "broker-b": {("billing", "Orders")},
    }


def test_what_is_given_up_is_expected_no_more() -> None:
    memory = ClusterMemory(committed={"broker-a": frozenset({("billing", "Orders"), ("billing", "Old")})})
    memory.give_up({("broker-a", "billing", "Old"), ("broker-b", "billing", "Old")})
    assert memory.committed == {"broker-a": {("billing", "Orders")}, "broker-b": frozenset()}
