"""What a kind was told by, in words and as numbers: only what the member said."""

from dataclasses import replace

import pytest

from consumers.retries.blocked import evidence_of, facts_of
from consumers.retries.heads import Sendbacks
from tests.consumers.retries.test_blocked_kinds import CONCURRENT, FAILING, FINE, HEAD, ORDERLY

ONE_BY_ONE = {"consumeMessageBatchMaxSize": "1", "PROP_THREADPOOL_CORE_SIZE": "2"}
FAIL = "0.9 msg/s of Stock failed at this member in its last minute, over all its queues"


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (replace(ORDERLY, status=FAILING), FAIL),
        (replace(ORDERLY, status=FAILING), "it last took a message of the queue 1 s before its last report"),
        (
            replace(ORDERLY, status=FINE),
            "an orderly listener with autoCommit=false that does not commit looks the same",
        ),
        (replace(CONCURRENT, status=FINE), "the member finished up to 46 messages behind it, or its tags exclude them"),
        (
            replace(CONCURRENT, status=FINE),
            "consumeTimeout is 15 min: messages that run longer are sent back while they run",
        ),
        (
            replace(CONCURRENT, status=FAILING, sendbacks=Sendbacks(arrive=False)),
            "no message arrived in the group's retry topic meanwhile",
        ),
        (
            replace(CONCURRENT, status=FAILING, sendbacks=Sendbacks(arrive=True)),
            "failed messages of the group arrive in its retry topic",
        ),
        (
            replace(CONCURRENT, status=FINE, settings={"pullThresholdForQueue": "3"}),
            "flow control: it has stopped pulling the queue (pullThresholdForQueue 3)",
        ),
        (
            replace(CONCURRENT, status=FINE, cached_mib=12, settings={"pullThresholdSizeForQueue": "11"}),
            "flow control: it has stopped pulling the queue (pullThresholdSizeForQueue 11)",
        ),
        (
            replace(CONCURRENT, status=FINE, settings={"pullThresholdForQueue": "1000"}),
            "flow control unknown: the member does not report its thresholds "
            "(defaults: pullThresholdSizeForQueue 100, consumeConcurrentlyMaxSpan 2,000)",
        ),
        (
            replace(CONCURRENT, status=FINE | {"consume_rt": 3800.0}, settings=ONE_BY_ONE),
            "its threads may all be busy: its messages took 1.9 of 2 on average",
        ),
        (
            replace(CONCURRENT, status=FINE, message_model="BROADCASTING"),
            "broadcasting group: failed messages are dropped, never sent back",
        ),
        (
            replace(CONCURRENT, commit_offset=90),
            "its offset in memory is 90, before the oldest cached message (100)",
        ),
        (
            replace(
                CONCURRENT,
                status={"consume_failed_tps": 0.0, "consume_ok_tps": 0.0},
                settings={"consumeThreadMax": "20"},
            ),
            "no message of the topic was finished: all 20 threads may be busy",
        ),
    ],
)
def test_a_fact_is_said_with_its_numbers(head, words):
    assert words in evidence_of(head)


def test_what_the_member_does_not_say_is_neither_said_nor_zero():
    silent = replace(
        HEAD,
        settings={},
        cached_max=None,
        cached_count=None,
        last_pull_at=None,
        last_consume_at=None,
        last_lock_at=None,
    )
    assert evidence_of(silent) == []
    assert {name for name, fact in facts_of(silent).items() if fact is not None} == {"last_heard_at"}
