"""The page of a message's attempts: where it is reached from, what it shows to whom, and what stays unknown."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import Group, User
from django.test import Client

from consumers.jobs.hold import close_wires
from consumers.models import AuditEvent, Cluster, ConsumerGroup
from tests.consumers.messages.index_broker import IndexBroker, an_index_broker
from tests.dead_letter_rows import a_letter
from tests.rebalance_rows import a_part, a_repeat
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("group")]
URL = "/groups/prod/billing/messages/"
RETRY, DEAD = "%RETRY%billing", "%DLQ%billing"
PART = re.compile(r'hx-get="([^"]+/messages/[^"]+)"')


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


def as_role(role: str) -> Client:
    user = User.objects.create(username=f"an-{role}")
    user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    return client


def answered(client: Client, **query: str) -> str:
    """The part that takes the place of what the page waits for."""
    (part,) = PART.findall(client.get(URL, query).text)
    return client.get(part.replace("&amp;", "&"), headers={"hx-request": "true"}).text


def failed_once(broker: IndexBroker) -> None:
    said = {"UNIQ_KEY": "U1", "KEYS": "order-7"}
    origin = broker.put("Orders", 905, ago(60), **said)
    broker.put(RETRY, 0, ago(45), times=1, ORIGIN_MESSAGE_ID=origin, RETRY_TOPIC="Orders", **said)
    broker.put(DEAD, 0, ago(44), times=2, ORIGIN_MESSAGE_ID=origin, RETRY_TOPIC="Orders", **said)
    broker.offsets = {"Orders": 906, RETRY: 1}


@pytest.mark.usefixtures("tasks_at_once", "stopped_clock")
def test_it_shows_every_copy_and_how_often_the_message_was_delivered(broker: IndexBroker) -> None:
    failed_once(broker)
    said = answered(as_role("operator"), message="U1")
    assert "Delivered at least 2 times: 02:59:00–02:59:15, member unknown, sent back" in said
    for text in ("Orders · broker-a/0 · 905", "%RETRY%billing · broker-a/0 · 0", "dead letter"):
        assert text in said
    assert "Brokers do not store deliveries: there may have been more." in said


@pytest.mark.usefixtures("tasks_at_once", "stopped_clock")
def test_it_names_the_repeat_that_covers_a_copy(broker: IndexBroker, group: ConsumerGroup) -> None:
    failed_once(broker)
    a_repeat(group, ago(50), parts=[a_part(ago(50))])
    assert "consumer crashed" in answered(as_role("operator"), message="U1")


@pytest.mark.usefixtures("tasks_at_once", "stopped_clock")
def test_two_sends_with_one_key_are_said_to_be_no_repeated_consumption(broker: IndexBroker) -> None:
    broker.put("Orders", 5, ago(60), UNIQ_KEY="U1", KEYS="order-7")
    broker.put("Orders", 6, ago(50), UNIQ_KEY="U2", KEYS="order-7")
    said = answered(as_role("operator"), message="U1")
    assert "sent twice by the producer" in said
    assert "This is no repeated consumption." in said


@pytest.mark.usefixtures("tasks_at_once", "stopped_clock")
def test_a_place_that_was_not_searched_is_said(broker: IndexBroker) -> None:
    failed_once(broker)
    broker.refuses = {RETRY: 16}
    said = answered(as_role("operator"), message="U1")
    assert "1 place was not searched, so attempts may be missing." in said
    assert "NO_PERMISSION" in said


@pytest.mark.usefixtures("tasks_at_once", "stopped_clock")
def test_a_message_that_is_not_found_is_said() -> None:
    assert "No copy of “U9” was found." in answered(as_role("operator"), message="U9")


@pytest.mark.usefixtures("tasks_at_once", "stopped_clock")
def test_markup_in_a_key_is_text(broker: IndexBroker) -> None:
    broker.put("Orders", 5, ago(60), UNIQ_KEY="<b>U1</b>", KEYS="<i>k</i>")
    said = answered(as_role("operator"), message="<b>U1</b>")
    assert "<b>U1" not in said
    assert "<i>k" not in said


@pytest.mark.usefixtures("tasks_at_once")
def test_who_may_not_see_bodies_is_told_so_and_nothing_is_asked(broker: IndexBroker) -> None:
    said = as_role("viewer").get(URL, {"message": "U1"}).text
    assert "consumers.view_message_body" in said
    assert "hx-get" not in said.split('id="look"')[1].split(">")[0]
    assert broker.asked == []
    assert not AuditEvent.objects.exists()


@pytest.mark.usefixtures("tasks_at_once")
def test_each_look_up_is_audited() -> None:
    as_role("operator").get(URL, {"message": "order-7"})
    entry = AuditEvent.objects.get()
    assert (entry.by_name, entry.subject) == ("an-operator", "prod/billing: order-7")


@pytest.mark.usefixtures("tasks_at_once")
def test_opening_the_empty_form_asks_nothing(broker: IndexBroker) -> None:
    assert "Message ID or key" in as_role("operator").get(URL).text
    assert broker.asked == []


@pytest.mark.usefixtures("tasks_at_once")
def test_without_scripts_a_link_shows_it(broker: IndexBroker) -> None:
    failed_once(broker)
    client = as_role("operator")
    (show,) = re.findall(r'href="(\?[^"]*look=[^"]+)"', client.get(URL, {"message": "U1"}).text)
    assert "Delivered at least 2 times" in client.get(URL + show.replace("&amp;", "&")).text


@pytest.mark.usefixtures("tasks_at_once")
def test_another_user_does_not_get_the_answer() -> None:
    (show,) = re.findall(r'href="(\?[^"]*look=[^"]+)"', as_role("operator").get(URL, {"message": "U1"}).text)
    assert as_role("admin").get(URL + show.replace("&amp;", "&")).status_code == 410


@pytest.mark.usefixtures("redis")
def test_a_worker_that_does_not_answer_is_said() -> None:
    client = as_role("operator")
    with time_machine.travel(NOW, tick=False) as clock:
        (part,) = PART.findall(client.get(URL, {"message": "U1"}).text)
        clock.shift(timedelta(seconds=11))
        assert "general worker did not answer" in client.get(part.replace("&amp;", "&")).text


@pytest.mark.usefixtures("tasks_at_once")
def test_what_is_no_id_and_no_key_is_refused() -> None:
    assert "Enter one message ID or key" in as_role("operator").get(URL, {"message": "two words"}).text


@pytest.mark.usefixtures("redis_is_down")
def test_redis_that_is_down_is_said() -> None:
    assert "Redis does not answer" in as_role("operator").get(URL, {"message": "U1"}).text


def test_the_repeats_tab_leads_to_it() -> None:
    said = as_role("operator").get("/groups/prod/billing/repeats/").text
    assert f'action="{URL}"' in said


def test_a_dead_letter_leads_to_its_attempts(group: ConsumerGroup, redis_is_down: None) -> None:
    a_letter(group, 7, origin_topic="Orders")
    said = as_role("operator").get("/groups/prod/billing/dlq/broker-a/0/7/").text
    assert f'href="{URL}?message=UNIQ-7&amp;topic=Orders"' in said


def test_a_group_that_is_not_there_is_missing() -> None:
    assert as_role("operator").get("/groups/prod/nobody/messages/").status_code == 404
