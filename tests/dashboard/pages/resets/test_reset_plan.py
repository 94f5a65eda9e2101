"""The form that plans a reset: what it offers, what it takes, and what it says where it cannot."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from consumers.models import ConsumerGroup, Reset, ResetStatus
from tests.reset_rows import a_reset, text
from tests.world import a_broker, a_cluster, a_group, a_queue, a_snapshot

pytestmark = pytest.mark.usefixtures("redis_is_down")
PLAN = "/groups/prod/billing/resets/plan/"


@pytest.fixture(autouse=True)
def billing(db: None) -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_snapshot(group, a_queue(cluster, "Order", 1), 60, 100)
    a_snapshot(group, a_queue(cluster, "Order", 2), 90, 100)
    a_snapshot(group, a_queue(cluster, "%RETRY%billing", kind="retry"), 3, 5)
    a_snapshot(group, a_queue(cluster, "%DLQ%billing", kind="dlq"), None, 5)
    return group


def typed(**fields: Any) -> dict[str, Any]:
    return {"kind": "offset", "offset": "40", "reason": "orders were lost"} | fields


def test_it_offers_the_group_s_topics_and_queues_with_what_waits_in_them(operator: Client) -> None:
    page = operator.get(PLAN)
    assert "Order 2 queues · lag 50 messages" in text(page)
    assert "%RETRY%billing retry topic 1 queue · lag 2 messages" in text(page)
    assert "Order / broker-a / 1 lag 40 messages" in text(page)
    assert "%DLQ%" not in page.text


def test_a_lag_that_is_not_known_is_not_shown_as_none(operator: Client, billing: ConsumerGroup) -> None:
    a_snapshot(billing, a_queue(billing.cluster, "Refund"), None, None, unknown_reason="broker-a timed out")
    assert "unknown : broker-a timed out" in text(operator.get(PLAN))


def test_a_link_fills_it_in(operator: Client) -> None:
    page = operator.get(f"{PLAN}?kind=moment&value=2026-03-14T02:14:24Z&topic=Order&queue=Order/broker-a/2").text
    assert '<input type="radio" name="kind" value="moment" required checked' in page
    assert 'name="moment" value="2026-03-14T02:14:24Z"' in page
    assert '<input type="checkbox" name="topic" value="Order" checked>' in page
    assert '<details id="single-queues" open>' in page


@pytest.mark.parametrize("place", ["Order/broker-a/7", "Gone/broker-z/0"])
def test_a_queue_that_is_chosen_stays_so_where_it_is_not_listed(operator: Client, place: str) -> None:
    """Left out it would be all queues: from a link, and where the form is shown again."""
    box = f'<input type="checkbox" name="queue" value="{place}" checked>'
    assert box in operator.get(f"{PLAN}?queue={place}").text
    again = operator.post(PLAN, typed(queue=[place], offset="many"))
    assert (again.status_code, box in again.text) == (400, True)


def test_a_queue_of_another_topic_than_those_chosen_stays_chosen(operator: Client) -> None:
    page = operator.get(f"{PLAN}?topic=Refund&queue=Order/broker-a/2").text
    assert '<input type="checkbox" name="queue" value="Order/broker-a/2" checked>' in page


def test_a_broker_that_is_chosen_stays_so_where_it_is_not_listed(operator: Client) -> None:
    assert (
        '<input type="checkbox" name="broker" value="broker-z" checked>' in operator.get(f"{PLAN}?broker=broker-z").text
    )
    assert 'name="broker"' not in operator.get(PLAN).text


@pytest.mark.parametrize("name", ["broker", "queue"])
def test_a_broker_or_queue_without_a_name_is_not_all_of_them(operator: Client, name: str) -> None:
    answer = operator.post(PLAN, typed(**{name: [""]}))
    assert answer.status_code == 400
    assert "has no name: choose it again" in text(answer)
    assert not Reset.objects.exists()


@pytest.mark.parametrize("query", ["", "kind=restore&value=1", "kind=moon"])
def test_no_target_is_chosen_for_the_reader(operator: Client, query: str) -> None:
    assert 'type="radio" name="kind"' in operator.get(f"{PLAN}?{query}").text
    assert "checked aria-describedby" not in operator.get(f"{PLAN}?{query}").text


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"kind": "earliest"}, None),
        ({"kind": "latest"}, None),
        ({"kind": "offset", "offset": " 40 "}, 40),
        ({"kind": "shift", "shift": "-500"}, -500),
        ({"kind": "skip_older", "skip_older": "2 h"}, 7200),
        ({"kind": "copy", "copy": "audit"}, "audit"),
        ({"kind": "time", "time": "2026-03-14 02:14:24"}, "2026-03-14T02:14:24+00:00"),
        ({"kind": "time", "time": "2026-03-14T04:14:24+02:00"}, "2026-03-14T02:14:24+00:00"),
        ({"kind": "moment", "moment": "2026-03-14T02:14:24Z"}, "2026-03-14T02:14:24+00:00"),
        (
            {"kind": "offsets", "csv": "topic,broker,queue_id,offset\nOrder,broker-a,1,40\nOrder,broker-a,2,\n"},
            [{"topic": "Order", "broker": "broker-a", "queue_id": 1, "offset": 40}],
        ),
    ],
)
def test_each_target_is_taken_as_it_is_typed(
    operator: Client, billing: ConsumerGroup, fields: dict[str, str], value: Any
) -> None:
    a_group(billing.cluster, "audit")
    answer = operator.post(PLAN, typed() | fields)
    reset = Reset.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/resets/{reset.pk}/")
    assert (reset.kind, reset.value, reset.reason) == (fields["kind"], value, "orders were lost")
    assert (reset.topics, reset.brokers, reset.queues, reset.clip) == (None, None, None, False)


def test_a_list_may_come_as_a_file(operator: Client) -> None:
    file = SimpleUploadedFile("offsets.csv", b"topic,broker,queue_id,offset\nOrder,broker-a,1,40\n")
    operator.post(PLAN, typed(kind="offsets", csv="", csv_file=file))
    assert Reset.objects.get().value[0]["offset"] == 40


def test_what_is_chosen_goes_into_the_wish(operator: Client) -> None:
    chosen = {"topic": ["Order", ""], "broker": ["broker-a"], "queue": ["Order/broker-a/2"], "clip": "1"}
    operator.post(PLAN, typed(**chosen))
    reset = Reset.objects.get()
    assert (reset.topics, reset.brokers, reset.clip) == (["Order"], ["broker-a"], True)
    assert reset.queues == [{"topic": "Order", "broker": "broker-a", "queue_id": 2}]
    event = reset.events.order_by("pk")[0]
    assert (event.by_name, event.address, event.via) == ("operator", "127.0.0.1", "page")


def test_where_no_worker_can_be_asked_the_reset_says_so(operator: Client) -> None:
    page = operator.post(PLAN, typed(), follow=True)
    assert Reset.objects.get().status == ResetStatus.REFUSED
    assert "Redis does not answer" in text(page)


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"kind": ""}, "kind", "Choose a target."),
        ({"offset": "many"}, "offset", "many"),
        ({"offset": ""}, "offset", "needs this field"),
        ({"kind": "shift", "shift": "0"}, "shift", "moves nothing"),
        ({"kind": "skip_older", "skip_older": "a while"}, "skip_older", "90 s, 30 min, 2 h or 1 d"),
        ({"kind": "time", "time": "tomorrow"}, "time", "is not a time"),
        ({"kind": "time", "time": "2030-01-01"}, "time", "is in the future"),
        ({"kind": "offsets", "csv": "topic,broker\n"}, "csv", "The header lacks queue_id, offset"),
        ({"kind": "offsets", "csv": ""}, "csv", "needs this field"),
        ({"reason": " "}, "reason", "Enter a reason"),
    ],
)
def test_what_is_wrong_is_said_at_the_top_and_beside_its_field(
    operator: Client, fields: dict[str, str], field: str, words: str
) -> None:
    answer = operator.post(PLAN, typed(topic="Order") | fields)
    assert answer.status_code == 400
    summary, _end, form = answer.text.partition("plan reset-plan")
    assert f'<a href="#field-{field}">' in summary
    assert words in summary
    assert words in form
    assert f'id="field-{field}"' in form
    assert 'name="topic" value="Order" checked' in form
    assert not Reset.objects.exists()


def test_two_lists_are_not_guessed_between(operator: Client) -> None:
    list_ = "topic,broker,queue_id,offset\nOrder,broker-a,1,40\n"
    file = SimpleUploadedFile("offsets.csv", list_.encode())
    answer = operator.post(PLAN, typed(kind="offsets", csv=list_, csv_file=file))
    assert "choose a file or paste one, not both" in text(answer)
    assert "Order,broker-a,1,40" in answer.text


def test_a_place_that_no_page_posts_is_refused(operator: Client) -> None:
    assert "“Order/1” is not a queue" in text(operator.post(PLAN, typed(queue="Order/1")))


@pytest.mark.parametrize("name", ["topic", "broker", "queue"])
def test_a_name_that_no_database_keeps_is_refused(operator: Client, name: str) -> None:
    answer = operator.post(PLAN, typed(**{name: "Or\0der/broker-a/1"}))
    assert answer.status_code == 400
    assert f"The field “{name}” holds a zero byte" in text(answer)


def test_a_refusal_keeps_what_was_typed(operator: Client) -> None:
    answer = operator.post(PLAN, typed(topic="Nowhere", reason="the bug is mended"))
    assert answer.status_code == 409
    assert "Nowhere" in text(answer)
    assert 'value="the bug is mended"' in answer.text
    assert 'name="offset" value="40"' in answer.text
    assert 'name="topic" value="Nowhere" checked' in answer.text


def test_while_another_is_applied_there_is_no_form(operator: Client, billing: ConsumerGroup) -> None:
    a_reset(billing, status=ResetStatus.APPLYING)
    page = operator.get(PLAN)
    assert "Another reset of this group is being applied" in text(page)
    assert 'name="kind"' not in page.text


def test_a_read_only_cluster_has_no_form(operator: Client, settings: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    page = operator.get(PLAN)
    assert "marked read-only" in text(page)
    assert 'name="kind"' not in page.text


def test_a_viewer_is_told_who_may_plan(viewer: Client) -> None:
    page = viewer.get(PLAN)
    assert "operator or admin" in text(page)
    assert 'name="kind"' not in page.text
    answer = viewer.post(PLAN, typed())
    assert answer.status_code == 403
    assert "operator or admin" in text(answer)


def test_it_needs_a_token_of_the_form(billing: ConsumerGroup) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("root"))
    assert client.post(PLAN, typed()).status_code == 403


def test_a_group_that_no_reading_saw_is_not_found(operator: Client) -> None:
    assert operator.get("/groups/prod/nobody/resets/plan/").status_code == 404


def test_of_many_queues_those_with_the_most_lag_are_listed(operator: Client, billing: ConsumerGroup) -> None:
    for number in range(210):
        a_snapshot(billing, a_queue(billing.cluster, "Bulk", number), 10_000 - number, 10_000)
    page = text(operator.get(PLAN))
    assert page.index("Bulk / broker-a / 209 lag") < page.index("Bulk / broker-a / 208 lag")
    assert "Bulk / broker-a / 0 lag" not in page
    assert "13 more queues, with less lag, are not listed" in page
