"""Queues of nobody and of two, of all groups at once: as many as the check of one group finds."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from consumers.alerts.evaluation.run import evaluate
from consumers.models import AlertRule, Assignment, Client, Cluster, ConsumerGroup, Incident, Measure, Queue
from consumers.ownership.evidence import STABLE_AFTER
from consumers.ownership.findings import findings
from consumers.words.reasons import stored_words
from tests.alert_rows import a_rule
from tests.consumers.alerts.measures.group_rows import column, everything, of_group
from tests.consumers.ownership.shared_group import a_member, a_shared_group, holds, own_all, some_queues
from tests.world import NOW, a_snapshot, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def group() -> ConsumerGroup:
    return a_shared_group()


@pytest.fixture
def queues(group: ConsumerGroup) -> list[Queue]:
    return with_offsets(group, some_queues(group))


def with_offsets(group: ConsumerGroup, queues: list[Queue]) -> list[Queue]:
    for queue in queues:
        a_snapshot(group, queue, 1, 1)
    return queues


def two_members(group: ConsumerGroup, queues: list[Queue], **fields: Any) -> None:
    for client_id in ("c1", "c2"):
        a_member(group, client_id, **fields)
    own_all(group, queues)


def let_go(queue: Queue) -> None:
    Assignment.objects.filter(queue=queue).update(gone_by=ago(200))


def both() -> tuple[float | None, float | None]:
    return of_group(Measure.UNOWNED)[0], of_group(Measure.DOUBLY_OWNED)[0]


def test_where_everyone_owns_its_share_there_are_none(group: ConsumerGroup, queues: list[Queue]) -> None:
    two_members(group, queues)
    assert both() == (0.0, 0.0)


def test_queues_that_nobody_holds_and_queues_that_two_hold_are_counted(
    group: ConsumerGroup, queues: list[Queue]
) -> None:
    two_members(group, queues)
    let_go(queues[5])
    let_go(queues[6])
    holds(group, "c2", [queues[0]])
    assert of_group(Measure.UNOWNED) == (2.0, "2 queues consumed by nobody")
    assert of_group(Measure.DOUBLY_OWNED) == (1.0, "1 queue consumed by two members")


def test_by_topic_only_its_queues_are_counted(group: ConsumerGroup, queues: list[Queue]) -> None:
    others = with_offsets(group, some_queues(group, "Refunds"))
    two_members(group, [*queues, *others], topics=("Orders", "Refunds"))
    for queue in (queues[0], others[0], others[1]):
        let_go(queue)
    found = everything("Refunds", "Orders").topics
    values = {topic: list(table.columns[Measure.UNOWNED].values) for topic, table in found.items()}
    assert values == {"Orders": [1.0], "Refunds": [2.0]}


def test_a_topic_that_no_member_subscribes_to_needs_no_owner(group: ConsumerGroup, queues: list[Queue]) -> None:
    with_offsets(group, some_queues(group, "Left"))
    two_members(group, queues)
    assert both() == (0.0, 0.0)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"settled_at": None}, "settling"),
        ({"members_changed_at": NOW - STABLE_AFTER + timedelta(seconds=1)}, "settling"),
        ({"membership_at": None}, "not been asked"),
        ({"membership_at": ago(901)}, "not every broker has reported the group's members since"),
        ({"consume_type": "CONSUME_POP"}, "POP consumers"),
        ({"consume_type": "CONSUME_ACTIVELY"}, "pull consumers"),
    ],
)
def test_it_is_not_known_who_holds_what(
    group: ConsumerGroup, queues: list[Queue], fields: dict[str, Any], said: str
) -> None:
    two_members(group, queues)
    let_go(queues[5])
    ConsumerGroup.objects.filter(pk=group.pk).update(**fields)
    for measure in (Measure.UNOWNED, Measure.DOUBLY_OWNED):
        value, reason = of_group(measure)
        assert value is None
        assert said in reason


@pytest.mark.parametrize("measure", [Measure.UNOWNED, Measure.DOUBLY_OWNED, Measure.BLOCKED])
@pytest.mark.parametrize("members", [0, 2])
def test_pop_consumers_have_no_owners_that_could_be_unknown(
    group: ConsumerGroup, measure: Measure, members: int
) -> None:
    ConsumerGroup.objects.filter(pk=group.pk).update(consume_type="CONSUME_POP", members=members)
    found = column(measure)
    assert (found.values, found.absent(0)) == ([None], "POP consumers: their queues have no owner")


def test_an_incident_resolves_where_the_group_pops_now(group: ConsumerGroup, queues: list[Queue]) -> None:
    AlertRule.objects.all().delete()
    a_rule(measure="unowned_queues", threshold=0, for_seconds=0, clear_seconds=0)
    two_members(group, queues)
    let_go(queues[5])
    evaluate(NOW, lambda: NOW)
    assert Incident.objects.get().value == 1
    ConsumerGroup.objects.filter(pk=group.pk).update(consume_type="CONSUME_POP")
    evaluate(NOW + timedelta(seconds=15), lambda: NOW)
    resolved = Incident.objects.get()
    assert (resolved.status, resolved.value) == ("resolved", 1)
    assert stored_words(resolved.evidence) == "POP consumers: their queues have no owner"


def test_it_is_known_again_as_soon_as_the_check_of_the_group_says_it(group: ConsumerGroup, queues: list[Queue]) -> None:
    two_members(group, queues)
    let_go(queues[5])
    ConsumerGroup.objects.filter(pk=group.pk).update(members_changed_at=NOW - STABLE_AFTER, membership_at=ago(900))
    assert both() == (1.0, 0.0)


def test_a_silent_member_may_hold_what_nobody_holds(group: ConsumerGroup, queues: list[Queue]) -> None:
    two_members(group, queues)
    let_go(queues[5])
    holds(group, "c2", [queues[0]])
    Client.objects.filter(client_id="c2").update(running_info_error="timed out")
    assert of_group(Measure.UNOWNED) == (None, "c2 has not reported which queues it owns")
    assert of_group(Measure.DOUBLY_OWNED) == (None, "c2 has not reported which queues it owns")


def test_without_members_no_queue_is_left_by_any(group: ConsumerGroup, queues: list[Queue]) -> None:
    ConsumerGroup.objects.filter(pk=group.pk).update(online=False, members=0)
    assert both() == (0.0, 0.0)


def test_broadcasting_members_own_every_queue(group: ConsumerGroup, queues: list[Queue]) -> None:
    two_members(group, queues)
    holds(group, "c2", [queues[0]])
    ConsumerGroup.objects.filter(pk=group.pk).update(message_model="BROADCASTING")
    found = column(Measure.DOUBLY_OWNED)
    assert (found.values, found.suppressed(0)) == ([0.0], "broadcasting: every member owns every queue")


def test_two_processes_under_one_id_hold_the_same_queues(group: ConsumerGroup, queues: list[Queue]) -> None:
    connections = {broker: ["10.0.0.7:1", "10.0.0.8:1"] for broker in ("broker-a", "broker-b")}
    a_member(group, "c1", connections=connections, duplicated_since=ago(900))
    holds(group, "c1", queues[:4])
    unowned, doubly = counted(group)
    assert doubly
    assert both() == (unowned, doubly)


@pytest.mark.parametrize("answered_at", [ago(20), None])
def test_a_silent_member_beside_two_processes_under_one_id_may_hold_what_nobody_holds(
    group: ConsumerGroup, queues: list[Queue], answered_at: datetime | None
) -> None:
    connections = {broker: ["10.0.0.7:1", "10.0.0.8:1"] for broker in ("broker-a", "broker-b")}
    a_member(group, "c1", connections=connections, duplicated_since=ago(900))
    subscriptions = {} if answered_at else {"subscriptions": None}
    a_member(group, "c2", running_info_at=answered_at, running_info_error="timed out", **subscriptions)
    assert of_group(Measure.UNOWNED) == (None, "c2 has not reported which queues it owns")
    assert of_group(Measure.DOUBLY_OWNED)[0] != 0


def counted(group: ConsumerGroup) -> tuple[int, int]:
    """By the check of the one group."""
    group.refresh_from_db()
    found = findings(group, NOW)
    return sum(len(one.unowned) for one in found), sum(len(one.doubly_owned) for one in found)


HOLDERS = st.lists(st.sets(st.sampled_from(["c1", "c2", "c3"]), max_size=2), min_size=8, max_size=8)
MEMBERS = st.dictionaries(
    st.sampled_from(["c1", "c2", "c3"]), st.sampled_from([(), ("Orders",), ("Orders", "Refunds")]), min_size=1
)
READABLE = st.sampled_from([{"readable": True}, {"readable": False}, {"readable_since": ago(60)}])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(HOLDERS, MEMBERS, READABLE)
def test_it_counts_what_the_check_of_one_group_finds(
    holders: list[set[str]], members: dict[str, tuple[str, ...]], readable: dict[str, Any]
) -> None:
    Cluster.objects.all().delete()
    group = a_shared_group()
    queues = with_offsets(group, [*some_queues(group, each=2), *some_queues(group, "Refunds", each=2, **readable)])
    for client_id, topics in members.items():
        a_member(group, client_id, topics)
    for queue, holding in zip(queues, holders, strict=True):
        for client_id in holding & members.keys():
            holds(group, client_id, [queue])
    assert both() == counted(group)
