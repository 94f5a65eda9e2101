"""The page of one dead letter: what it shows to whom, and what it says where nothing can be shown."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import Group, User
from django.template.loader import render_to_string
from django.test import Client
from redis import Redis

from consumers.jobs.hold import close_wires
from consumers.models import AuditEvent, Cluster, ConsumerGroup, ResendOutcome
from tests.dead_letter_broker import DeadLetterBroker, a_dead_letter_broker, stored_letter
from tests.dead_letter_rows import a_letter, a_resend, an_item
from tests.world import NOW, a_broker, a_cluster, a_group

pytestmark = pytest.mark.django_db
URL = "/groups/prod/billing/dlq/broker-a/0/7/"
SCRIPT = b"<script>alert(1)</script><b>bold</b>"
PART = re.compile(r'hx-get="([^"]+/dlq/[^"]+)"')


@pytest.fixture
def broker() -> Iterator[DeadLetterBroker]:
    with a_dead_letter_broker({7: stored_letter(7, properties={"customer": "Ada Lovelace"})}) as broker:
        a_broker(a_cluster(), address=broker.address)
        yield broker
        close_wires()


@pytest.fixture
def group(broker: DeadLetterBroker) -> ConsumerGroup:
    group = a_group(Cluster.objects.get())
    a_letter(group, 7, stored_id="7F00000100002A9F0000000000001B58")
    return group


def as_role(role: str) -> Client:
    user = User.objects.create(username=f"an-{role}")
    user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    return client


def answered(client: Client) -> str:
    """The part that takes the place of what the page waits for."""
    (part,) = PART.findall(client.get(URL).text)
    return client.get(part, headers={"hx-request": "true"}).text


@pytest.mark.usefixtures("tasks_at_once", "group")
@pytest.mark.parametrize(("role", "may_see"), [("viewer", False), ("operator", True), ("admin", True)])
def test_the_body_and_the_producers_properties_are_for_those_who_may_see_them(role: str, may_see: bool) -> None:
    said = answered(as_role(role))
    assert ("&quot;order&quot;: 41" in said) is may_see
    assert ("Ada Lovelace" in said) is may_see
    assert ("consumers.view_message_body" in said) is not may_see
    assert "RETRY_TOPIC" in said
    assert "customer" in said


@pytest.mark.usefixtures("tasks_at_once", "group")
def test_what_is_hidden_is_not_in_redis_either(redis: Redis) -> None:
    as_role("viewer").get(URL)
    (key,) = redis.keys("consumerscope:look:*")
    assert b"Ada Lovelace" not in redis.get(key)  # type: ignore[operator]
    assert b"41}" not in redis.get(key)  # type: ignore[operator]


@pytest.mark.usefixtures("tasks_at_once", "group")
def test_who_asked_for_which_body_is_kept() -> None:
    as_role("viewer").get(URL)
    assert AuditEvent.objects.count() == 0
    as_role("operator").get(URL)
    entry = AuditEvent.objects.get()
    assert (entry.by_name, entry.subject) == ("an-operator", "prod/billing: broker-a/0 at 7")
    assert entry.sentence == "Asked to see the body of the dead letter."
    assert entry.at == NOW


@pytest.mark.usefixtures("tasks_at_once", "group")
def test_a_body_of_markup_is_text(broker: DeadLetterBroker) -> None:
    letter = stored_letter(7, SCRIPT, properties={"<i>name</i>": "<img src=x onerror=alert(2)>"})
    broker.letters["%DLQ%billing"][7] = letter
    said = answered(as_role("operator"))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&lt;b&gt;bold&lt;/b&gt;" in said
    for markup in ("<script", "<b>bold", "<i>name", "<img"):
        assert markup not in said


@pytest.mark.usefixtures("tasks_at_once", "group")
def test_the_policy_of_the_page_lets_no_script_of_a_message_run() -> None:
    policy = as_role("operator").get(URL).headers["content-security-policy"]
    assert "script-src 'self';" in f"{policy};"
    assert "unsafe" not in policy


@pytest.mark.usefixtures("tasks_at_once", "group")
@pytest.mark.parametrize(
    ("body", "sys_flag", "says"),
    [
        (b'{"a":1.10}', 0, "{\n  &quot;a&quot;: 1.10\n}"),
        (b"\xac\xed\x00\x05", 0, "aced0005"),
        (b"no zlib", 1, "The body is said to be compressed by zlib, and cannot be opened"),
        (b"x" * 70_000, 0, "text · 70 kB · first 66 kB shown"),
        (b"", 0, "text · 0 B"),
    ],
)
def test_it_shows_every_kind_of_body(broker: DeadLetterBroker, body: bytes, sys_flag: int, says: str) -> None:
    broker.letters["%DLQ%billing"][7] = stored_letter(7, body, sys_flag=sys_flag)
    assert says in answered(as_role("operator"))


@pytest.mark.usefixtures("tasks_at_once", "group")
def test_without_scripts_a_link_shows_it() -> None:
    client = as_role("operator")
    (show,) = re.findall(r'href="(\?look=[^"]+)"', client.get(URL).text)
    said = client.get(URL + show).text
    assert "&quot;order&quot;: 41" in said
    assert "hx-trigger" not in said.split('id="look"')[1].split(">")[0]


@pytest.mark.usefixtures("tasks_at_once", "group")
def test_another_user_does_not_get_the_answer() -> None:
    (show,) = re.findall(r'href="(\?look=[^"]+)"', as_role("operator").get(URL).text)
    answer = as_role("admin").get(URL + show)
    assert answer.status_code == 410
    assert "order&quot;: 41" not in answer.text


@pytest.mark.usefixtures("tasks_at_once", "group")
def test_the_row_is_shown_at_once_and_asked_about_once(redis: Redis) -> None:
    text = as_role("viewer").get(URL).text
    assert "UNIQ-7" in text
    assert "Fetching from the broker" in text
    assert len(redis.keys("consumerscope:look:*")) == 1  # type: ignore[arg-type]


@pytest.mark.usefixtures("redis")
def test_it_says_who_sent_it_again_and_with_what_result(group: ConsumerGroup) -> None:
    resend = a_resend(group, by_name="grace")
    an_item(resend, group.dead_letters.get(), outcome=ResendOutcome.UNKNOWN)
    text = as_role("viewer").get(URL).text
    assert "possibly sent" in text
    assert "by grace" in text


@pytest.mark.usefixtures("tasks_at_once", "broker")
def test_what_the_list_does_not_have_is_shown_as_it_was_read() -> None:
    a_group(Cluster.objects.get())
    client = as_role("viewer")
    assert "This message is not in the list" in client.get(URL).text
    assert "As fetched now" in answered(client)


@pytest.mark.usefixtures("tasks_at_once")
def test_another_message_at_the_same_place_is_said(group: ConsumerGroup) -> None:
    group.dead_letters.update(stored_id="0A00000100002A9F0000000000000001")
    assert "This is another message than the one listed" in answered(as_role("viewer"))


@pytest.mark.usefixtures("tasks_at_once", "group")
def test_a_message_that_is_gone_is_said(broker: DeadLetterBroker) -> None:
    broker.letters["%DLQ%billing"] = {9: stored_letter(9)}
    assert "There is no message at offset 7. The queue holds offsets 9 to 9" in answered(as_role("viewer"))


@pytest.mark.usefixtures("redis_is_down", "group")
def test_with_redis_down_the_row_stands_and_one_sentence_says_so() -> None:
    text = as_role("operator").get(URL).text
    assert "UNIQ-7" in text
    assert "Redis does not answer" in text
    assert AuditEvent.objects.count() == 0


@pytest.mark.usefixtures("redis", "group")
@pytest.mark.parametrize(
    ("seconds", "says"),
    [
        (9, "Fetching from the broker"),
        (11, "The general worker did not answer within 10 s. Check that it is running."),
    ],
)
def test_after_ten_seconds_without_a_worker_it_says_so(seconds: int, says: str) -> None:
    client = as_role("operator")
    (part,) = PART.findall(client.get(URL).text)
    with time_machine.travel(NOW + timedelta(seconds=seconds), tick=False):
        assert says in client.get(part).text


@pytest.mark.usefixtures("redis", "group")
def test_an_answer_that_has_expired_is_said(redis: Redis) -> None:
    client = as_role("operator")
    (show,) = re.findall(r'href="(\?look=[^"]+)"', client.get(URL).text)
    redis.flushall()
    answer = client.get(URL + show)
    assert answer.status_code == 410
    assert "This result has expired" in answer.text


@pytest.mark.usefixtures("redis_is_down")
@pytest.mark.parametrize("path", ["/groups/prod/nobody/dlq/broker-a/0/7/", "/groups/none/billing/dlq/broker-a/0/7/"])
def test_a_group_that_is_not_known_is_not_found(path: str, admin_client: Client, group: ConsumerGroup) -> None:
    assert admin_client.get(path).status_code == 404


def test_it_wants_a_login_and_takes_no_other_method(client: Client, admin_client: Client) -> None:
    assert client.get(URL).headers["location"] == f"/login/?next={URL}"
    assert admin_client.post(URL).status_code == 405


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize(("role", "may_resend"), [("viewer", False), ("operator", True)])
def test_the_message_is_resent_from_its_own_page_by_who_may(role: str, may_resend: bool) -> None:
    client = as_role(role)
    assert ('name="message" value="broker-a/0/7"' in client.get(URL).text) is may_resend
    if may_resend:
        form = client.post("/groups/prod/billing/resends/plan/", {"message": "broker-a/0/7"}).text
        assert "Plan resend" in form


@pytest.mark.parametrize(
    ("topic", "said", "unsaid"), [("Orders", "Stored<", "Dead-lettered"), ("", "Dead-lettered", "Stored<")]
)
def test_only_a_dead_letter_was_dead_lettered(group: ConsumerGroup, topic: str, said: str, unsaid: str) -> None:
    place = {"topic": topic, "cluster": "prod", "group": "billing"}
    facts = render_to_string(
        "dead_letters/dead_letter_facts.html", {"facts": group.dead_letters.get(), "place": place, "now": NOW}
    )
    assert said in facts
    assert unsaid not in facts


@pytest.mark.parametrize(
    ("topic", "origin", "times", "asks"),
    [("Orders", None, 0, False), ("%RETRY%billing", None, 1, True), ("%RETRY%billing", "Orders", 0, True)],
)
def test_a_message_that_nobody_sent_back_has_no_unknown_origin(
    group: ConsumerGroup, topic: str, origin: str | None, times: int, asks: bool
) -> None:
    letter = group.dead_letters.get()
    letter.origin_topic, letter.origin_message_id, letter.reconsume_times = origin, None, times
    place = {"topic": topic, "cluster": "prod", "group": "billing"}
    facts = render_to_string("dead_letters/dead_letter_facts.html", {"facts": letter, "place": place, "now": NOW})
    assert ("Original topic" in facts) is asks
    assert ("Original stored ID" in facts) is asks
