"""A look into dead letters: what becomes rows, what goes, and what it may cost."""

from datetime import datetime, timedelta

import pytest

from consumers.dead_letters.index import IndexLimits, IndexPass, index_groups
from consumers.models import Broker, Cluster, ConsumerGroup, DeadLetter, DeadLetterLook
from consumers.rocketmq.wire.codes import RequestCode
from tests.consumers.dead_letters.index.looking import TOPIC, add, indexed, look, offsets, pulled, the_look
from tests.dead_letter_broker import DeadLetterBroker, stored_letter
from tests.world import NOW, a_group, a_total

pytestmark = pytest.mark.django_db


def test_each_letter_becomes_a_row_of_what_it_says(broker: DeadLetterBroker) -> None:
    broker.letters[TOPIC] = {7: stored_letter(7, properties={"TAGS": "paid", "ORIGIN_MESSAGE_ID": "FIRST"})}
    look()
    row = DeadLetter.objects.values().get()
    assert {name: row[name] for name in row if name not in ("id", "group_id")} == {
        "broker": "broker-a",
        "queue_id": 0,
        "offset": 7,
        "stored_id": "7F00000100002A9F0000000000001B58",
        "message_id": "UNIQ-7",
        "origin_topic": "Orders",
        "origin_message_id": "FIRST",
        "keys": "order-7",
        "tags": "paid",
        "reconsume_times": 4,
        "born_at": datetime.fromisoformat("2026-03-14T00:59:00Z"),
        "stored_at": datetime.fromisoformat("2026-03-14T01:00:00.007Z"),
        "size": 13,
        "sent_by_application": None,
        "seen_at": NOW,
    }


def test_what_is_read_is_noted_with_both_ends(broker: DeadLetterBroker) -> None:
    look()
    assert offsets() == [5, 6, 7, 8]
    assert (*indexed(), the_look().min_offset, the_look().broker_offset, the_look().error) == (5, 9, 5, 9, None)


def test_nothing_outside_the_queue_is_asked_for_and_nothing_is_committed(broker: DeadLetterBroker) -> None:
    look()
    assert {request.ext_fields["topic"] for request in broker.asked} == {TOPIC}
    asked = [request.ext_fields for request in broker.asked if request.code == RequestCode.PULL_MESSAGE]
    assert {(one["consumerGroup"], one["sysFlag"]) for one in asked} == {("TOOLS_CONSUMER", "4")}
    assert all(5 <= int(one["queueOffset"]) < 9 for one in asked)


def test_the_next_look_adds_what_came_since(broker: DeadLetterBroker) -> None:
    look()
    add(broker, 9, 10)
    broker.asked.clear()
    look(now=NOW + timedelta(seconds=30))
    assert (offsets(), indexed()) == ([5, 6, 7, 8, 9, 10], (5, 11))
    assert pulled(broker) == [8, 9]
    assert DeadLetter.objects.get(offset=8).seen_at == NOW


def test_letters_that_expired_go(broker: DeadLetterBroker) -> None:
    look()
    del broker.letters[TOPIC][5], broker.letters[TOPIC][6]
    look()
    assert (offsets(), indexed()) == ([7, 8], (7, 9))


@pytest.mark.parametrize("ends_at", [7, 9, 12])
def test_a_topic_that_was_made_anew_is_indexed_anew(broker: DeadLetterBroker, ends_at: int) -> None:
    look()
    anew = {offset: stored_letter(offset + 100) for offset in range(ends_at)}
    broker.letters[TOPIC] = {offset: _renumbered(letter, offset) for offset, letter in anew.items()}
    look()
    assert (offsets(), indexed()) == (list(range(ends_at)), (0, ends_at))
    assert set(DeadLetter.objects.values_list("message_id", flat=True)) == {f"UNIQ-{n + 100}" for n in range(ends_at)}


def _renumbered(letter: bytes, offset: int) -> bytes:
    return letter[:20] + offset.to_bytes(8, "big") + letter[28:]


def test_a_topic_that_is_gone_takes_its_letters_along(broker: DeadLetterBroker) -> None:
    look()
    del broker.letters[TOPIC]
    look()
    assert (offsets(), list(DeadLetterLook.objects.all())) == ([], [])


def test_only_the_newest_are_kept(broker: DeadLetterBroker) -> None:
    add(broker, *range(9, 109))
    look(kept=50)
    assert (offsets(), indexed(), the_look().min_offset) == (list(range(59, 109)), (59, 109), 5)
    add(broker, 109)
    look(kept=50)
    assert (offsets(), indexed()) == (list(range(60, 110)), (60, 110))


def test_the_newest_are_read_first_where_calls_run_out(broker: DeadLetterBroker) -> None:
    add(broker, *range(9, 109))
    assert look(calls=2).waiting == 1
    assert (offsets(), indexed()) == (list(range(77, 109)), (77, 109))


def test_the_next_look_goes_on_where_calls_ran_out(broker: DeadLetterBroker) -> None:
    add(broker, *range(9, 109))
    for _ in range(4):
        look(calls=4)
    assert (offsets(), indexed()) == (list(range(5, 109)), (5, 109))


def test_no_letter_is_taken_twice(broker: DeadLetterBroker) -> None:
    """Backwards in pieces of 32: the last is smaller, and a pull gives what is known already too."""
    add(broker, *range(9, 109))
    assert look().letters == len(offsets()) == 104


def test_more_than_are_kept_since_the_last_look_are_not_all_read(broker: DeadLetterBroker) -> None:
    look()
    add(broker, *range(9, 1009))
    broker.asked.clear()
    look(kept=10)
    assert (offsets(), indexed()) == (list(range(999, 1009)), (999, 1009))
    assert pulled(broker) == [8, 999]


def test_groups_share_the_calls_of_a_run(broker: DeadLetterBroker) -> None:
    cluster = Cluster.objects.get()
    a_total(ConsumerGroup.objects.get(), 0, dlq_messages=1000)
    add(broker, *range(9, 1005))
    a_total(a_group(cluster, "small"), 0, dlq_messages=1)
    broker.letters["%DLQ%small"] = {0: stored_letter(0, topic="%DLQ%small")}
    looked = index_groups(cluster, None, IndexLimits(calls=20), NOW)
    assert (looked.groups, looked.waiting, looked.calls) == (2, 1, 20)
    assert DeadLetter.objects.filter(group__name="small").count() == 1
    assert DeadLetter.objects.filter(group__name="billing").count() >= 12 * 32


def test_a_silent_broker_is_asked_once_in_a_run(broker: DeadLetterBroker) -> None:
    cluster = Cluster.objects.get()
    Broker.objects.update(address="127.0.0.1:1")
    for name in ("one", "two", "three"):
        a_total(a_group(cluster, name), 0, dlq_messages=1)
    assert index_groups(cluster, None, IndexLimits(), NOW).calls == 1
    assert DeadLetterLook.objects.filter(error__contains="127.0.0.1:1").count() == 3


def test_a_cluster_without_dead_letters_is_asked_nothing(broker: DeadLetterBroker) -> None:
    assert index_groups(Cluster.objects.get(), None, IndexLimits(), NOW) == IndexPass(0, 0, 0, 0)
    assert broker.asked == []


def test_a_letter_with_an_impossible_time_is_its_own_groups_failure(broker: DeadLetterBroker) -> None:
    broker.letters[TOPIC] = {7: stored_letter(7, born_ms=2**63 - 1)}
    look()
    assert offsets() == []
    assert "the message at 7 bears a time that no calendar has" in str(the_look().error)
