"""Thread dumps: who may take one, what is audited, what is answered, and that a client is asked once at a time."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from consumers.clients.dumps import DUMP_PATIENCE, DumpedClient, _alone, take_dump
from consumers.jobs.asking import AnswerFailed
from consumers.jobs.hold import close_wires
from consumers.models import AuditEvent, Client as Member
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.frames import Command
from tests.consumers.clients.test_stacks import IDLE, LISTENER, block
from tests.consumers.rocketmq.fake_server import answering, reply, served
from tests.serving import beside
from tests.world import a_broker, a_client, a_cluster, a_group

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock", "peer")]
URL = "/api/v1/clients/prod/10.0.0.7@3312/threads/"
NAME = "ConsumeMessageThread_billing_1"
TEXT = block("main", 1, "WAITING", *IDLE) + block(NAME, 21, "TIMED_WAITING", *LISTENER)


@dataclass
class Peer:
    """A broker that passes on what its client says."""

    jstack: str | None = TEXT
    code: int = 0
    address: str = ""
    asked: list[Command] = field(default_factory=list)

    def answer(self, request: Command) -> Command:
        self.asked.append(request)
        assert request.code == RequestCode.GET_CONSUMER_RUNNING_INFO
        if self.code:
            return reply(request, self.code, remark="the client did not answer")
        said = {"properties": {}, "mqTable": {}, "subscriptionSet": [], "statusTable": {}, "jstack": self.jstack}
        return reply(request, body=json.dumps(said).encode())


@pytest.fixture
def peer(settings: Any, tmp_path: Path) -> Iterator[Peer]:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    peer = Peer()

    @asynccontextmanager
    async def serve() -> AsyncIterator[None]:
        async with served(answering(peer.answer)) as peer.address:
            yield

    with beside(serve):
        cluster = a_cluster()
        a_broker(cluster, address=peer.address)
        a_client(a_group(cluster), connections={"broker-a": ["10.0.0.7:50001"]})
        yield peer
        close_wires()


def test_whoever_may_not_is_refused_and_nobody_is_asked(api: Client, peer: Peer) -> None:
    answer = api.post(URL)
    assert (answer.status_code, "consumers.dump_threads" in answer.json()["detail"]) == (403, True)
    assert peer.asked == []


@pytest.mark.usefixtures("tasks_at_once")
def test_it_answers_the_threads_and_is_audited(operator_api: Client, peer: Peer) -> None:
    said = operator_api.post(URL).json()
    assert [(one["name"], one["is_working"]) for one in said["threads"]] == [("main", False), (NAME, True)]
    assert peer.asked[0].ext_fields["jstackEnable"] == "true"
    assert [(one.subject, one.sentence) for one in AuditEvent.objects.all()] == [
        ("prod: 10.0.0.7@3312", "Requested a thread dump.")
    ]


@pytest.mark.usefixtures("tasks_at_once")
def test_a_client_that_does_not_answer_is_said_so(operator_api: Client, peer: Peer) -> None:
    peer.code = ResponseCode.CONSUME_MSG_TIMEOUT
    answer = operator_api.post(URL)
    assert answer.status_code == 503
    assert "the client did not answer" in answer.json()["detail"]


def test_a_client_that_is_not_there_is_not_found(operator_api: Client) -> None:
    assert operator_api.post("/api/v1/clients/prod/nobody/threads/").status_code == 404


def test_a_client_without_stacks_is_said_so(peer: Peer) -> None:
    peer.jstack = None
    with pytest.raises(AnswerFailed, match="Only Java clients"):
        take_dump(DumpedClient("prod", "10.0.0.7@3312"))


def test_a_client_that_left_is_not_asked(peer: Peer) -> None:
    Member.objects.update(gone_by="2026-03-14T02:00:00Z")
    with pytest.raises(AnswerFailed, match="No broker lists the client now"):
        take_dump(DumpedClient("prod", "10.0.0.7@3312"))
    assert peer.asked == []


def test_a_second_dump_at_the_same_time_is_refused(peer: Peer) -> None:
    wanted = DumpedClient("prod", "10.0.0.7@3312")
    with _alone(wanted), pytest.raises(AnswerFailed, match="Another thread dump"):
        take_dump(wanted)
    assert peer.asked == []
    assert DUMP_PATIENCE.total_seconds() == 22
