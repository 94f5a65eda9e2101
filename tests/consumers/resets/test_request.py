from typing import Any

import pytest
from django.contrib.auth.models import User

from consumers.models import ConsumerGroup, Reset, ResetEvent, ResetKind, ResetStatus
from consumers.resets.request import request_plan
from consumers.resets.target_values import Asker, QueueKey, ResetRefused, ResetRequest, ValueRefused, own_topics
from tests.reset_rows import an_asker
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def group() -> ConsumerGroup:
    """`billing` on `prod`, with offsets in the one queue of Orders."""
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_snapshot(group, a_queue(cluster), 5, 10)
    a_queue(cluster, "%RETRY%billing", kind="retry")
    a_queue(cluster, "%RETRY%shipping", kind="retry")
    a_queue(cluster, "%DLQ%billing", kind="dlq")
    a_queue(cluster, "SCHEDULE_TOPIC_XXXX", kind="system")
    return group


@pytest.fixture
def asker() -> Asker:
    return an_asker("operator", "10.0.0.9", "page")


def a_wish(kind: ResetKind = ResetKind.EARLIEST, value: Any = None, **more: Any) -> ResetRequest:
    return ResetRequest(kind, value, **({"reason": "the mapping was wrong"} | more))


def a_reset(group: ConsumerGroup, status: ResetStatus) -> Reset:
    names = {"cluster_name": "prod", "group_name": group.name, "by_name": "ann", "reason": "a try"}
    return Reset.objects.create(group=group, kind=ResetKind.LATEST, status=status, created_at=NOW, **names)


def test_it_leaves_the_worker_a_plan_to_make(group: ConsumerGroup, asker: Asker) -> None:
    requested = a_wish(ResetKind.SHIFT, "-3", queues=(QueueKey("Orders", "broker-a", 0),), clip=True)
    reset = request_plan("prod", "billing", requested, asker, NOW)
    reset.refresh_from_db()
    assert (reset.status, reset.kind, reset.value, reset.clip) == ("planning", "shift", -3, True)
    assert reset.queues == [{"topic": "Orders", "broker": "broker-a", "queue_id": 0}]
    assert (reset.topics, reset.brokers, reset.planned_at, reset.created_at) == (None, None, None, NOW)
    assert (reset.by, reset.by_name, reset.reason) == (asker.user, "ann", "the mapping was wrong")


def test_it_notes_who_asked_and_from_where(group: ConsumerGroup, asker: Asker) -> None:
    reset = request_plan("prod", "billing", a_wish(), asker, NOW)
    event = ResetEvent.objects.get(reset=reset)
    assert (event.at, event.by_name, event.address, event.via) == (NOW, "ann", "10.0.0.9", "page")


def test_a_restore_bears_what_it_restores(group: ConsumerGroup, asker: Asker) -> None:
    source = a_reset(group, ResetStatus.APPLIED)
    assert request_plan("prod", "billing", a_wish(ResetKind.RESTORE, str(source.pk)), asker, NOW).restores == source


@pytest.mark.parametrize(
    ("requested", "sentence"),
    [
        (a_wish(reason=" "), "needs a reason"),
        (a_wish(reason="x" * 2001), "longer than 2000"),
        (a_wish(ResetKind.OFFSET, -1), "not an offset"),
        (a_wish(ResetKind.COPY, "billing"), "copied from itself"),
        (a_wish(ResetKind.COPY, "Billing"), "No poll of the cluster prod has found the group Billing"),
        (a_wish(ResetKind.MOMENT, "2026-03-01T00:00:00Z"), "stored for 48 hours"),
        (a_wish(ResetKind.RESTORE, "0" * 32), "no reset 00000000-0000-0000-0000-000000000000 of this group"),
        (a_wish(topics=()), "No topics are chosen"),
        (a_wish(topics=("orders",)), "has found the topic orders"),
        (a_wish(topics=("Orders", "Orders")), "twice: Orders"),
        (a_wish(topics=("%DLQ%billing",)), "resend its messages instead"),
        (a_wish(topics=("%RETRY%shipping",)), "retry topic of another group"),
        (a_wish(topics=("SCHEDULE_TOPIC_XXXX",)), "RocketMQ system topic"),
        (a_wish(brokers=("broker-z",)), "has found the broker broker-z"),
        (a_wish(queues=(QueueKey("Orders", "broker-z", 0),)), "has found the broker broker-z"),
        (
            a_wish(topics=("%RETRY%billing",), queues=(QueueKey("Orders", "broker-a", 0),)),
            "Orders/broker-a/0 is not in the chosen",
        ),
        (
            a_wish(ResetKind.OFFSETS, [{"topic": "%DLQ%billing", "broker": "broker-a", "queue_id": 0, "offset": 1}]),
            "resend its messages instead",
        ),
    ],
)
def test_it_refuses_what_rows_can_tell(
    group: ConsumerGroup, asker: Asker, requested: ResetRequest, sentence: str
) -> None:
    with pytest.raises(ResetRefused, match=sentence):
        request_plan("prod", "billing", requested, asker, NOW)
    assert not Reset.objects.filter(status=ResetStatus.PLANNING).exists()


def test_the_own_retry_topic_may_be_chosen(group: ConsumerGroup, asker: Asker) -> None:
    reset = request_plan("prod", "billing", a_wish(topics=("%RETRY%billing",)), asker, NOW)
    assert reset.topics == ["%RETRY%billing"]


@pytest.mark.parametrize(("cluster", "name"), [("prod", "Billing"), ("Prod", "billing"), ("prod", "shipping")])
def test_names_are_compared_exactly(group: ConsumerGroup, asker: Asker, cluster: str, name: str) -> None:
    with pytest.raises(ResetRefused, match=f"cluster {cluster} has found the group {name}"):
        request_plan(cluster, name, a_wish(), asker, NOW)


def test_a_group_of_rocketmqs_own_is_refused(group: ConsumerGroup, asker: Asker) -> None:
    ConsumerGroup.objects.update(kind="system")
    with pytest.raises(ResetRefused, match="RocketMQ system group"):
        request_plan("prod", "billing", a_wish(), asker, NOW)


def test_a_viewer_is_told_which_roles_may(group: ConsumerGroup) -> None:
    viewer = Asker(User.objects.create_user("vic"), None, "rest")
    with pytest.raises(ResetRefused, match="operator or admin"):
        request_plan("prod", "billing", a_wish(), viewer, NOW)


def test_a_read_only_cluster_is_refused(group: ConsumerGroup, asker: Asker, settings: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    with pytest.raises(ResetRefused, match="marked read-only"):
        request_plan("prod", "billing", a_wish(), asker, NOW)


def test_a_group_that_is_being_reset_is_refused(group: ConsumerGroup, asker: Asker) -> None:
    a_reset(group, ResetStatus.APPLYING)
    with pytest.raises(ResetRefused, match="Another reset of this group is being applied"):
        request_plan("prod", "billing", a_wish(), asker, NOW)


def test_a_group_without_topics_must_choose_some(asker: Asker) -> None:
    cluster = a_cluster()
    a_group(cluster)
    a_queue(cluster)
    with pytest.raises(ResetRefused, match="select the topics"):
        request_plan("prod", "billing", a_wish(), asker, NOW)
    assert request_plan("prod", "billing", a_wish(topics=("Orders",)), asker, NOW).topics == ["Orders"]


def test_the_own_topics_are_those_with_offsets_and_those_that_are_subscribed_to(group: ConsumerGroup) -> None:
    for topic in ("Refunds", "Audit"):
        a_queue(group.cluster, topic)
    a_snapshot(group, a_queue(group.cluster, "%RETRY%billing", kind="retry"), 1, 1)
    group.subscriptions = [{"topic": topic} for topic in ("Refunds", "%RETRY%billing", "Unseen")]
    assert own_topics(group) == ["Orders", "Refunds"]


@pytest.mark.parametrize("kind", [ResetKind.MOMENT, ResetKind.RESTORE])
def test_the_past_finds_queues_of_its_own(asker: Asker, kind: ResetKind) -> None:
    group = a_group(a_cluster())
    value = str(a_reset(group, ResetStatus.APPLIED).pk) if kind == ResetKind.RESTORE else ago(60).isoformat()
    assert request_plan("prod", "billing", a_wish(kind, value), asker, NOW).status == ResetStatus.PLANNING
    with pytest.raises(ResetRefused, match="has found the topic Orders"):
        request_plan("prod", "billing", a_wish(kind, value, topics=("Orders",)), asker, NOW)


def test_a_reset_of_another_group_is_not_restored(group: ConsumerGroup, asker: Asker) -> None:
    other = a_reset(a_group(group.cluster, "shipping"), ResetStatus.APPLIED)
    with pytest.raises(ResetRefused, match="of this group"):
        request_plan("prod", "billing", a_wish(ResetKind.RESTORE, str(other.pk)), asker, NOW)


def test_queues_of_other_brokers_do_not_count(group: ConsumerGroup, asker: Asker, settings: Any) -> None:
    a_broker(group.cluster, "broker-b")
    a_queue(group.cluster, broker="broker-b")
    settings.RESET_QUEUES_MAX = 1
    assert request_plan("prod", "billing", a_wish(brokers=("broker-a",)), asker, NOW).brokers == ["broker-a"]


def test_too_many_queues_are_refused(group: ConsumerGroup, asker: Asker, settings: Any) -> None:
    a_queue(group.cluster, queue_id=1)
    settings.RESET_QUEUES_MAX = 1
    with pytest.raises(ResetRefused, match="2 queues exceed RESET_QUEUES_MAX"):
        request_plan("prod", "billing", a_wish(), asker, NOW)


def test_what_is_wrong_in_itself_is_told_apart(group: ConsumerGroup, asker: Asker) -> None:
    with pytest.raises(ValueRefused):
        request_plan("prod", "billing", a_wish(ResetKind.TIME, "noon"), asker, NOW)
