"""What was found on the brokers, joined with members, offsets, readings and repeats: each part, and each unknown."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from consumers.lake.store import Lake
from consumers.messages.joined import FoundCopies, QueueOffset, QueuePlace, SearchedPlace, StoredCopy
from consumers.messages.queries import MOST_MESSAGES, message_attempts
from consumers.messages.rows import AttemptRow, MessageAttemptsRow
from consumers.models import ConsumerGroup, Queue
from consumers.vocabulary.times import microseconds
from tests.consumers.messages.made_copies import KINDS, a_copy
from tests.ownership_rows import a_member, it_held, it_subscribed, readings_every
from tests.pipeline_rows import PLACE, put
from tests.rebalance_rows import a_part, a_repeat
from tests.reset_rows import a_reset, a_reset_queue
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, ago

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("history")]
# Copies are stored so many seconds after an hour ago.
BEFORE = 3600


@pytest.fixture
def history(tmp_path: Path, settings: Any) -> Lake:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / "lake")
    return Lake.at(settings.CONSUMERSCOPE_LAKE)


@pytest.fixture
def group() -> ConsumerGroup:
    cluster = a_cluster(read_at=None)
    a_broker(cluster)
    readings_every(cluster, 15, 3700)
    a_queue(cluster)
    a_queue(cluster, KINDS["retry"], kind="retry")
    subscribed = [{"topic": "Orders", "expression": "*", "expression_type": "TAG"}]
    return a_group(cluster, subscriptions=subscribed)


def queue(topic: str = "Orders") -> Queue:
    return Queue.objects.get(topic__name=topic)


def found(*copies: StoredCopy, offset: int | None = None, **more: Any) -> FoundCopies:
    """`offset`: the group's, of every queue."""
    offsets = tuple(QueueOffset(place, offset) for place in {copy.place for copy in copies})
    values = {"at": NOW, "wanted": "U1", "others": (), "searched": (), "offsets": offsets, "calls": 4}
    return FoundCopies(copies=copies, **(values | more))  # type: ignore[arg-type]


def original(seconds_ago: float, **fields: Any) -> StoredCopy:
    return a_copy("original", BEFORE - seconds_ago, **({"offset": 900} | fields))


def only(answer: MessageAttemptsRow) -> AttemptRow:
    [attempt] = answer.attempts
    return attempt


def it_was_polled(lake: Lake, *polls: tuple[float, int | None], topic: str = "Orders") -> None:
    """How many seconds ago, and the consumer offset of the queue."""
    rows = [{**PLACE, "topic": topic, "taken_at": ago(seconds), "consumer_offset": offset} for seconds, offset in polls]
    put(lake, "readings", rows)


def a_steady_member(group: ConsumerGroup, client_id: str = "a@1", topic: str = "Orders") -> None:
    a_member(group, client_id, 3700)
    it_subscribed(group, client_id, 3700, topic=topic)
    it_held(group, queue(topic), client_id, 3700)


def test_a_consumed_message_was_delivered_until_a_poll_saw_it_past_by_who_held_its_queue(
    group: ConsumerGroup, history: Lake
) -> None:
    a_steady_member(group)
    it_was_polled(history, (615, 880), (600, 900), (585, 920))
    answer = message_attempts(group, found(original(610), offset=920))
    [message] = answer.messages
    [delivery] = message.deliveries
    assert (delivery.after, delivery.before, delivery.owner) == (ago(610), ago(585), "a@1")
    assert message.deliveries_low == 1
    assert message.sentence == "Delivered at least once: 02:49:50–02:50:15 by a@1, committed."
    assert (only(answer).progress, only(answer).owner) == ("consumed", "a@1")


def test_a_message_that_waits_has_no_delivery_and_the_owner_of_its_queue(group: ConsumerGroup) -> None:
    a_steady_member(group)
    answer = message_attempts(group, found(original(60), offset=900))
    assert (only(answer).progress, only(answer).owner) == ("waiting", "a@1")
    assert answer.messages[0].sentence == "No delivery is known."


def test_a_member_that_left_says_by_when(group: ConsumerGroup, history: Lake) -> None:
    a_member(group, "a@1", 3700, gone_by=570)
    it_subscribed(group, "a@1", 3700, 585, 570)
    it_held(group, queue(), "a@1", 3700, 585, 570)
    it_was_polled(history, (615, 880), (600, 900), (586, 920))
    answer = message_attempts(group, found(original(610), offset=920))
    [owner] = only(answer).owners
    assert (owner.client_id, owner.left_after, owner.left_before) == ("a@1", ago(585), ago(570))
    assert "by a@1 (left by 02:50:30)" in answer.messages[0].sentence


def test_each_attempt_until_the_dead_letter_is_a_delivery(group: ConsumerGroup) -> None:
    a_steady_member(group)
    a_steady_member_of_retries(group)
    copies = [
        original(600),
        a_copy("delayed", BEFORE - 599, 1),
        a_copy("retry", BEFORE - 589, 1),
        a_copy("dead", BEFORE - 588, 2),
    ]
    answer = message_attempts(group, found(*copies, offset=1000))
    assert [(one.kind, one.reconsume_times, one.owner) for one in answer.attempts] == [
        ("original", 0, "a@1"),
        ("retry", 1, "a@1"),
        ("dead_letter", 2, None),
    ]
    [message] = answer.messages
    assert message.deliveries_low == 2
    assert message.sentence == (
        "Delivered at least 2 times: 02:50:00–02:50:01 by a@1, sent back; 02:50:11–02:50:12 by a@1, dead-lettered."
    )


def a_steady_member_of_retries(group: ConsumerGroup) -> None:
    it_subscribed(group, "a@1", 3700, topic=KINDS["retry"])
    it_held(group, queue(KINDS["retry"]), "a@1", 3700)


def crash_at(seconds_ago: float, **part: Any) -> dict[str, Any]:
    at = ago(seconds_ago)
    times = {"after_us": microseconds(at - timedelta(seconds=15)), "at_us": microseconds(at)}
    return {"at": at, "parts": [a_part(at, **(times | part))]}


@pytest.mark.parametrize(("offset", "certain"), [(939, True), (940, False)])
def test_a_crash_that_covers_it_is_named_and_certain_for_the_least_that_came_again(
    group: ConsumerGroup, history: Lake, offset: int, certain: bool
) -> None:
    """40 to 120 messages from 900 on came again."""
    a_repeat(group, **crash_at(590))
    it_was_polled(history, (605, 900), (590, 900), (575, 1100))
    answer = message_attempts(group, found(original(610, offset=offset), offset=1100))
    name = "prod/billing/consumer_crash/2026-03-14T02:50:10.000000Z"
    assert only(answer).repeat == name
    assert [(one.cause, one.certain) for one in only(answer).repeats] == [("consumer_crash", certain)]
    assert answer.messages[0].deliveries_low == (2 if certain else 1)
    assert [one.repeat for one in answer.messages[0].deliveries] == [name, None]
    assert ("possibly" in answer.messages[0].sentence) is not certain


def test_a_crash_of_other_offsets_does_not_cover_it(group: ConsumerGroup) -> None:
    a_repeat(group, **crash_at(590))
    answer = message_attempts(group, found(original(610, offset=1020), offset=1100))
    assert (only(answer).repeat, only(answer).repeats) == (None, [])
    assert only(answer).unknown["repeat"] == "no known repeat covers it"


def test_retries_of_a_minute_cover_the_copies_that_arrived_in_it(group: ConsumerGroup) -> None:
    whole = {"topic": KINDS["retry"], "broker": None, "queue_id": None, "from_offset": None, "until_offset": None}
    a_repeat(group, cause="wrong_ack", source="retries", **crash_at(580, **whole))
    answer = message_attempts(group, found(original(600), a_copy("retry", BEFORE - 585, 1, offset=9), offset=1000))
    assert [(one.kind, bool(one.repeat)) for one in answer.attempts] == [("original", False), ("retry", True)]
    assert answer.messages[0].deliveries_low == 2


def test_an_offset_that_a_reset_set_past_it_proves_no_delivery(group: ConsumerGroup, history: Lake) -> None:
    a_reset_queue(a_reset(group), before=900, target=1000, written_at=ago(590))
    it_was_polled(history, (600, 900), (585, 1000))
    answer = message_attempts(group, found(original(610), offset=1000))
    assert answer.messages[0].deliveries_low == 0
    assert answer.messages[0].sentence.startswith("No delivery is certain: possibly ")


UNKNOWN_OFFSETS = [
    ({"message_model": "BROADCASTING"}, "members of a broadcasting group keep offsets of their own"),
    ({"outside_store": "com.example.Store"}, "the group keeps its offsets outside of the brokers"),
    ({"consume_type": "CONSUME_POP"}, "POP moves the offset when a message is handed out, not when it is acknowledged"),
]


@pytest.mark.parametrize(("fields", "why"), UNKNOWN_OFFSETS)
def test_of_some_groups_the_offset_does_not_say_what_was_consumed(
    group: ConsumerGroup, fields: dict[str, Any], why: str
) -> None:
    for name, value in fields.items():
        setattr(group, name, value)
    answer = message_attempts(group, found(original(610), offset=1000))
    assert (only(answer).progress, only(answer).unknown["progress"]) == (None, why)
    assert answer.messages[0].deliveries == []


def test_a_queue_without_an_offset_is_unknown_and_not_waiting(group: ConsumerGroup) -> None:
    answer = message_attempts(group, found(original(610), offset=None))
    assert only(answer).progress is None
    assert only(answer).unknown["progress"] == "the group has not committed an offset for this queue"


def test_an_offset_that_could_not_be_read_says_why(group: ConsumerGroup) -> None:
    copy = original(610)
    unread = QueueOffset(copy.place, None, "offset_unread", {"error": "connection refused"})
    answer = message_attempts(group, found(copy, offsets=(unread,)))
    assert only(answer).unknown["progress"] == "the group's offset could not be read: connection refused"


@pytest.mark.parametrize(
    ("expression", "kind", "tags", "progress"),
    [
        ("TagA || TagB", "TAG", "TagB", "consumed"),
        ("TagA || TagB", "TAG", "TagC", "filtered"),
        ("TagA", None, None, "filtered"),
        ("*", "TAG", "TagC", "consumed"),
        ("amount > 5", "SQL92", "TagC", None),
    ],
)
def test_what_the_group_does_not_subscribe_to_was_passed_and_not_delivered(
    group: ConsumerGroup, expression: str, kind: str | None, tags: str | None, progress: str | None
) -> None:
    group.subscriptions = [{"topic": "Orders", "expression": expression, "expression_type": kind}]
    answer = message_attempts(group, found(original(610, tags=tags), offset=1000))
    assert only(answer).progress == progress
    assert answer.messages[0].deliveries_low == (1 if progress == "consumed" else 0)


def test_without_polls_from_then_it_is_said_until_when_they_were_looked_at(group: ConsumerGroup) -> None:
    answer = message_attempts(group, found(original(610), offset=1000))
    [delivery] = answer.messages[0].deliveries
    assert delivery.before is None
    assert delivery.unknown["before"] == "no poll until 2026-03-14 03:00:00 UTC saw the offset pass it"
    assert delivery.sentence == "after 02:49:50, member unknown, committed"


@pytest.mark.parametrize(("hours", "is_known"), [(3, True), (8, False)])
def test_a_message_that_waited_for_hours_is_looked_for_in_the_first_of_them(
    group: ConsumerGroup, history: Lake, hours: int, is_known: bool
) -> None:
    it_was_polled(history, (3600 * hours - 60, 900), (1000, 1000))
    answer = message_attempts(group, found(original(3600 * hours), offset=1000))
    [delivery] = answer.messages[0].deliveries
    assert delivery.before == (ago(1000) if is_known else None)
    assert answer.messages[0].deliveries_low == 1


def test_a_history_that_is_too_long_to_read_says_so(
    group: ConsumerGroup, history: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("consumers.messages.history.MOST_READINGS", 1)
    it_was_polled(history, (600, 900), (585, 1000))
    answer = message_attempts(group, found(original(610), offset=1000))
    [delivery] = answer.messages[0].deliveries
    assert delivery.before is None
    assert delivery.unknown["before"] == "the history could not be read: More than 1 rows."


def test_a_queue_that_no_poll_has_seen_has_no_known_owner(group: ConsumerGroup) -> None:
    elsewhere = QueuePlace("Orders", "broker-b", 3)
    answer = message_attempts(group, found(original(610, place=elsewhere), offset=1000))
    assert only(answer).owner is None
    assert only(answer).unknown["owner"] == "no poll has seen this queue"


@pytest.mark.parametrize(
    ("membership_at", "why"),
    [(ago(20), "the group had no member"), (None, "the group's members have not been asked yet")],
)
def test_without_a_known_member_the_owner_is_unknown_with_its_reason(
    group: ConsumerGroup, membership_at: datetime | None, why: str
) -> None:
    group.membership_at = membership_at
    a_member(group, "a@1", 3700, gone_by=2000)
    answer = message_attempts(group, found(original(60), offset=900))
    assert only(answer).owner is None
    assert why in only(answer).unknown["owner"]


def test_several_members_are_named_and_none_is_taken_for_the_owner(group: ConsumerGroup) -> None:
    a_steady_member(group, "a@1")
    a_steady_member(group, "b@2")
    answer = message_attempts(group, found(original(60), offset=900))
    assert sorted(one.client_id for one in only(answer).owners) == ["a@1", "b@2"]
    assert only(answer).unknown["owner"] == "several members held the queue then"


def test_a_copy_on_a_delay_level_says_when_it_is_due(group: ConsumerGroup) -> None:
    due: datetime = NOW + timedelta(seconds=30)
    copies = [original(60), a_copy("delayed", BEFORE - 50, 1, due_at=due), a_copy("delayed", BEFORE - 40, 1)]
    answer = message_attempts(group, found(*copies, offset=900))
    assert [(one.kind, one.due_at) for one in answer.attempts] == [
        ("original", None),
        ("delayed", due),
        ("delayed", None),
    ]
    assert [one.unknown.get("due_at") for one in answer.attempts] == [
        "it does not wait on a delay level",
        None,
        "the broker did not report when it is due",
    ]


def test_what_was_not_searched_makes_the_answer_incomplete(group: ConsumerGroup) -> None:
    searched = (
        SearchedPlace("Orders", "broker-a", 1),
        SearchedPlace("%DLQ%billing", "broker-b", 0, "lookup_budget_used", {"calls": 160}),
    )
    answer = message_attempts(group, found(original(60), offset=900, searched=searched))
    assert not answer.complete
    assert [one.unknown_reason for one in answer.searched] == [
        None,
        "not searched: the look-up has used its 160 calls",
    ]
    assert message_attempts(group, found(original(60), offset=900, searched=searched[:1])).complete


def test_nothing_found_is_an_answer_too(group: ConsumerGroup) -> None:
    answer = message_attempts(group, found())
    assert (answer.messages, answer.attempts, answer.sent_twice) == ([], [], None)


def test_two_messages_with_one_key_were_sent_twice_and_are_no_repeated_consumption(group: ConsumerGroup) -> None:
    other = original(50, message_id="U2", stored_id="other")
    answer = message_attempts(group, found(original(60), offset=900, others=(other,)))
    assert answer.sent_twice is not None
    assert (answer.sent_twice.cause, answer.sent_twice.is_repeat) == ("sent_twice", False)
    assert [one.message_id for one in answer.sent_twice.sends] == ["U1", "U2"]
    assert answer.sent_twice.sentence == (
        "Sent 2 times: these messages share a key and have different IDs. This is no repeated consumption."
    )


def test_messages_that_share_a_key_with_other_bodies_may_be_different_ones(group: ConsumerGroup) -> None:
    other = original(50, message_id="U2", stored_id="other", digest="d2")
    answer = message_attempts(group, found(original(60), offset=900, others=(other,)))
    assert answer.sent_twice is not None
    assert [one.same_body for one in answer.sent_twice.sends] == [True, False]
    assert "Their bodies differ" in answer.sent_twice.sentence


def test_one_id_that_was_stored_twice_was_sent_again_by_its_producer(group: ConsumerGroup) -> None:
    answer = message_attempts(group, found(original(60), original(55, stored_id="again", offset=901), offset=900))
    assert answer.sent_twice is not None
    assert answer.sent_twice.sentence.startswith("Stored 2 times with one ID: its producer sent it again.")


@pytest.mark.parametrize(
    "other",
    [
        original(50, message_id="U2", stored_id="other", place=QueuePlace("Bills", "broker-a", 0)),
        original(50, stored_id="other", resent=True),
    ],
)
def test_another_topic_and_a_resend_of_ours_are_not_sent_twice(group: ConsumerGroup, other: StoredCopy) -> None:
    assert message_attempts(group, found(original(60), offset=900, others=(other,))).sent_twice is None


def test_of_a_key_that_many_messages_have_the_first_are_shown(group: ConsumerGroup) -> None:
    many = [original(60 - n, message_id=f"U{n}", stored_id=f"s{n}") for n in range(MOST_MESSAGES + 1)]
    answer = message_attempts(group, found(*many, offset=900))
    assert len(answer.messages) == MOST_MESSAGES
    assert "messages" in answer.unknown
    assert not answer.complete
