"""Rows of rebalances as a run leaves them."""

import json
from typing import Any

import pyarrow as pa
import pytest

from consumers.models import GroupState, Rebalance, RebalanceTopic
from consumers.pipeline.group_rows import write_group_states
from consumers.pipeline.queue_rows import QueueIds
from consumers.pipeline.rebalance_rows import write_rebalances
from tests.pipeline_rows import at, us
from tests.rebalance_rows import a_rebalance
from tests.world import a_cluster, a_group, a_judged_group

pytestmark = pytest.mark.django_db


@pytest.fixture
def group():
    return a_group(a_cluster(read_at=None), "billing")


def event(started_before: float = 15, settled: float | None = 30, **fields: Any) -> dict[str, Any]:
    return {
        "cluster": "prod",
        "group": "billing",
        "started_after_us": us(started_before - 15),
        "started_before_us": us(started_before),
        "last_change_us": us(started_before),
        "settled_us": None if settled is None else us(settled),
        "dated_us": us(started_before - 5),
        "episode_us": us(started_before),
        "polls": 2,
        "cause": "joined",
        "evidence": json.dumps([{"cause": "joined", "client_id": "b"}]),
        "rollout": False,
        "members_before": 1,
        "members_after": 2,
        "client_ids_before": ["a"],
        "client_ids_after": ["a", "b"],
        **fields,
    }


def topic(started_before: float = 15, name: str = "Orders", **fields: Any) -> dict[str, Any]:
    move = {"broker": "broker-a", "queue_id": 0, "before": ["a"], "after": ["b"], "unowned_seconds": 15.0}
    return {
        "cluster": "prod",
        "group": "billing",
        "started_before_us": us(started_before),
        "topic": name,
        "queues": 8,
        "queues_moved": 1,
        "unowned_queue_seconds": 15.0,
        "doubly_owned_queue_seconds": 0.0,
        "doubly_owned_queues": 0,
        "replayed_messages_low": 3,
        "replayed_messages": 11,
        "lag_before_messages": 120,
        "lag_peak_messages": 480,
        "moves": [{**move, "unknown": "{}"}],
        "unknown": "{}",
        **fields,
    }


def write(*events: dict[str, Any], topics: Any = (), until: float = 600, **anchors: float) -> int:
    """`anchors`: of each group that was looked at; billing alone, from the beginning on, where none is given."""
    spans = anchors or {"billing": 0}
    return write_rebalances(
        pa.Table.from_pylist(list(events), pa.Table.from_pylist([event()]).schema),
        pa.Table.from_pylist(list(topics), pa.Table.from_pylist([topic()]).schema),
        pa.table(
            {"cluster": ["prod"] * len(spans), "group": list(spans), "anchor_us": [us(one) for one in spans.values()]}
        ),
        at(until),
    )


def everything() -> list[list[tuple]]:
    return [list(model.objects.order_by("pk").values_list()) for model in (Rebalance, RebalanceTopic)]


def test_it_writes_a_rebalance_with_its_topics(group):
    assert write(event(), topics=[topic()]) == 1

    row = Rebalance.objects.get()
    assert (row.group, row.started_after, row.started_before, row.settled_at) == (group, at(0), at(15), at(30))
    assert (row.dated_at, row.episode_since, row.unknown) == (at(10), at(15), {})
    assert row.evidence == [{"cause": "joined", "client_id": "b"}]
    moved = row.topics.get()
    assert (moved.queues_moved, moved.replayed_messages, moved.lag_peak_messages) == (1, 11, 480)
    assert moved.moves[0]["before"] == ["a"]


def test_every_null_has_its_reason(group):
    unknown = {"replayed_messages": "no_start"}
    write(
        event(settled=None, dated_us=None, members_before=None, client_ids_before=None),
        topics=[topic(replayed_messages=None, unknown=json.dumps(unknown))],
    )
    row = Rebalance.objects.get()
    assert set(row.unknown) == {"settled_at", "dated_at", "members_before", "client_ids_before"}
    assert row.topics.get().unknown == unknown


def test_the_same_range_twice_leaves_rows_and_keys(group):
    write(event(), event(300, settled=None), topics=[topic(), topic(300)])
    before = everything()
    assert len(before[0]) == len(before[1]) == 2
    write(event(), event(300, settled=None), topics=[topic(), topic(300)])
    assert everything() == before


def test_a_settled_rebalance_is_not_judged_again(group):
    write(event(), topics=[topic()])
    write(event(), topics=[topic()], until=630)
    assert Rebalance.objects.get().judged_at == at(600)


def test_an_open_rebalance_is_written_again_until_it_settles(group):
    write(event(585, settled=None), topics=[topic(585)])
    pk = Rebalance.objects.get().pk
    write(event(585, settled=630, polls=4), topics=[topic(585, queues_moved=3)], until=660)
    row = Rebalance.objects.get()
    assert (row.pk, row.settled_at, row.polls, row.judged_at) == (pk, at(630), 4, at(660))
    assert row.topics.get().queues_moved == 3


def test_an_earlier_range_does_not_open_what_a_later_one_saw_settle(group):
    write(event(585, settled=630), topics=[topic(585)], until=660)
    write(event(585, settled=None), topics=[topic(585, queues_moved=0)], until=600)
    row = Rebalance.objects.get()
    assert (row.settled_at, row.topics.get().queues_moved) == (at(630), 1)


def test_what_is_not_found_again_goes(group):
    write(event(15), event(300), topics=[topic(15), topic(300), topic(300, "Stock")])
    assert write(event(300), topics=[topic(300)]) == 1
    assert list(Rebalance.objects.values_list("started_before", flat=True)) == [at(300)]
    assert list(RebalanceTopic.objects.values_list("topic", flat=True)) == ["Orders"]


def test_what_lies_outside_the_span_or_in_other_groups_stays(group):
    for moment in (0, 600):
        a_rebalance(group, at(moment))
    for name in ("shipping", "looked at later"):
        a_rebalance(a_group(group.cluster, name), at(300))
    assert write(until=600, billing=0, **{"looked at later": 300}) == 0
    assert Rebalance.objects.count() == 4


def test_a_group_that_was_deleted_meanwhile_is_passed_over(group):
    group.delete()
    assert write(event(), topics=[topic()]) == 0


def test_the_state_of_the_group_says_when_its_newest_was(group):
    a_judged_group(group)
    write(event(15), event(300), topics=[topic(15), topic(300)])
    assert GroupState.objects.get().last_rebalance_at == at(300)
    write(event(15), topics=[topic(15)])
    assert GroupState.objects.get().last_rebalance_at == at(15)
    write()
    assert GroupState.objects.get().last_rebalance_at is None


def test_a_judgement_keeps_it_and_a_first_one_finds_it(group):
    shipping = a_group(group.cluster, "shipping")
    a_rebalance(shipping, at(60))
    a_judged_group(group, last_rebalance_at=at(15), judged_at=at(0))
    write_group_states(
        pa.Table.from_pylist([judged("billing"), judged("shipping")]),
        ["prod"],
        at(600),
        {},
        QueueIds().of(["prod"]),
        {},
    )
    found = dict(GroupState.objects.values_list("group__name", "last_rebalance_at"))
    assert found == {"billing": at(15), "shipping": at(60)}


def judged(group: str) -> dict[str, Any]:
    unknown = ["detail", "since", "worst_topic", "worst_broker", "worst_queue_id", "time_lag_seconds"]
    rates = ["consume_rate", "produce_rate", "drain_seconds", "retry_rate"]
    known = {"state": "OK", "rule": "caught_up", "queues": 1, "completeness": 1.0, "time_lag_kind": "unknown"}
    return {"cluster": "prod", "group": group, **known, **dict.fromkeys([*unknown, *rates])}
