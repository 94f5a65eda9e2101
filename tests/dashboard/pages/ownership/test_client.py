"""The page of a client, and its thread dumps."""

import re
from dataclasses import asdict
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from consumers.clients.dumps import DumpedClient, ThreadDump, dump_key
from consumers.jobs import asking
from consumers.models import Assignment, Broker, Client as Member
from tests.consumers.clients.test_stacks import IDLE, LISTENER, a_thread
from tests.walk.page_text import said
from tests.world import NOW, a_broker, a_client, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("site")]
CLIENT = "10.0.0.7@3312"
PAGE, DUMP = f"/clients/prod/{CLIENT}/", f"/threads/prod/{CLIENT}/"


@pytest.fixture
def site() -> None:
    cluster = a_cluster()
    a_broker(cluster)
    group, queue = a_group(cluster), a_queue(cluster)
    a_snapshot(group, queue, 90, 100)
    a_client(group, running_info_at=ago(20), settings={"consumeThreadMax": "64"})
    seen = {"seen_since": ago(600), "last_seen": ago(20), "cached_count": 8}
    Assignment.objects.create(group=group, queue=queue, client_id=CLIENT, **seen)


def answered(user: User, token: str, seconds_ago: float, *working: int) -> None:
    """A dump of three consume threads; those in `working` are in the listener."""
    key = dump_key(user.pk, token)
    at = NOW - timedelta(seconds=seconds_ago)
    asking.put_question(key, {"wanted": asdict(DumpedClient("prod", CLIENT))}, at, 60)
    threads = tuple(a_thread(number, LISTENER if number in working else IDLE) for number in (1, 2, 3))
    dump = ThreadDump(at, "broker-a", threads, is_cut=False)
    asking.put_answer(key, {"dump": dump.as_json(), "reason": None}, 60)


def test_it_shows_groups_queues_and_settings_that_are_no_default(viewer: Client) -> None:
    page = viewer.get(PAGE, {"range": "6h"}).text
    assert '<a href="/groups/prod/billing/?range=6h">billing</a>' in page
    assert '<a href="/topics/prod/Orders/?range=6h">Orders</a> / broker-a / 0' in page
    assert '<code>consumeThreadMax</code> <b class="difference">64</b>' in page


def test_a_client_is_not_said_to_be_listed_or_gone_once_brokers_are_not_scraped(viewer: Client) -> None:
    Broker.objects.update(last_read_at=ago(600))
    for gone_by in (None, ago(700)):
        Member.objects.update(gone_by=gone_by)
        page = viewer.get(PAGE).text
        assert re.search(r"Listed</dt><dd><span class=\"unknown\"[^>]*><b>unknown</b>.*?last seen", page)
        assert "No broker lists the client now." not in page


def test_response_times_are_milliseconds_and_rates_are_messages_a_second(viewer: Client) -> None:
    status = {"consume_rt": 12.5, "consume_ok_tps": 3.0, "consume_failed_tps": None, "consume_failed_messages": 0,
              "pull_rt": 7.25}  # fmt: skip
    Member.objects.update(consume_status={"Orders": status})
    cells = re.findall(r'<td class="num">(?:<span>)?([^<]*)', viewer.get(PAGE).text)
    assert cells[:2] == ["12.50", "3"]
    # What the client does not report is unknown, not zero.
    assert (cells[4], cells[5].strip()) == ("7.25", "")


def test_it_says_what_the_client_subscribes_to_or_that_it_is_not_known(viewer: Client) -> None:
    assert "Subscription: not reported by the client unknown" in " ".join(said(viewer.get(PAGE).text))
    wanted = [{"topic": "Orders", "expression": "eu || us", "expression_type": "TAG"}]
    Member.objects.update(subscriptions=wanted)
    assert "Subscription: Orders eu || us" in " ".join(said(viewer.get(PAGE).text))


@pytest.mark.parametrize(("messages", "size"), [(1_001, "&lt; 1"), (0, "0"), (None, "&lt; 1")])
def test_a_size_that_is_rounded_down_to_zero_is_no_zero_beside_messages(
    viewer: Client, messages: int | None, size: str
) -> None:
    Assignment.objects.update(cached_count=messages, cached_mib=0)
    assert f'<td class="num">{size}</td>' in viewer.get(PAGE).text


def test_it_says_when_the_client_reported_its_rates(viewer: Client) -> None:
    Member.objects.update(running_info_at=ago(7200), consume_status={"Orders": {"consume_ok_tps": 42.0}})
    assert "reported 2 h ago" in re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", viewer.get(PAGE).text))


def test_whoever_may_not_dump_sees_why(viewer: Client) -> None:
    sentence = "You need the role operator or admin, for the cluster prod or for all clusters (permission consumers."
    assert f"{sentence}dump_threads)." in viewer.get(PAGE).text
    assert viewer.post(DUMP).status_code == 403


@pytest.mark.usefixtures("redis")
def test_a_dump_is_asked_for_and_awaited(operator: Client) -> None:
    answer = operator.post(DUMP, {"range": "6h"})
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith(f"{PAGE}?range=6h&dump=")
    page = operator.get(answer.headers["Location"].partition("#")[0]).text
    assert "Asking the client" in page


@pytest.mark.usefixtures("redis")
def test_threads_in_the_listener_come_first(admin_client: Client) -> None:
    answered(User.objects.get(username="ada"), "one", 1, 2)
    page = admin_client.get(PAGE, {"dump": "one"}).text
    assert page.index("com.shop.Billing.consumeMessage") < page.index("ThreadPoolExecutor.getTask")
    assert "in the listener" in page


@pytest.mark.usefixtures("redis")
def test_two_dumps_tell_which_threads_did_not_move(admin_client: Client) -> None:
    user = User.objects.get(username="ada")
    answered(user, "one", 8, 1, 2)
    answered(user, "two", 3, 1, 3)
    page = admin_client.get(PAGE, {"dump": "two", "before": "one"}).text
    assert "compared with the dump 5 s before" in page
    assert "1 of 2 did not move" in page


@pytest.mark.usefixtures("redis")
def test_nobody_reads_the_dump_of_another(operator: Client) -> None:
    other = User.objects.create(username="eve")
    answered(other, "one", 1, 1)
    assert "This thread dump has expired" in operator.get(PAGE, {"dump": "one"}).text


def test_a_client_that_is_not_there_is_not_found(viewer: Client) -> None:
    assert viewer.get("/clients/prod/nobody/").status_code == 404


def test_a_member_of_a_group_leads_to_its_client(viewer: Client) -> None:
    assert f'<a href="{PAGE}">{CLIENT}</a>' in viewer.get("/groups/prod/billing/ownership/").text


def test_a_client_that_is_not_seen_any_more_owned_no_queue_when_it_last_reported(viewer: Client) -> None:
    Assignment.objects.all().delete()
    assert "It owns no queue of this group." in viewer.get(PAGE).text
    Broker.objects.update(last_read_at=ago(600))
    assert "It owned no queue of this group when it last reported." in viewer.get(PAGE).text


def test_of_one_that_never_reported_it_is_not_said_that_it_owns_no_queue(viewer: Client) -> None:
    Assignment.objects.all().delete()
    Member.objects.update(running_info_at=None)
    page = viewer.get(PAGE).text
    assert "It owns no queue of this group." not in page
    assert "not sampled" in page
