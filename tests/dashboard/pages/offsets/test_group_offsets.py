import re

import pytest
from django.test import Client

from consumers.models import ConsumerGroup
from tests.store_rows import a_client, a_file_row, a_finding, a_problem, an_offset_file, an_owner
from tests.world import a_broker, a_cluster, a_group, a_judged_group, a_queue, a_snapshot, a_total, ago

pytestmark = pytest.mark.django_db
URL = "/groups/prod/billing/offsets/"


@pytest.fixture
def group() -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_total(group, 50)
    a_judged_group(group)
    a_client(group)
    a_snapshot(group, a_queue(cluster), 100, 150)
    an_owner(group, a_queue(cluster), (112, 139, 23))
    return group


def name_files(group: ConsumerGroup) -> None:
    group.cluster.offset_files = "/store/config/consumerOffset.json"
    group.cluster.save()


def said(client: Client, address: str = URL) -> str:
    text = re.sub(r"<title>.*?</title>", " ", client.get(address).text)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


def test_it_says_what_a_crash_of_every_consumer_would_repeat(admin_client: Client, group: ConsumerGroup) -> None:
    assert "If all consumers crash now: 12 to 40 messages redelivered" in said(admin_client)


def test_what_is_not_known_of_some_queues_is_said_beside_the_sum(admin_client: Client, group: ConsumerGroup) -> None:
    a_snapshot(group, a_queue(group.cluster, "Orders", 1), 100, 150)
    text = said(admin_client)
    assert "If all consumers crash now: 12 to 40 messages redelivered" in text
    assert "unknown for 1 of 2 queues: no member owns it" in text


def test_a_bound_that_one_queue_lacks_is_left_open(admin_client: Client, group: ConsumerGroup) -> None:
    queue = a_queue(group.cluster, "Orders", 1)
    a_snapshot(group, queue, 120, 150)
    an_owner(group, queue, (112, 139, 28))
    assert "If all consumers crash now: 12 to 60 messages redelivered" in said(admin_client)
    an_owner(group, queue, (0, 1, 2), client_id="c2")
    group.assignments.filter(client_id="c1", queue=queue).delete()
    assert "unknown for 1 of 2 queues: anomaly: committed past the client" in said(admin_client)


def test_without_any_answer_of_a_client_it_says_unknown_and_why(admin_client: Client, group: ConsumerGroup) -> None:
    group.assignments.update(last_seen=ago(100))
    text = said(admin_client)
    assert "If all consumers crash now: unknown c1 last reported its cached messages 1 min 40 s ago" in text


def test_a_queue_has_a_line_with_every_store_and_how_far_they_are_apart(
    admin_client: Client, group: ConsumerGroup
) -> None:
    name_files(group)
    an_offset_file(group.cluster, a_file_row(offset=90, finding=a_finding("it went back")))
    text = said(admin_client)
    assert "Orders / broker-a / 0 12 to 40 5 finished out of order 12 to 50" in text
    assert "−10 90 32 s ago 100 5 s ago +12 112 c1 · 5 s ago 100 it went back" in text


def test_the_distances_are_drawn_and_told_to_who_cannot_see_them(admin_client: Client, group: ConsumerGroup) -> None:
    name_files(group)
    an_offset_file(group.cluster, a_file_row(offset=90))
    assert 'aria-label="file 90, broker 100, client 112, held to 140"' in admin_client.get(URL).text


def test_a_queue_that_was_never_committed_says_where_a_member_would_start(
    admin_client: Client, group: ConsumerGroup
) -> None:
    group.consume_from_where = "CONSUME_FROM_LAST_OFFSET"
    group.save()
    never = {"min_offset": 40, "unknown_reason": "never_committed"}
    a_snapshot(group, a_queue(group.cluster, "Refunds"), None, 1500, **never)
    assert "1,500 last offset: the end of the queue" in said(admin_client, f"{URL}?topic=Refunds")


def test_without_files_it_teaches_how_to_name_them_and_leaves_their_columns_out(
    admin_client: Client, group: ConsumerGroup
) -> None:
    text = said(admin_client)
    assert "python manage.py cluster add prod --offset-files" in text
    assert "Broker file" not in text


def test_dead_letters_of_the_group_are_left_out(admin_client: Client, group: ConsumerGroup) -> None:
    a_snapshot(group, a_queue(group.cluster, "%DLQ%billing", kind="dlq"), 0, 9)
    assert "%DLQ%" not in said(admin_client)


def test_findings_of_files_stand_beside_their_file(admin_client: Client, group: ConsumerGroup) -> None:
    name_files(group)
    finding = {"code": "stands_twice", "where": "line 7", "params": {"first": 5}}
    an_offset_file(group.cluster, findings=[finding])
    an_offset_file(
        group.cluster, path="/gone.json", read_at=None, modified_at=None, error=a_problem("there is no such file.")
    )
    text = said(admin_client)
    assert "line 7 occurs more than once, first with 5: the last one is loaded." in text
    assert "/gone.json broker offsets broker-a unknown not scraped yet there is no such file." in text


def test_each_broadcasting_client_has_a_line_of_its_own(admin_client: Client, group: ConsumerGroup) -> None:
    ConsumerGroup.objects.update(message_model="BROADCASTING")
    name_files(group)
    a_client(group, "c2")
    file = {"kind": "consumer_file", "group_name": "billing", "path": "/c/c2", "client_id": "c2"}
    an_offset_file(group.cluster, a_file_row(offset=90, client_id="c2"), **file)
    text = said(admin_client)
    assert "c1 Orders / broker-a / 0 38 112 5 s ago unknown : no file of this client was found 150" in text
    unheld = "unknown : this client is not known to own the queue"
    assert f"c2 Orders / broker-a / 0 60 {unheld} 90 32 s ago 150" in text
    assert "If every consumer died" not in text


def test_a_popping_group_says_what_its_offsets_mean(admin_client: Client, group: ConsumerGroup) -> None:
    popped = {"topic": "Orders", "broker": "broker-a", "queue_id": -1, "wait_ack_count": 9, "last_pop_at": None}
    group.clients.update(pop_queues=[popped])
    text = said(admin_client)
    assert "offsets advance when messages are popped, not when they are acknowledged" in text
    assert "c1 Orders / broker-a 9" in text


def test_the_tabs_lead_to_each_other_and_keep_cluster_and_range(admin_client: Client, group: ConsumerGroup) -> None:
    lag = admin_client.get("/groups/prod/billing/?range=6h&lag=1").text
    assert 'id="tab-group" href="/groups/prod/billing/?range=6h" aria-current="page"' in lag
    assert 'id="tab-group_offsets" href="/groups/prod/billing/offsets/?range=6h">' in lag
    assert 'href="/groups/prod/billing/offsets/" aria-current="page"' in admin_client.get(URL).text


def test_its_part_refreshes_freshness_and_tabs(admin_client: Client, group: ConsumerGroup) -> None:
    part = admin_client.get("/parts/groups/prod/billing/offsets/?topic=Orders").text
    assert 'id="freshness" hx-swap-oob="true"' in part
    assert 'id="tab-group_offsets" href="/groups/prod/billing/offsets/" aria-current="page"' in part
    assert "<html" not in part


@pytest.mark.parametrize("query", ["topic=Nothing", "page=0"])
def test_it_refuses_a_filter_that_it_does_not_know(admin_client: Client, group: ConsumerGroup, query: str) -> None:
    assert admin_client.get(f"{URL}?{query}").status_code == 400


def test_many_queues_come_in_pages(admin_client: Client, group: ConsumerGroup) -> None:
    for queue_id in range(1, 101):
        a_snapshot(group, a_queue(group.cluster, "Orders", queue_id), 100, 150)
    page = admin_client.get(f"{URL}?page=2").text
    assert re.findall(r'<th scope="row">(\w+ / [\w-]+ / \d+)</th>', page) == ["Orders / broker-a / 100"]


def test_a_group_that_was_never_read_is_not_found(admin_client: Client, group: ConsumerGroup) -> None:
    assert admin_client.get("/groups/prod/nobody/offsets/").status_code == 404


def test_nobody_sees_it_without_logging_in(client: Client, group: ConsumerGroup) -> None:
    assert client.get(URL).status_code == 302
