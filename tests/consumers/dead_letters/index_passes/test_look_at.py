"""One dead letter, asked of a broker: what comes back, what is left out, and what is said where nothing does."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from consumers.dead_letters import inspection
from consumers.dead_letters.inspection import Inspection, MessagePlace, fetch_message
from consumers.jobs import asking
from consumers.jobs.asking import AnswerFailed
from consumers.jobs.hold import close_wires
from consumers.models import Broker, ConsumerGroup
from consumers.rocketmq.messages.bodies import BodyKind
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from tests.dead_letter_broker import DeadLetterBroker, a_dead_letter_broker, stored_letter
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot

pytestmark = pytest.mark.django_db
PLACE = MessagePlace("prod", "billing", "broker-a", 0, 7)


@pytest.fixture
def broker() -> Iterator[DeadLetterBroker]:
    """It holds offsets 5 to 8 of the dead letters of billing, and one of another group's."""
    letters = {offset: stored_letter(offset, properties={"customer": "Ada"}) for offset in range(5, 9)}
    with a_dead_letter_broker(letters) as broker:
        broker.letters["%DLQ%other"] = {7: stored_letter(7, b"secret", topic="%DLQ%other")}
        cluster = a_cluster()
        a_broker(cluster, address=broker.address)
        a_group(cluster)
        yield broker
        close_wires()


def test_with_content_it_holds_facts_properties_and_the_body(broker: DeadLetterBroker) -> None:
    look = fetch_message(PLACE, NOW, with_content=True)
    assert (look.message.offset, look.message.message_id, look.message.origin_topic) == (7, "UNIQ-7", "Orders")
    assert [(one.name, one.value, one.is_system) for one in look.properties] == [
        ("KEYS", "order-7", True),
        ("RETRY_TOPIC", "Orders", True),
        ("UNIQ_KEY", "UNIQ-7", True),
        ("customer", "Ada", False),
    ]
    assert look.body is not None
    assert (look.body.kind, look.body.text, look.body.size) == (BodyKind.JSON, '{"order": 41}', 13)


def test_without_content_neither_the_body_nor_the_producers_values_come_out(broker: DeadLetterBroker) -> None:
    look = fetch_message(PLACE, NOW, with_content=False)
    assert look.body is None
    assert [(one.name, one.value) for one in look.properties if not one.is_system] == [("customer", None)]
    assert "Ada" not in look.as_json()
    assert "41}" not in look.as_json()


@pytest.mark.parametrize("with_content", [True, False])
def test_it_travels_as_json(broker: DeadLetterBroker, with_content: bool) -> None:
    look = fetch_message(PLACE, NOW, with_content=with_content)
    assert Inspection.of_json(look.as_json()) == look


def test_a_body_is_cut_where_the_site_says(broker: DeadLetterBroker, settings: Any) -> None:
    settings.MESSAGE_BODY_SHOWN_BYTES = 4
    look = fetch_message(PLACE, NOW, with_content=True)
    assert look.body is not None
    assert (look.body.text, look.body.truncated) == ('{"or', True)


def test_it_asks_for_the_groups_own_dead_letters_alone_and_commits_nothing(broker: DeadLetterBroker) -> None:
    fetch_message(PLACE, NOW, with_content=True)
    assert {request.ext_fields["topic"] for request in broker.asked} == {"%DLQ%billing"}
    (pull,) = (request for request in broker.asked if request.code == RequestCode.PULL_MESSAGE)
    assert (pull.ext_fields["consumerGroup"], pull.ext_fields["sysFlag"]) == ("TOOLS_CONSUMER", "4")


@pytest.mark.parametrize("offset", [0, 4, 9, 1000])
def test_what_its_queue_does_not_hold_is_said_and_never_pulled(broker: DeadLetterBroker, offset: int) -> None:
    with pytest.raises(AnswerFailed, match=rf"no message at offset {offset:,}. The queue holds offsets 5 to 8"):
        fetch_message(MessagePlace("prod", "billing", "broker-a", 0, offset), NOW, with_content=True)
    assert RequestCode.PULL_MESSAGE not in {request.code for request in broker.asked}


def test_a_hole_is_no_message(broker: DeadLetterBroker) -> None:
    del broker.letters["%DLQ%billing"][7]
    with pytest.raises(AnswerFailed, match="returned no message at offset 7"):
        fetch_message(PLACE, NOW, with_content=True)


def test_an_empty_queue_holds_no_message(broker: DeadLetterBroker) -> None:
    broker.letters.clear()
    with pytest.raises(AnswerFailed, match="The queue is empty"):
        fetch_message(PLACE, NOW, with_content=True)


def test_a_refusal_is_told_with_the_brokers_reason(broker: DeadLetterBroker) -> None:
    broker.refuses[RequestCode.PULL_MESSAGE] = ResponseCode.NO_PERMISSION
    with pytest.raises(AnswerFailed, match=r"could not be fetched from broker-a: .*NO_PERMISSION \(16\): not now"):
        fetch_message(PLACE, NOW, with_content=True)


def test_a_broker_that_does_not_answer_is_named(broker: DeadLetterBroker) -> None:
    Broker.objects.update(address="127.0.0.1:1")
    with pytest.raises(AnswerFailed, match=r"could not be fetched from broker-a: 127\.0\.0\.1:1"):
        fetch_message(PLACE, NOW, with_content=True)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (MessagePlace("prod", "nobody", "broker-a", 0, 7), "There is no group nobody in cluster prod"),
        (MessagePlace("test", "billing", "broker-a", 0, 7), "in cluster test"),
        (MessagePlace("prod", "billing", "broker-z", 0, 7), "No master of broker-z is known"),
    ],
)
def test_a_place_that_is_not_known_is_said(broker: DeadLetterBroker, place: MessagePlace, why: str) -> None:
    with pytest.raises(AnswerFailed, match=why):
        fetch_message(place, NOW, with_content=True)
    assert broker.asked == []


def test_a_message_of_a_topic_that_the_group_consumes_is_fetched_by_its_place(broker: DeadLetterBroker) -> None:
    broker.letters["Orders"] = {900: stored_letter(900, b'{"order": 7}', topic="Orders")}
    group = ConsumerGroup.objects.get()
    a_snapshot(group, a_queue(group.cluster), 900, 1000)
    look = fetch_message(MessagePlace("prod", "billing", "broker-a", 0, 900, "Orders"), NOW, with_content=True)
    assert look.body is not None
    assert look.body.text == '{"order": 7}'


def test_a_message_of_a_topic_that_the_group_does_not_consume_is_refused(broker: DeadLetterBroker) -> None:
    with pytest.raises(AnswerFailed, match="The group has no offset in %DLQ%other"):
        fetch_message(MessagePlace("prod", "billing", "broker-a", 0, 7, "%DLQ%other"), NOW, with_content=True)
    assert broker.asked == []


def test_a_broker_that_answers_late_is_named_before_the_worker_is_said_not_to_answer(
    broker: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.POLL_CALL_DEADLINE_SECONDS = 60
    monkeypatch.setattr(inspection, "LONGEST_SECONDS", 0.2)
    broker.answers_after = 2.0
    with pytest.raises(AnswerFailed, match=r"broker-a.*no answer to GET_MIN_OFFSET"):
        fetch_message(PLACE, NOW, with_content=True)


def test_all_calls_of_a_look_fit_into_the_patience_of_whoever_waits() -> None:
    assert timedelta(seconds=inspection.LONGEST_SECONDS) < asking.PATIENCE
