"""Calls about single queues: what is asked for, and what becomes of the answers of a real broker."""

import pytest

from consumers.rocketmq.messages.stored import PullOutcome, QueueEntries, QueueEntry
from consumers.rocketmq.wire.codes import BrokerRefused, RemoteProtocolError
from consumers.rocketmq.wire.frames import Command
from tests.consumers.rocketmq.asking import Use, ask, golden_answer
from tests.consumers.rocketmq.fake_server import answering, reply

PULL = {
    "consumerGroup": "TOOLS_CONSUMER",
    "topic": "orders",
    "queueId": "0",
    "queueOffset": "4",
    "maxMsgNums": "1",
    "sysFlag": "4",
    "commitOffset": "0",
    "suspendTimeoutMillis": "0",
    "subscription": "*",
    "subVersion": "0",
}


@pytest.mark.parametrize(
    ("use", "name", "code", "ext_fields"),
    [
        (lambda broker: broker.pull("orders", 0, 4), "pull_found_11", 11, PULL),
        (lambda broker: broker.pull("orders", 0, 4, 2), "pull_two_11", 11, PULL | {"maxMsgNums": "2"}),
        (
            lambda broker: broker.consumer_offset("g", "T", 1),
            "consumer_offset_14",
            14,
            {"consumerGroup": "g", "topic": "T", "queueId": "1", "setZeroIfNotFound": "false"},
        ),
        (
            lambda broker: broker.consumer_offset("g", "T", 1, zero_if_in_memory=True),
            "consumer_offset_zero_14",
            14,
            {"consumerGroup": "g", "topic": "T", "queueId": "1"},
        ),
        (
            lambda broker: broker.search_offset("T", 1, 1700),
            "search_offset_29",
            29,
            {"topic": "T", "queueId": "1", "timestamp": "1700"},
        ),
        (
            lambda broker: broker.consume_queue("T", 1, 4, 64),
            "consume_queue_321",
            321,
            {"topic": "T", "queueId": "1", "index": "4", "count": "64"},
        ),
    ],
)
def test_it_asks_for(use: Use, name: str, code: int, ext_fields: dict[str, str]) -> None:
    seen: list[Command] = []
    assert ask(golden_answer(name, seen), use) is not None
    assert [(request.code, dict(request.ext_fields)) for request in seen] == [(code, ext_fields)]


@pytest.mark.parametrize(
    ("name", "outcome", "offsets", "next_offset"),
    [
        ("pull_found_11", PullOutcome.FOUND, [4], 5),
        ("pull_two_11", PullOutcome.FOUND, [4, 5], 6),
        ("pull_end_11", PullOutcome.NO_MESSAGE_YET, [], 12),
        ("pull_moved_11", PullOutcome.MOVED, [], 12),
    ],
)
def test_a_pull_is_found_or_says_why_not(name: str, outcome: PullOutcome, offsets: list[int], next_offset: int) -> None:
    pulled = ask(golden_answer(name), lambda broker: broker.pull("orders", 0, 4))
    assert (pulled.outcome, [message.queue_offset for message in pulled.messages]) == (outcome, offsets)
    assert (pulled.next_offset, pulled.min_offset, pulled.max_offset) == (next_offset, 0, 12)


def test_a_pull_of_a_message_that_is_being_removed_is_to_be_tried_again() -> None:
    fields = {"nextBeginOffset": "6"}
    behaviour = answering(lambda request: reply(request, 20, ext_fields=fields, remark="MESSAGE_WAS_REMOVING"))
    pulled = ask(behaviour, lambda broker: broker.pull("orders", 0, 4))
    assert (pulled.outcome, pulled.next_offset, pulled.min_offset) == (PullOutcome.RETRY, 6, None)


@pytest.mark.parametrize(("name", "code"), [("pull_bad_queue_11", 29)])
def test_a_pull_that_is_refused_says_so(name: str, code: int) -> None:
    with pytest.raises(BrokerRefused) as caught:
        ask(golden_answer(name), lambda broker: broker.pull("orders", 9, 4))
    assert (caught.value.code, caught.value.request_code) == (code, 11)


@pytest.mark.parametrize(
    ("fields", "why"),
    [({}, "nextBeginOffset is missing"), ({"nextBeginOffset": "4x"}, "nextBeginOffset is not a whole number")],
)
def test_a_pull_without_its_fields_is_no_answer(fields: dict[str, str], why: str) -> None:
    with pytest.raises(RemoteProtocolError, match=why):
        ask(answering(lambda request: reply(request, 19, ext_fields=fields)), lambda broker: broker.pull("T", 0, 0))


@pytest.mark.parametrize(
    ("name", "offset"),
    [("consumer_offset_14", 4), ("consumer_offset_none_14", None), ("consumer_offset_zero_14", 0)],
)
def test_an_offset_that_was_never_committed_is_none(name: str, offset: int | None) -> None:
    assert ask(golden_answer(name), lambda broker: broker.consumer_offset("g", "T", 0)) == offset


def test_another_refusal_of_an_offset_is_not_taken_for_never_committed() -> None:
    with pytest.raises(BrokerRefused):
        ask(answering(lambda request: reply(request, 16)), lambda broker: broker.consumer_offset("g", "T", 0))


def test_a_consume_queue_gives_the_hashes_of_tags() -> None:
    found = ask(golden_answer("consume_queue_321"), lambda broker: broker.consume_queue("orders", 0, 4, 3))
    assert found == QueueEntries(
        (QueueEntry(1054, 266, 2598920), QueueEntry(1320, 256, 0), QueueEntry(1576, 266, 2598919)), 0, 12
    )


def test_beyond_its_end_a_consume_queue_has_no_entries() -> None:
    found = ask(golden_answer("consume_queue_end_321"), lambda broker: broker.consume_queue("orders", 0, 12, 3))
    assert found == QueueEntries((), None, None)


@pytest.mark.parametrize("more", ['"extendDataJson":"{}"', '"msg":"Cq extend not exist!addr: -5"'])
def test_an_entry_with_an_extension_tells_no_hash(more: str) -> None:
    entry = f'{{"physicOffset":1,"physicSize":2,"tagsCode":-5,{more}}}'
    body = f'{{"maxQueueIndex":1,"minQueueIndex":0,"queueData":[{entry}]}}'.encode()
    found = ask(answering(lambda request: reply(request, body=body)), lambda broker: broker.consume_queue("T", 0, 0, 1))
    assert found.entries == (QueueEntry(1, 2, None),)
