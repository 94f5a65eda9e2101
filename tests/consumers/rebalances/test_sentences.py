"""Every cause in words, with its facts; what was not told is not said."""

import pytest
from django.utils.translation import override

from consumers.rebalances.sentences import evidence_sentence, log_line
from consumers.vocabulary.reasons import RebalanceCause
from tests.world import ago

AFTER, BEFORE = ago(66), ago(51)
BOUNDS = "between 02:58:54 and 02:59:09 UTC"
WHO = {"client_id": "search-3"}


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        ({"cause": "joined", "address": "127.0.0.1:50332"} | WHO, f"search-3 joined from 127.0.0.1:50332 {BOUNDS}"),
        ({"cause": "joined"} | WHO, f"search-3 joined {BOUNDS}"),
        ({"cause": "left"} | WHO, f"search-3 left {BOUNDS} · its final commit was seen"),
        ({"cause": "gone"} | WHO, f"search-3 left or crashed {BOUNDS}"),
        ({"cause": "silent"} | WHO, f"search-3 was dropped by its broker {BOUNDS} · it had stopped answering"),
        (
            {"cause": "reconnected", "before": "10.0.0.7:1", "after": "10.0.0.7:2"} | WHO,
            f"search-3 reconnected {BOUNDS} · 10.0.0.7:1 → 10.0.0.7:2 · without a restart",
        ),
        (
            {"cause": "restarted", "before": "2026-03-14T01:00:00Z", "after": "2026-03-14T02:59:00+00:00"} | WHO,
            f"search-3 restarted under the same id {BOUNDS} · 2026-03-14 01:00:00 UTC → 2026-03-14 02:59:00 UTC",
        ),
        (
            {"cause": "queue_count", "topic": "Orders", "before": 4, "after": 8},
            f"Orders went from 4 to 8 queues {BOUNDS}",
        ),
        ({"cause": "queue_count", "topic": "Orders"}, f"the number of queues of Orders changed {BOUNDS}"),
        (
            {"cause": "subscription", "topic": "Orders", "before": "*", "after": "EU"} | WHO,
            f"search-3 changed its subscription to Orders {BOUNDS} · * → EU",
        ),
        (
            {"cause": "strategy", "before": "AVG", "after": "CONSISTENT_HASH"} | WHO,
            f"search-3 assigns queues by another strategy {BOUNDS} · AVG → CONSISTENT_HASH",
        ),
        ({"cause": "broker", "broker": "broker-b"}, f"broker-b could not be read {BOUNDS}"),
        (
            {"cause": "pull_stuck", "topic": "Orders", "broker": "broker-a", "queue_id": 0} | WHO,
            f"search-3 took Orders/broker-a/0 again {BOUNDS} · it had not pulled for 120 s",
        ),
        ({"cause": "unknown"}, f"queues reassigned {BOUNDS} · no evidence of the cause"),
    ],
)
def test_a_cause_says_its_facts(found, sentence):
    assert evidence_sentence(found, AFTER, BEFORE) == sentence


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            {"cause": "joined", "as": "a second process under this id", "at": BEFORE.isoformat()} | WHO,
            f"search-3 joined {BOUNDS} · a second process under this id",
        ),
        (
            {"cause": "gone", "last_seen": ago(80).isoformat(), "at": ago(21).isoformat()} | WHO,
            "search-3 left or crashed between 02:58:40 and 02:59:39 UTC",
        ),
        (
            {"cause": "silent", "silent_since": ago(180).isoformat()} | WHO,
            f"search-3 was dropped by its broker {BOUNDS} · it had not answered since 02:57:00 UTC",
        ),
        (
            {"cause": "broker", "broker": "broker-b", "read_again_at": ago(30).isoformat()},
            "broker-b could be read again by 02:59:30 UTC",
        ),
        (
            {"cause": "pull_stuck", "topic": "Orders", "broker": "b", "queue_id": 1, "last_pull": ago(300).isoformat()},
            f"a member took Orders/b/1 again {BOUNDS} · it had not pulled since 02:55:00 UTC",
        ),
    ],
)
def test_a_cause_says_the_moments_that_it_was_told(found, sentence):
    assert evidence_sentence(found, AFTER, BEFORE) == sentence


def test_every_cause_has_its_words():
    for cause in RebalanceCause:
        assert not evidence_sentence({"cause": cause}, AFTER, BEFORE).startswith(f"{cause} between")


def test_without_a_reading_before_it_has_one_bound():
    assert evidence_sentence({"cause": "joined"} | WHO, None, BEFORE) == "search-3 joined by 02:59:09 UTC"


def test_a_later_change_of_the_same_rebalance_names_its_own_reading():
    found = {"cause": "joined", "at": ago(20).isoformat()} | WHO
    assert evidence_sentence(found, AFTER, BEFORE) == "search-3 joined by 02:59:40 UTC"


def test_a_fact_without_a_phrase_is_said_by_its_name():
    found = {"cause": "left", "memory_offset": 48211, "queues": None} | WHO
    assert evidence_sentence(found, AFTER, BEFORE).endswith("its final commit was seen · memory offset: 48,211")


def test_a_fact_of_digits_is_no_moment():
    found = {"cause": "strategy", "before": "20260314", "after": "2026"} | WHO
    assert evidence_sentence(found, AFTER, BEFORE).endswith("20260314 → 2026")


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        ("joined", "new consumer connected, group: billing "),
        ("gone", "from ConsumerGroupInfo groupChannelTable, consumer group: billing"),
        ("left", "unregister a consumer[billing] from consumerGroupInfo"),
        ("pull_stuck", "[BUG]doRebalance, billing, try remove unnecessary mq"),
    ],
)
def test_it_names_the_line_to_search_for(cause, text):
    line = log_line({"cause": cause}, "billing")
    assert line is not None
    assert line.text == text


def test_a_broker_that_was_not_read_wrote_no_line():
    assert log_line({"cause": "broker"}, "billing") is None


def test_no_word_of_a_cause_is_part_of_another():
    words = list(RebalanceCause)
    assert [(a, b) for a in words for b in words if a != b and a in b] == []


def test_chinese_says_when_before_what() -> None:
    with override("zh-hans"):
        sentence = evidence_sentence({"cause": "joined"} | WHO, AFTER, BEFORE)
    assert sentence == "02:58:54 与 02:59:09 UTC 之间，search-3 加入"
