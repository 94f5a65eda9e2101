import re

import pytest
from django.db.models import F
from django.test import Client

from consumers.models import (
    Assignment,
    ConsumerGroup,
    DeadLetter,
    DeadLetterLook,
    DelayLevel,
    GroupBroker,
    GroupWindow,
    Rung,
)
from tests.browser.fleets import a_fleet, client_id, read_for_an_hour
from tests.reset_rows import logged_in
from tests.retry_rows import a_queue_is_blocked, letters_lie, levels_wait, retries_work, volumes_flow
from tests.world import a_broker, a_cluster

pytestmark = pytest.mark.django_db
URL = "/groups/prod/billing/retries/"
BROKERS = ("broker-a", "broker-b")


@pytest.fixture
def group() -> ConsumerGroup:
    cluster = a_cluster(read_at=None)
    for name in BROKERS:
        a_broker(cluster, name)
    read_for_an_hour(cluster)
    found = a_fleet(cluster, "billing", "Orders", BROKERS, 8, 3)
    retries_work(found)
    return found


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", re.sub(r"<title>.*?</title>", " ", html)))


def section(client: Client, name: str, query: str = "") -> str:
    html = client.get(f"{URL}{query}").text
    found = re.search(rf'<section id="{name}">.*?</section>', html, re.DOTALL)
    assert found, f"no section {name}"
    return text_of(found[0])


def test_where_nothing_stands_in_the_way_it_says_so_and_what_holds(admin_client: Client, group: ConsumerGroup) -> None:
    levels_wait(group)
    said = section(admin_client, "conditions")
    assert "Retry health checks: 15 of 15 passed" in said
    assert "retries are retained" in said
    assert "critical" not in said
    assert "unknown" not in said


def test_levels_without_messages_are_counted_and_not_listed(admin_client: Client, group: ConsumerGroup) -> None:
    levels_wait(group)
    DelayLevel.objects.filter(level__gt=5).update(broker_offset=F("delay_offset"), looked_at=0, sampled_of=0)
    Rung.objects.filter(level__gt=5).delete()
    page = admin_client.get(URL).text
    listed = page.split('id="scroll-rungs"')[1].split("</table>")[0]
    assert re.findall(r'<th scope="row" class="num">(\d+)</th>', listed) == ["1", "2", "3", "4", "5"]
    assert "No message waits at the other 13 levels" in page


def test_a_condition_that_does_not_hold_stands_first_with_its_cure(admin_client: Client, group: ConsumerGroup) -> None:
    GroupBroker.objects.filter(broker="broker-b").update(retry_queue_nums=0)
    said = section(admin_client, "conditions")
    assert said.index("critical") < said.index("updateSubGroup") < said.index("checks passed")
    assert "Retry health checks: 1" not in said


def test_what_is_not_known_is_no_condition_that_holds(admin_client: Client, group: ConsumerGroup) -> None:
    GroupBroker.objects.all().delete()
    said = section(admin_client, "conditions")
    assert "unknown Unknown whether these pass: retries are retained · " in said
    assert said.count("broker-a has not reported its configuration of the group yet") == 1
    assert "Retry health checks: 1" not in said


def test_a_blocked_queue_is_told_with_its_message_its_member_and_what_waits_behind(
    admin_client: Client, group: ConsumerGroup
) -> None:
    a_queue_is_blocked(group)
    said = section(admin_client, "blocked")
    assert f"orderly suspend blocked 12 min on Orders/broker-a/0: {client_id(0)} suspends message 900" in said
    assert f"member {client_id(0)}" in said
    assert "Message ID 7F0001AB Keys order-48211 Tags paid" in said
    assert re.search(r"Lag behind it 9\d ", said)
    assert 'href="/groups/prod/billing/ownership/"' in admin_client.get(URL).text


def test_a_blocked_message_is_looked_up_and_skipped_from_where_it_is_told(
    admin_client: Client, group: ConsumerGroup
) -> None:
    a_queue_is_blocked(group)
    page = admin_client.get(URL).text
    assert 'href="/groups/prod/billing/messages/?message=7F0001AB&amp;topic=Orders"' in page
    (skip,) = re.findall(r'href="(/groups/prod/billing/resets/plan/[^"]*)"[^>]*>Skip this message', page)
    form = admin_client.get(skip.replace("&amp;", "&")).text
    assert re.search(r'value="offset"[^>]* checked', form)
    assert re.search(r'name="offset"[^>]* value="901"', form)
    assert re.search(r'value="Orders/broker-a/0"[^>]* checked', form)


def test_who_may_reset_nothing_is_offered_no_skip(group: ConsumerGroup) -> None:
    a_queue_is_blocked(group)
    assert "Skip this message" not in logged_in("viewer").get(URL).text


def test_a_message_that_was_not_looked_up_says_why(admin_client: Client, group: ConsumerGroup) -> None:
    a_queue_is_blocked(group)
    group.heads.all().delete()
    assert "Message unknown the message has not been fetched yet" in section(admin_client, "blocked")


def test_without_a_blocked_queue_it_says_what_would_stand_there(admin_client: Client, group: ConsumerGroup) -> None:
    Assignment.objects.update(head_since=None)
    assert "No blocked queue is known." in section(admin_client, "blocked")


def test_the_volumes_of_the_range_are_summed(admin_client: Client, group: ConsumerGroup) -> None:
    volumes_flow(group)
    said = section(admin_client, "volumes")
    assert "In the last 1 h 02:00:00 to 02:59:30 UTC" in said
    assert "Into retry 1,800 messages Out of retry 1,680 messages DLQ inflow 240 messages" in said
    assert "Retry share 5 %" in said


def test_a_sum_that_lacks_a_window_is_at_least_the_rest(admin_client: Client, group: ConsumerGroup) -> None:
    volumes_flow(group, unknown=[12])
    said = section(admin_client, "volumes")
    reason = "1 of 60 windows are unknown: broker-b was silent"
    assert f"Into retry ≥ 1,770 messages : {reason}" in said
    assert f"Retry share unknown : {reason}" in said


def test_of_nothing_consumed_there_is_no_share(admin_client: Client, group: ConsumerGroup) -> None:
    volumes_flow(group)
    GroupWindow.objects.update(consumed=0)
    assert "Retry share unknown : nothing was consumed" in section(admin_client, "volumes")


def test_the_newest_dead_letters_stand_there_and_lead_to_all(admin_client: Client, group: ConsumerGroup) -> None:
    letters_lie(group)
    said = section(admin_client, "dead-letters")
    assert "In the DLQ 7 messages" in said
    assert "Inspected 7 messages · 30 s ago" in said
    assert said.index("order-6") < said.index("order-2")
    assert "order-1 " not in said
    assert re.search(r"order-5 paid Orders 2 early 412 B AC110005 no", said)
    assert 'id="every-dead-letter" href="/groups/prod/billing/dlq/"' in admin_client.get(URL).text


def test_a_dead_letter_without_keys_and_tags_says_so(admin_client: Client, group: ConsumerGroup) -> None:
    letters_lie(group, 1)
    DeadLetter.objects.update(keys=None, tags=None)
    assert "none none Orders 4 412 B" in section(admin_client, "dead-letters")


def test_dead_letters_that_could_not_be_read_say_why(admin_client: Client, group: ConsumerGroup) -> None:
    letters_lie(group, 1)
    DeadLetterLook.objects.update(error="the topic may not be read: updateTopicPerm -p 6")
    assert "broker-a: the topic may not be read: updateTopicPerm -p 6" in section(admin_client, "dead-letters")


def test_its_charts_keep_to_the_range(admin_client: Client, group: ConsumerGroup) -> None:
    html = admin_client.get(f"{URL}?range=6h").text
    for figure in ("volumes/?range=6h", "dead-letters/?range=6h", "ladder/"):
        assert f'data-figure="/figures/prod/billing/{figure}"' in html


def test_its_part_refreshes_freshness_tables_and_tabs(admin_client: Client, group: ConsumerGroup) -> None:
    part = admin_client.get(f"/parts{URL}?range=6h").text
    for name in ("freshness", "rungs", "rows"):
        assert f'id="{name}" hx-swap-oob="true"' in part
    assert 'id="tab-group_retries" href="/groups/prod/billing/retries/?range=6h" aria-current="page"' in part
    assert "<html" not in part


def test_a_group_that_was_never_read_is_not_found(admin_client: Client, group: ConsumerGroup) -> None:
    for path in (URL, f"/parts{URL}", "/figures/prod/billing/ladder/"):
        assert admin_client.get(path.replace("billing", "nobody")).status_code == 404


def test_it_refuses_what_it_does_not_know(admin_client: Client, group: ConsumerGroup) -> None:
    assert admin_client.get(f"{URL}?range=2h").status_code == 400


def test_nobody_sees_it_without_logging_in(client: Client, group: ConsumerGroup) -> None:
    assert client.get(URL).status_code == 302
