"""What can be lost of the known world, one kind of knowledge at a time."""

from collections.abc import Callable

from consumers.models import (
    AlertEngine,
    Assignment,
    Broker,
    Client,
    ClientSubscription,
    ConsumerGroup,
    DeadLetter,
    DeadLetterLook,
    Delivery,
    DeliveryAttempt,
    GroupBroker,
    GroupState,
    GroupTotal,
    GroupWindow,
    Incident,
    PipelineRun,
    QueueSnapshot,
    QueueState,
    Reading,
    Rebalance,
    RebalanceTopic,
    Rung,
    StateChange,
)
from consumers.retries.volumes import VOLUMES
from consumers.vocabulary.states import UnknownReason
from tests.walk.world import BROKERS
from tests.world import a_reading, ago

LAST_GOOD = ago(300)


def everything_known(group: ConsumerGroup) -> None:
    pass


def dead_broker(group: ConsumerGroup) -> None:
    _break(group, "broker-b", reachable=False, last_read_at=LAST_GOOD, failing_since=LAST_GOOD)


def just_died_broker(group: ConsumerGroup) -> None:
    _break(group, "broker-b", reachable=False, last_read_at=ago(20), failing_since=ago(5))


def _break(group: ConsumerGroup, name: str, *, error: str | None = "connection refused", **fields: object) -> None:
    Broker.objects.filter(name=name).update(error=error, **fields)
    newest = Reading.objects.order_by("-taken_at")[0]
    newest.brokers = [{"name": n, "read": n != name, "error": error if n == name else None} for n in BROKERS]
    newest.complete = False
    newest.save()
    reason = f"{name}: {error}"
    GroupTotal.objects.update(
        lag_messages=None, lag_messages_at_least=120, unknown_queues=2,
        unknown_reason=reason, last_good_at=LAST_GOOD,
        expired_messages=None, dlq_messages=None,
    )  # fmt: skip


def never_read_broker(group: ConsumerGroup) -> None:
    _break(group, "broker-b", reachable=False, last_read_at=None, failing_since=ago(60), version=None)


def unasked_broker(group: ConsumerGroup) -> None:
    """The name server has just listed it."""
    Broker.objects.filter(name="broker-b").update(last_read_at=None, reachable=None, version=None)


def no_pipeline(group: ConsumerGroup) -> None:
    for model in (GroupState, QueueState, GroupWindow, PipelineRun, StateChange, Rebalance):
        model.objects.all().delete()


def stale_pipeline(group: ConsumerGroup) -> None:
    for model in (GroupState, QueueState):
        model.objects.update(judged_at=ago(3600))
    PipelineRun.objects.filter(started_at__gt=ago(60)).delete()


def polling_stopped(group: ConsumerGroup) -> None:
    Reading.objects.filter(taken_at__gt=ago(60)).delete()
    Broker.objects.update(last_read_at=ago(2900))


def no_name_server(group: ConsumerGroup) -> None:
    error = "no name server answered: connection refused"
    a_reading(group.cluster, ago(1), complete=False, brokers=[], error=error, queues=1, record_seconds=0.2)


def no_broker_known(group: ConsumerGroup) -> None:
    Broker.objects.all().delete()
    no_name_server(group)


def never_committed(group: ConsumerGroup) -> None:
    QueueSnapshot.objects.update(consumer_offset=None, pull_offset=None, unknown_reason=UnknownReason.NEVER_COMMITTED)
    GroupTotal.objects.update(
        lag_messages=None, lag_messages_at_least=None, never_committed_queues=7,
        unknown_reason=UnknownReason.NEVER_COMMITTED,
        expired_messages=None,
    )  # fmt: skip
    for model in (QueueState, GroupState):
        model.objects.update(
            state="OK", rule="never_committed", detail={}, time_lag_seconds=None, time_lag_kind="unknown"
        )


def offsets_lost(group: ConsumerGroup) -> None:
    QueueSnapshot.objects.update(
        consumer_offset=None, pull_offset=None, unknown_reason=UnknownReason.OFFSET_LOST, lost_offset=7, lost_at=ago(60)
    )
    GroupTotal.objects.update(
        lag_messages=None, lag_messages_at_least=None, lost_queues=7, unknown_queues=7,
        unknown_reason=UnknownReason.OFFSET_LOST,
        expired_messages=None,
    )  # fmt: skip


def not_sampled(group: ConsumerGroup) -> None:
    """Members are listed, and none of them has said anything yet."""
    QueueSnapshot.objects.update(pull_offset=None)
    Assignment.objects.all().delete()
    ClientSubscription.objects.all().delete()
    Client.objects.update(running_info_at=None, subscriptions=None, started_at=None, strategy=None, settings=None)


def silent_members(group: ConsumerGroup) -> None:
    not_sampled(group)
    Client.objects.update(running_info_error="timed out after 3 s")


def members_not_asked(group: ConsumerGroup) -> None:
    not_sampled(group)
    Client.objects.all().delete()
    ConsumerGroup.objects.update(
        online=None, members=None, membership_at=None, message_model=None, consume_type=None, subscriptions=[],
        consume_from_where=None,
    )  # fmt: skip


def unsampled_rebalance(group: ConsumerGroup) -> None:
    """That something happened is seen, and nothing of what."""
    ids = dict.fromkeys(("client_ids_before", "client_ids_after", "members_before", "members_after"))
    Rebalance.objects.update(**ids, started_after=None, settled_at=None, dated_at=None, cause="unknown", evidence=[])
    numbers = [field.name for field in RebalanceTopic._meta.fields if field.null]
    RebalanceTopic.objects.update(**dict.fromkeys(numbers), moves=[])


def min_offsets_unread(group: ConsumerGroup) -> None:
    QueueSnapshot.objects.update(min_offset=None)
    GroupTotal.objects.update(expired_messages=None)


def dead_letters_forbidden(group: ConsumerGroup) -> None:
    """They are counted, and no look has read one."""
    DeadLetter.objects.all().delete()
    DeadLetterLook.objects.update(indexed_from=None, indexed_to=None, error="it can be written only")


def silent_dead_letters(group: ConsumerGroup) -> None:
    """Messages that say nothing of themselves, in a queue of which one broker said nothing."""
    names = [field.name for field in DeadLetter._meta.fields if field.null]
    DeadLetter.objects.update(**dict.fromkeys(names))
    unread = {"indexed_from": None, "indexed_to": None, "min_offset": None, "broker_offset": None}
    look = DeadLetterLook(group=group, broker="broker-b", queue_id=1, looked_at=LAST_GOOD, error="timed out", **unread)
    look.save()


def consumer_ahead(group: ConsumerGroup) -> None:
    QueueSnapshot.objects.filter(queue__queue_id=1).update(
        consumer_offset=130, unknown_reason=UnknownReason.CONSUMER_AHEAD
    )
    GroupTotal.objects.update(
        lag_messages=None,
        lag_messages_at_least=120,
        unknown_queues=2,
        unknown_reason=UnknownReason.CONSUMER_AHEAD,
        expired_messages=15,
    )


def retries_unread(group: ConsumerGroup) -> None:
    """Members are asked, and brokers are for offsets; what is told of delays, settings and volumes is lost."""
    for model in (GroupBroker, Rung):
        model.objects.all().delete()
    Broker.objects.update(
        delays_error="timed out after 5 s", wheel=None, wheel_at=None, config_error="refused", config_at=None,
        permission=None, routed_permission=None, routed_at=None,
    )  # fmt: skip
    GroupWindow.objects.update(**dict.fromkeys(VOLUMES), volumes_unknown={})


def never_read_group(group: ConsumerGroup) -> None:
    """Only its name is known, by the configuration of a broker."""
    for model in (
        GroupState, QueueState, GroupWindow, StateChange, QueueSnapshot, GroupTotal, Assignment, Client, Rebalance,
        DeadLetter, DeadLetterLook,
    ):  # fmt: skip
        model.objects.all().delete()
    members_not_asked(group)


def never_read_cluster(group: ConsumerGroup) -> None:
    never_read_group(group)
    for model in (Reading, Broker):
        model.objects.all().delete()


def rules_not_evaluated(group: ConsumerGroup) -> None:
    AlertEngine.objects.all().delete()


def rules_evaluated_long_ago(group: ConsumerGroup) -> None:
    AlertEngine.objects.update(evaluated_at=LAST_GOOD, error="the database is locked", error_at=ago(10))


def incidents_unknown(group: ConsumerGroup) -> None:
    """They began before anything of them was known, and their rule and their channel say the least."""
    nulls = dict.fromkeys(("value", "worst_value", "value_at"))
    Incident.objects.update(**nulls, evidence="", unknown_since=LAST_GOOD, unknown_reason="broker-b is silent")
    Delivery.objects.update(status="waiting", sent_at=None, error="timed out", next_try_at=ago(-60))
    DeliveryAttempt.objects.update(ok=None, seconds=None, answer="")


# Worlds in which no rebalance was found: the walked one has no page.
# Worlds in which nobody knows of any client.
NO_CLIENT = frozenset({"members_not_asked", "never_read_group", "never_read_cluster"})
NO_REBALANCE = frozenset({"no_pipeline", "never_read_group", "never_read_cluster"})
WORLDS: dict[str, Callable[[ConsumerGroup], None]] = {
    lose.__name__: lose
    for lose in (
        everything_known, dead_broker, just_died_broker, never_read_broker, unasked_broker, no_pipeline, stale_pipeline,
        polling_stopped, no_name_server, no_broker_known, never_committed, offsets_lost, not_sampled, silent_members,
        members_not_asked, unsampled_rebalance, min_offsets_unread, retries_unread, dead_letters_forbidden,
        silent_dead_letters, consumer_ahead, never_read_group, never_read_cluster,
        rules_not_evaluated, rules_evaluated_long_ago, incidents_unknown,
    )
}  # fmt: skip
# Those in which pages or resources ask the database by other statements: for other brokers, of other times, one thing
# more or less. In the rest the same statements find other values, which is walked with SQLite alone.
OTHER_STATEMENTS = frozenset(
    {"everything_known", "dead_broker", "just_died_broker", "unasked_broker", "no_broker_known", "no_name_server"}
    | {"polling_stopped", "stale_pipeline", "never_read_cluster", "offsets_lost", "unsampled_rebalance"}
    | {"incidents_unknown"}
)
