"""Looks as tasks: of every cluster in turn, and of one group when somebody asks for it."""

import threading
from collections.abc import Iterator

import pytest
import time_machine
from django.db import connection
from redis import Redis

from consumers.dead_letters import tasks
from consumers.dead_letters.index import RequestedPass, put_done, requested_pass
from consumers.dead_letters.tasks import ask_for_dead_letters, index_dead_letters
from consumers.jobs.asking import RedisDown
from consumers.jobs.hold import close_wires
from consumers.models import ConsumerGroup, DeadLetter
from consumers.polling.locks import Locked, lock
from tests.dead_letter_broker import DeadLetterBroker, a_dead_letter_broker, stored_letter
from tests.world import NOW, a_broker, a_cluster, a_group, a_total, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def broker() -> Iterator[DeadLetterBroker]:
    with a_dead_letter_broker({7: stored_letter(7)}) as broker, time_machine.travel(NOW, tick=False):
        yield broker
        close_wires()


@pytest.fixture
def billing(broker: DeadLetterBroker) -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster, address=broker.address)
    group = a_group(cluster)
    a_total(group, 0, dlq_messages=1)
    return group


@pytest.mark.usefixtures("redis")
def test_groups_of_every_cluster_are_looked_into(billing: ConsumerGroup, broker: DeadLetterBroker) -> None:
    other = a_cluster("other")
    a_broker(other, address=broker.address)
    a_total(a_group(other, "billing"), 0, dlq_messages=1)
    index_dead_letters()
    assert set(DeadLetter.objects.values_list("group__cluster__name", flat=True)) == {"prod", "other"}


@pytest.mark.usefixtures("redis")
def test_a_cluster_that_somebody_looks_into_is_left_to_them(billing: ConsumerGroup, broker: DeadLetterBroker) -> None:
    with lock("dead letters:prod", 10):
        index_dead_letters()
    assert broker.asked == []


@pytest.mark.usefixtures("tasks_at_once")
def test_who_asks_for_a_group_is_told_when_it_is_done(billing: ConsumerGroup) -> None:
    ask_for_dead_letters(billing, NOW)
    assert requested_pass(billing) == RequestedPass(asked_at=NOW, done_at=NOW, failure=None)
    assert DeadLetter.objects.get().offset == 7


@pytest.mark.usefixtures("redis")
@pytest.mark.parametrize(("seconds", "is_late"), [(10, False), (11, True)])
def test_without_a_worker_it_is_late_after_some_seconds(billing: ConsumerGroup, seconds: float, is_late: bool) -> None:
    ask_for_dead_letters(billing, ago(seconds))
    asked = requested_pass(billing)
    assert asked is not None
    assert (asked.done_at, asked.is_late(NOW)) == (None, is_late)


@pytest.mark.usefixtures("redis")
def test_nothing_is_noted_where_nobody_asked(billing: ConsumerGroup) -> None:
    put_done(billing, None, NOW)
    assert requested_pass(billing) is None


def test_a_question_is_forgotten_after_some_minutes(billing: ConsumerGroup, redis: Redis) -> None:
    ask_for_dead_letters(billing, NOW)
    [key] = redis.keys("consumerscope:*")
    assert 0 < redis.ttl(key) <= 300


@pytest.mark.usefixtures("redis_is_down")
def test_a_redis_that_is_down_is_said(billing: ConsumerGroup) -> None:
    with pytest.raises(RedisDown, match="Redis does not answer"):
        ask_for_dead_letters(billing, NOW)


@pytest.mark.usefixtures("tasks_at_once")
def test_who_asks_while_the_cluster_is_read_for_long_is_told_so(billing: ConsumerGroup) -> None:
    with lock("dead letters:prod", 10):
        ask_for_dead_letters(billing, NOW)
    asked = requested_pass(billing)
    assert asked is not None
    assert asked.failure == "A worker is already reading dead-letter messages of this cluster. Try again in a minute."


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("redis")
def test_a_pass_that_takes_long_is_not_begun_a_second_time(
    billing: ConsumerGroup, broker: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four hundred calls to a broker far away take longer than a dead worker may delay the next pass."""
    monkeypatch.setattr(tasks, "LOCK_SECONDS", 0.6)
    broker.answers_after = 1.5
    others: list[bool] = []

    def another() -> None:
        threading.Event().wait(1.2)
        try:
            with lock("dead letters:prod", 0.6):
                others.append(True)
        except Locked:
            others.append(False)
        finally:
            connection.close()

    beside = threading.Thread(target=another)
    beside.start()
    index_dead_letters()
    beside.join(20)
    assert (others, DeadLetter.objects.count()) == ([False], 1)
