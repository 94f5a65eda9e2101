"""Bodies of 203, 307 and 400."""

import json

import pytest

from consumers.rocketmq.bodies.client_bodies import (
    AssignedQueue,
    ClientConnection,
    ConsumeStatus,
    GroupConnections,
    PopQueue,
    ProcessQueue,
    Subscription,
    assigned_queues,
    group_connections,
    may_hold,
    running_info,
)
from consumers.rocketmq.wire.codes import RemoteProtocolError
from tests.consumers.rocketmq.golden import golden

QUEUE = '{"brokerName":"b","queueId":1,"topic":"T"}'
EMPTY = {"mqTable": "{}", "mqPopTable": "{}", "properties": "{}", "statusTable": "{}", "subscriptionSet": "[]"}


def info_body(**tables: str) -> bytes:
    return ("{" + ",".join(f'"{name}":{value}' for name, value in {**EMPTY, **tables}.items()) + "}").encode()


def test_it_reads_the_members_of_a_group_of_a_real_broker() -> None:
    assert group_connections(golden("connections_203").body) == GroupConnections(
        online=True,
        clients=[ClientConnection("127.0.0.1@billing-1", "127.0.0.1:59970", "JAVA", 493)],
        consume_type="CONSUME_PASSIVELY",
        message_model="CLUSTERING",
        consume_from_where="CONSUME_FROM_FIRST_OFFSET",
        subscriptions=[
            Subscription("orders", "*", "TAG", (), 1795257822306),
            Subscription("%RETRY%billing", "*", "TAG", (), 1795257827343),
        ],
    )


def test_it_sorts_the_tags_of_a_subscription() -> None:
    subscription = {"topic": "T", "subString": "b || a", "tagsSet": ["b", "a"], "subVersion": 0}
    body = json.dumps({"connectionSet": [], "subscriptionTable": {"T": subscription}}).encode()
    assert group_connections(body) == GroupConnections(
        online=True, subscriptions=[Subscription("T", "b || a", None, ("a", "b"), None)]
    )


@pytest.mark.parametrize(
    ("connection", "why"),
    [
        ('{"clientAddr":"a:1","language":"JAVA","version":1}', "clientId is missing"),
        ('{"clientId":"c","language":"JAVA","version":1}', "clientAddr is missing"),
        ('{"clientId":"c","clientAddr":"a:1","language":null,"version":1}', "language is missing"),
        ('{"clientId":"c","clientAddr":"a:1","language":"JAVA","version":"1"}', "version is not a whole number"),
        ('"c"', r"connectionSet\.0 is not an object"),
    ],
)
def test_it_names_what_is_wrong_with_a_member(connection: str, why: str) -> None:
    with pytest.raises(RemoteProtocolError, match=rf"GET_CONSUMER_CONNECTION_LIST \(203\).*{why}"):
        group_connections(f'{{"connectionSet":[{connection}],"subscriptionTable":{{}}}}'.encode())


def test_it_reads_what_a_real_client_says_of_itself() -> None:
    info = running_info(golden("running_info_307").body)
    queues = {(queue.topic, queue.queue_id): queue for queue in info.queues}
    assert len(queues) == 5
    assert info.properties["PROP_CLIENT_VERSION"] == "V5_4_0"
    assert [subscription.topic for subscription in info.subscriptions] == ["%RETRY%billing", "orders"]
    assert info.status["orders"].consume_ok_tps is not None
    assert (info.pop_queues, info.jstack) == ([], None)
    assert (queues["orders", 0].commit_offset, queues["orders", 0].cached_min) == (10, None)


def test_a_client_without_an_offset_in_its_memory_has_none() -> None:
    queues = running_info(golden("running_info_307").body).queues
    assert [queue.commit_offset for queue in queues if queue.topic == "%RETRY%billing"] == [None]


def test_it_reads_a_queue_that_holds_messages() -> None:
    value = (
        '{"cachedMsgCount":4,"cachedMsgMaxOffset":10,"cachedMsgMinOffset":7,"cachedMsgSizeInMiB":12,'
        '"commitOffset":7,"droped":true,'
        '"lastConsumeTimestamp":3,"lastLockTimestamp":0,"lastPullTimestamp":2,"locked":true}'
    )
    assert running_info(info_body(mqTable=f"{{{QUEUE}:{value}}}")).queues == [
        ProcessQueue("T", "b", 1, 7, 7, 10, 4, True, True, 2, 3, last_lock_ms=None, cached_mib=12)
    ]


@pytest.mark.parametrize(
    ("cached", "taken", "held"),
    [
        ((4, 7, 10), (0, 0, 0), (7, 10, 4)),
        ((4, 8, 11), (1, 7, 7), (7, 11, 5)),
        # All that an orderly client holds may be in the hands of its listener.
        ((0, 0, 0), (2, 7, 8), (7, 8, 2)),
        ((0, 0, 0), (0, 0, 0), (None, None, 0)),
    ],
)
def test_messages_that_an_orderly_client_works_on_are_held(cached, taken, held) -> None:
    fields = {"commitOffset": 7}
    for what, numbers in (("cachedMsg", cached), ("transactionMsg", taken)):
        fields |= dict(zip((f"{what}Count", f"{what}MinOffset", f"{what}MaxOffset"), numbers, strict=True))
    [queue] = running_info(info_body(mqTable=f"{{{QUEUE}:{json.dumps(fields)}}}")).queues
    assert (queue.cached_min, queue.cached_max, queue.cached_count) == held


def test_what_a_client_does_not_say_of_a_queue_is_unknown() -> None:
    table = f'{{{QUEUE}:{{"cachedMsgCount":0,"cachedMsgMinOffset":0,"cachedMsgMaxOffset":0,"commitOffset":0}}}}'
    assert running_info(info_body(mqTable=table)).queues == [
        ProcessQueue("T", "b", 1, 0, None, None, 0, None, None, None, None, None, None)
    ]


def test_it_reads_queues_that_are_popped() -> None:
    table = '{{"brokerName":"b","queueId":-1,"topic":"T"}:{"droped":false,"lastPopTimestamp":5,"waitAckCount":9}}'
    assert running_info(info_body(mqPopTable=table)).pop_queues == [PopQueue("T", "b", -1, 9, False, 5)]


def test_a_client_before_5_0_has_no_queues_that_are_popped() -> None:
    assert running_info(info_body(mqPopTable="null")).pop_queues == []


def test_it_reads_the_rates_of_a_topic() -> None:
    table = '{"T":{"consumeFailedMsgs":2,"consumeFailedTPS":0.06,"consumeOKTPS":1,"consumeRT":0.02,"pullRT":1186.3}}'
    assert running_info(info_body(statusTable=table)).status == {"T": ConsumeStatus(1186.3, None, 0.02, 1.0, 0.06, 2)}


def test_it_reads_a_thread_dump() -> None:
    assert running_info(info_body(jstack=r'"main {0:1}\n\tat Foo.java"')).jstack == "main {0:1}\n\tat Foo.java"


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        ({"mqTable": "null"}, "field mqTable is missing"),
        ({"mqTable": f'{{{QUEUE}:{{"commitOffset":1}}}}'}, "cachedMsgCount is missing"),
        ({"mqTable": f'{{{QUEUE}:{{"cachedMsgCount":1,"commitOffset":1}}}}'}, "cachedMsgMinOffset is missing"),
        ({"mqTable": f'{{{QUEUE}:{{"cachedMsgCount":0}}}}'}, "commitOffset is missing"),
        ({"mqPopTable": f"{{{QUEUE}:{{}}}}"}, "waitAckCount is missing"),
        ({"properties": '{"a":1}'}, r"properties\.a is not text"),
        ({"properties": "{1:2}"}, "has the key 1, which is not text"),
        ({"statusTable": '{"T":{"pullRT":"1"}}'}, "pullRT is not a number"),
        ({"subscriptionSet": "[{}]"}, r"subscriptionSet\.0\.topic is missing"),
        ({"subscriptionSet": "{}"}, "subscriptionSet is not a list"),
    ],
)
def test_it_names_what_is_wrong_with_what_a_client_says(tables: dict[str, str], why: str) -> None:
    with pytest.raises(RemoteProtocolError, match=rf"GET_CONSUMER_RUNNING_INFO \(307\).*{why}"):
        running_info(info_body(**tables))


def test_it_reads_what_a_real_broker_gives_a_client() -> None:
    given = [AssignedQueue("orders", "broker-a", queue, "PULL") for queue in (1, 0)]
    assert assigned_queues(golden("query_assignment_400").body) == given


def test_a_real_broker_has_no_answer_about_a_topic_that_it_does_not_know() -> None:
    assert assigned_queues(golden("query_assignment_unknown_400").body) is None


def test_it_reads_the_queues_that_a_broker_gives_a_client() -> None:
    entries = f'[{{"messageQueue":{QUEUE},"mode":"PULL"}},{{"messageQueue":{QUEUE},"mode":"POP"}}]'
    assert assigned_queues(f'{{"messageQueueAssignments":{entries}}}'.encode()) == [
        AssignedQueue("T", "b", 1, "PULL"),
        AssignedQueue("T", "b", 1, "POP"),
    ]


@pytest.mark.parametrize(
    ("body", "given"),
    [(b"{}", None), (b'{"messageQueueAssignments":null}', None), (b'{"messageQueueAssignments":[]}', [])],
)
def test_a_broker_without_an_answer_is_not_one_that_gives_nothing(
    body: bytes, given: list[AssignedQueue] | None
) -> None:
    assert assigned_queues(body) == given


def test_it_names_what_is_wrong_with_an_assignment() -> None:
    with pytest.raises(RemoteProtocolError, match=r"QUERY_ASSIGNMENT \(400\).*0\.messageQueue is missing"):
        assigned_queues(b'{"messageQueueAssignments":[{"mode":"PULL"}]}')


LIMITS = {"pullThresholdForQueue": "1000", "consumeConcurrentlyMaxSpan": "2000", "pullBatchSize": "32"}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (LIMITS, 2032),
        (LIMITS | {"pullThresholdForQueue": "5000", "pullBatchSize": "64"}, 5064),
        ({name: value for name, value in LIMITS.items() if name != "pullBatchSize"}, None),
        (LIMITS | {"consumeConcurrentlyMaxSpan": "many"}, None),
        (None, None),
    ],
)
def test_a_client_holds_no_more_than_its_settings_let_it(settings: dict[str, str] | None, expected: int | None) -> None:
    assert may_hold(settings) == expected
