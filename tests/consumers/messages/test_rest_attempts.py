"""Attempts over REST: who may look a message up, what is audited, and what is answered where nothing can be."""

from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client
from redis import Redis

from consumers.dead_letters.inspection import InspectionKey
from consumers.jobs import asking
from consumers.jobs.hold import close_wires
from consumers.messages.tasks import WantedMessage, look_up_message, lookup_answer
from consumers.models import AuditEvent, Cluster, ConsumerGroup
from tests.consumers.messages.index_broker import IndexBroker, an_index_broker
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock", "group")]
RETRY, DEAD = "%RETRY%billing", "%DLQ%billing"


@pytest.fixture
def broker() -> Iterator[IndexBroker]:
    with an_index_broker() as broker:
        a_broker(a_cluster(), address=broker.address)
        yield broker
        close_wires()


@pytest.fixture
def group(broker: IndexBroker) -> ConsumerGroup:
    cluster = Cluster.objects.get()
    group = a_group(cluster)
    a_snapshot(group, a_queue(cluster), 900, 1000)
    return group


def url(message: str, group: str = "billing") -> str:
    return f"/api/v1/groups/prod/{group}/messages/{quote(message, safe='')}/attempts/"


def failed_once(broker: IndexBroker, **properties: str) -> None:
    said = {"UNIQ_KEY": "U1", "KEYS": "order-7"} | properties
    origin = broker.put("Orders", 5, ago(60), body=b"secret body", **said)
    broker.put(RETRY, 0, ago(45), times=1, ORIGIN_MESSAGE_ID=origin, RETRY_TOPIC="Orders", **said)
    broker.put(DEAD, 0, ago(44), times=2, ORIGIN_MESSAGE_ID=origin, RETRY_TOPIC="Orders", **said)
    broker.offsets = {"Orders": 6, RETRY: 1}


@pytest.mark.usefixtures("tasks_at_once")
@pytest.mark.parametrize("message", ["U1", "order-7"])
def test_it_joins_the_attempts_of_a_message(operator_api: Client, broker: IndexBroker, message: str) -> None:
    failed_once(broker)
    answer = operator_api.get(url(message)).json()
    assert answer["message"] == message
    assert answer["complete"] is True
    assert [(one["topic"], one["reconsume_times"], one["progress"]) for one in answer["attempts"]] == [
        ("Orders", 0, "consumed"),
        (RETRY, 1, "consumed"),
        (DEAD, 2, None),
    ]
    assert [(one["message_id"], one["deliveries_low"]) for one in answer["messages"]] == [("U1", 2)]


@pytest.mark.usefixtures("tasks_at_once")
def test_a_broker_of_which_slaves_alone_are_known_was_not_searched(operator_api: Client, broker: IndexBroker) -> None:
    failed_once(broker)
    a_broker(Cluster.objects.get(), "broker-b", address="")
    answer = operator_api.get(url("U1")).json()
    assert (answer["complete"], len(answer["attempts"])) == (False, 3)
    unread = {(one["topic"], one["broker"]) for one in answer["searched"] if one["unknown_reason"] is not None}
    assert {(RETRY, "broker-b"), (DEAD, "broker-b")} <= unread


@pytest.mark.usefixtures("tasks_at_once")
def test_a_key_may_hold_a_slash(operator_api: Client, broker: IndexBroker) -> None:
    failed_once(broker, KEYS="orders/7")
    assert len(operator_api.get(url("orders/7")).json()["attempts"]) == 3


@pytest.mark.usefixtures("tasks_at_once")
def test_no_body_and_no_property_of_the_producer_is_answered_or_kept(
    operator_api: Client, broker: IndexBroker, redis: Redis
) -> None:
    failed_once(broker, customer="Ada Lovelace")
    answer = operator_api.get(url("U1"))
    [key] = [key for key in redis.keys("consumerscope:look:*") if not key.endswith(b":answered")]  # type: ignore[union-attr]
    for text in (answer.text, redis.get(key).decode()):  # type: ignore[union-attr]
        assert "secret body" not in text
        assert "Ada Lovelace" not in text


@pytest.mark.usefixtures("tasks_at_once")
def test_who_looked_up_what_is_audited(operator_api: Client, broker: IndexBroker) -> None:
    operator_api.get(url("U1"), {"topic": "Orders"})
    entry = AuditEvent.objects.get()
    assert (entry.by_name, entry.subject) == ("alice", "prod/billing: U1 of Orders")
    assert (entry.action, entry.sentence) == ("seen", "Looked up the attempts of a message.")


@pytest.mark.usefixtures("tasks_at_once")
def test_without_the_permission_no_broker_is_asked(api: Client, broker: IndexBroker) -> None:
    answer = api.get(url("U1"))
    assert answer.status_code == 403
    assert "consumers.view_message_body" in answer.json()["detail"]
    assert broker.asked == []
    assert not AuditEvent.objects.exists()


@pytest.mark.usefixtures("redis")
def test_the_worker_checks_the_permission_again(api_user: User, broker: IndexBroker) -> None:
    key, wanted = InspectionKey.made(api_user.pk, with_content=True), WantedMessage("prod", "billing", "U1")
    asking.put_question(str(key), {"wanted": vars(wanted)}, NOW, 60)
    look_up_message(str(key), vars(wanted))
    answer = lookup_answer(key, wanted)
    assert answer is not None
    assert (answer.result, "no longer has" in str(answer.reason)) == (None, True)
    assert broker.asked == []


@pytest.mark.usefixtures("redis")
def test_nobody_gets_the_answer_of_another_user(api_user: User) -> None:
    wanted = WantedMessage("prod", "billing", "U1")
    key = InspectionKey.made(api_user.pk, with_content=True)
    asking.put_question(str(key), {"wanted": vars(wanted)}, NOW, 60)
    assert lookup_answer(InspectionKey(api_user.pk + 1, True, key.token), wanted) is None
    assert lookup_answer(key, WantedMessage("prod", "billing", "U2")) is None


@pytest.mark.usefixtures("tasks_at_once")
@pytest.mark.parametrize("message", ["two words", "x" * 256, "  "])
def test_what_is_no_id_and_no_key_is_refused(operator_api: Client, message: str) -> None:
    answer = operator_api.get(url(message))
    assert answer.status_code == 400
    assert "Enter one message ID or key" in str(answer.json()["errors"]["message"])


@pytest.mark.usefixtures("tasks_at_once")
def test_a_group_that_is_not_there_is_missing(operator_api: Client) -> None:
    assert operator_api.get(url("U1", group="nobody")).status_code == 404


@pytest.mark.usefixtures("tasks_at_once")
def test_a_message_that_is_not_found_has_no_attempts(operator_api: Client) -> None:
    answer = operator_api.get(url("U9"))
    assert answer.status_code == 200
    assert answer.json()["attempts"] == []


@pytest.mark.usefixtures("tasks_at_once")
def test_a_broker_that_refuses_makes_it_incomplete(operator_api: Client, broker: IndexBroker) -> None:
    failed_once(broker)
    broker.refuses = {RETRY: 16}
    answer = operator_api.get(url("U1")).json()
    assert answer["complete"] is False
    [place] = [one for one in answer["searched"] if one["topic"] == RETRY]
    assert place["unknown_reason_code"] == "place_unread"
    assert "NO_PERMISSION" in place["unknown_reason"]


@pytest.mark.usefixtures("tasks_at_once")
def test_fields_choose_what_is_answered(operator_api: Client, broker: IndexBroker) -> None:
    failed_once(broker)
    assert set(operator_api.get(url("U1"), {"fields": "complete"}).json()) == {"complete"}


@pytest.mark.usefixtures("redis")
def test_a_worker_that_does_not_answer_is_said(operator_api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consumers.messages.tasks.PATIENCE", timedelta(seconds=1))
    answer = operator_api.get(url("U1"))
    assert answer.status_code == 503
    assert "general worker did not answer" in answer.json()["detail"]


@pytest.mark.usefixtures("redis_is_down")
def test_redis_that_is_down_is_said(operator_api: Client) -> None:
    assert operator_api.get(url("U1")).status_code == 503


def test_only_get_is_answered(operator_api: Client) -> None:
    assert operator_api.post(url("U1")).status_code == 405
