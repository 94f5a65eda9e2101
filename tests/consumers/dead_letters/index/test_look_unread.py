"""A look into dead letters that cannot be read: what is said, and that nothing which was known is lost."""

from datetime import timedelta

import pytest

from consumers.models import Broker, Cluster
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.words.reasons import stored_words
from tests.consumers.dead_letters.index.looking import add, indexed, look, offsets, the_look
from tests.dead_letter_broker import DeadLetterBroker
from tests.world import NOW

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("remark", "sentence"),
    [
        (
            "the topic[%DLQ%billing] pulling message is forbidden",
            "%DLQ%billing can be written only, as brokers before 4.9.2 created such topics: make it readable with "
            "mqadmin updateTopicPerm -b {address} -t '%DLQ%billing' -p 6.",
        ),
        (
            "the broker[10.0.0.1] pulling message is forbidden",
            "does not allow reads: set its brokerPermission to 6.",
        ),
        (
            "User:monitor has no permission to access Topic:%DLQ%billing from 10.0.0.2, no matched policies.",
            "Allow the access key of this cluster to read (Sub and Get) %DLQ%billing.",
        ),
    ],
)
def test_letters_that_may_not_be_read_are_unknown_with_the_cure(
    broker: DeadLetterBroker, remark: str, sentence: str
) -> None:
    broker.refuses[RequestCode.PULL_MESSAGE], broker.remark = ResponseCode.NO_PERMISSION, remark
    look()
    assert sentence.format(address=broker.address) in stored_words(the_look().error)
    assert (*indexed(), the_look().min_offset, the_look().broker_offset) == (None, None, 5, 9)


def test_a_refusal_leaves_the_rows_as_they_were(broker: DeadLetterBroker) -> None:
    look()
    broker.refuses[RequestCode.PULL_MESSAGE] = ResponseCode.NO_PERMISSION
    add(broker, 9)
    look()
    assert (offsets(), indexed(), the_look().broker_offset) == ([5, 6, 7, 8], (5, 9), 10)
    assert "NO_PERMISSION" in stored_words(the_look().error)


def test_a_broker_that_is_silent_leaves_the_rows_as_they_were(broker: DeadLetterBroker) -> None:
    look()
    Broker.objects.update(address="127.0.0.1:1")
    look(now=NOW + timedelta(seconds=30))
    assert (offsets(), indexed(), the_look().looked_at) == ([5, 6, 7, 8], (5, 9), NOW)
    assert "127.0.0.1:1" in stored_words(the_look().error)


def test_a_broker_that_was_never_read_is_no_empty_list(broker: DeadLetterBroker) -> None:
    Broker.objects.update(address="127.0.0.1:1")
    look()
    assert (*indexed(), the_look().broker_offset) == (None, None, None)
    assert "127.0.0.1:1" in stored_words(the_look().error)


def test_a_cluster_that_cannot_be_asked_says_why(broker: DeadLetterBroker) -> None:
    Cluster.objects.update(access_key="monitor")
    look()
    assert "has the access key monitor and no secret key" in stored_words(the_look().error)


def test_a_letter_that_cannot_be_read_at_present_is_said(broker: DeadLetterBroker) -> None:
    broker.lost = {5, 6, 7, 8}
    look()
    assert "returns no message there" in stored_words(the_look().error)


def test_letters_that_came_and_cannot_be_read_yet_are_said(broker: DeadLetterBroker) -> None:
    look()
    add(broker, 9, 10)
    broker.lost = {9, 10}
    look()
    assert "continues beyond 9, and returns no message there" in stored_words(the_look().error)
    assert (offsets(), indexed()) == ([5, 6, 7, 8], (5, 9))


def test_an_error_goes_with_the_next_good_look(broker: DeadLetterBroker) -> None:
    broker.refuses[RequestCode.PULL_MESSAGE] = ResponseCode.NO_PERMISSION
    look()
    broker.refuses.clear()
    look()
    assert (the_look().error, offsets()) == (None, [5, 6, 7, 8])
