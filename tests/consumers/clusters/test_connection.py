"""The test of a cluster's connection: a name server that lists one broker, and what each does."""

import asyncio
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from redis import Redis

from consumers.clusters.connection import ConnectionCheck, ask_check, check_answer, check_connection, checked
from consumers.rocketmq.wire.codes import RequestCode
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.wire.frames import Command
from consumers.vocabulary.reasons import ConnectionCure
from tests.consumers.rocketmq.fake_server import Behaviour, answering, reply, served
from tests.world import NOW, a_cluster

NOBODY = "127.0.0.1:1"
BROKER_CALLS = [
    "GET_BROKER_CONFIG (26)",
    "GET_ALL_TOPIC_CONFIG (21)",
    "GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201)",
    "GET_ALL_CONSUMER_OFFSET (43)",
]
EMPTY = {
    RequestCode.GET_BROKER_CONFIG: b"brokerName=broker-a\n",
    RequestCode.GET_ALL_TOPIC_CONFIG: b'{"topicConfigTable":{},"dataVersion":{"counter":1,"timestamp":1}}',
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: (
        b'{"subscriptionGroupTable":{},"dataVersion":{"counter":1,"timestamp":1}}'
    ),
    RequestCode.GET_ALL_CONSUMER_OFFSET: b'{"offsetTable":{}}',
}


def healthy(request: Command) -> Command:
    return reply(request, body=EMPTY[RequestCode(request.code)])


def refusing(code: int, remark: str) -> Callable[[Command], Command]:
    return lambda request: reply(request, code, remark=remark)


async def hanging_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """As a broker that requires TLS does with plain text."""
    await reader.read(1)
    writer.close()


def of_broker(behaviour: Behaviour) -> ConnectionCheck:
    async def main() -> ConnectionCheck:
        async with served(behaviour) as broker:
            return await of_address(broker)

    return asyncio.run(main())


async def of_address(broker: str) -> ConnectionCheck:
    """Of a cluster whose name server lists a broker there."""
    table = f'{{"broker-a":{{"brokerAddrs":{{0:"{broker}"}},"brokerName":"broker-a","cluster":"c"}}}}'
    body = f'{{"brokerAddrTable":{table},"clusterAddrTable":{{"c":["broker-a"]}}}}'.encode()
    async with served(answering(lambda request: reply(request, body=body))) as server, ConnectionPool() as pool:
        return await checked(pool, [server])


def test_every_call_of_a_healthy_cluster_is_answered() -> None:
    found = of_broker(answering(healthy))
    assert [one.call for one in found.calls] == ["GET_BROKER_CLUSTER_INFO (106)", *BROKER_CALLS]
    assert found.failures == []


def test_where_nobody_listens_the_address_is_to_be_checked() -> None:
    async def main() -> ConnectionCheck:
        async with ConnectionPool() as pool:
            return await checked(pool, [NOBODY])

    [failure] = asyncio.run(main()).failures
    assert (failure.address, failure.cure) == (NOBODY, ConnectionCure.ADDRESS)


@pytest.mark.parametrize(
    ("code", "remark", "cure"),
    [
        (16, "username cannot be null.", ConnectionCure.KEYS),
        (16, "check signature failed.", ConnectionCure.KEYS),
        (16, "User:zz is not found.", ConnectionCure.KEYS),
        (16, "User:mon has no permission to access Cluster:c from 127.0.0.1", ConnectionCure.PERMISSION),
        (3, "request type 201 not supported", ConnectionCure.VERSION),
    ],
)
def test_a_refusal_names_what_is_missing(code: int, remark: str, cure: ConnectionCure) -> None:
    found = of_broker(answering(refusing(code, remark)))
    assert {one.cure for one in found.failures} == {cure}
    assert len(found.failures) == len(BROKER_CALLS)


def test_one_refused_call_does_not_hide_the_others() -> None:
    def all_but_groups(request: Command) -> Command:
        is_refused = request.code == RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG
        return refusing(16, "no permission")(request) if is_refused else healthy(request)

    found = of_broker(answering(all_but_groups))
    assert [one.call for one in found.failures] == ["GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201)"]
    assert len(found.calls) == 1 + len(BROKER_CALLS)


def test_a_broker_that_hangs_up_is_asked_once_and_tls_is_suggested() -> None:
    found = of_broker(hanging_up)
    assert [(one.peer, one.cure) for one in found.failures] == [("broker-a", ConnectionCure.TLS)]


def test_where_no_broker_listens_the_address_that_it_announces_is_to_be_checked() -> None:
    [failure] = asyncio.run(of_address(NOBODY)).failures
    assert (failure.peer, failure.cure) == ("broker-a", ConnectionCure.ANNOUNCED_ADDRESS)


def test_what_speaks_another_protocol_is_told() -> None:
    async def http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    [failure] = of_broker(http).failures
    assert failure.cure == ConnectionCure.NOT_ROCKETMQ


@pytest.mark.django_db
def test_a_worker_answers_only_whoever_may_manage_clusters(redis: Redis) -> None:
    a_cluster(namesrv=NOBODY)
    eve = User.objects.create_user("eve")
    check_connection(f"consumerscope:connection:{eve.pk}:token", "prod")
    assert check_answer(eve.pk, "token", "prod") is None
    token = _asked(eve)
    check_connection(f"consumerscope:connection:{eve.pk}:{token}", "prod")
    answer = check_answer(eve.pk, token, "prod")
    assert answer is not None
    assert (answer.result, "no longer has" in str(answer.reason)) == (None, True)


@pytest.mark.django_db
def test_the_answer_is_that_of_who_asked_for_this_cluster(redis: Redis) -> None:
    a_cluster(namesrv=NOBODY)
    ada = User.objects.create_superuser("ada")
    token = _asked(ada)
    check_connection(f"consumerscope:connection:{ada.pk}:{token}", "prod")
    answer = check_answer(ada.pk, token, "prod")
    assert answer is not None
    assert answer.result is not None
    assert [one.cure for one in answer.result.failures] == [ConnectionCure.ADDRESS]
    assert check_answer(ada.pk, token, "other") is None
    assert check_answer(ada.pk + 1, token, "prod") is None


def _asked(user: User) -> str:
    return ask_check(user, "prod", NOW)
