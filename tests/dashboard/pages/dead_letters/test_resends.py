"""Pages on which re-sends are planned, confirmed, watched and cancelled."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from consumers.models import ConsumerGroup, Resend, ResendOutcome, ResendStatus
from tests.dead_letter_rows import a_letter, a_resend, a_resendable_group, an_item
from tests.walk.page_text import said
from tests.world import NOW, a_client, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.usefixtures("redis_is_down")
ROOT = "/groups/prod/billing/resends/"
PLAN = f"{ROOT}plan/"


@pytest.fixture(autouse=True)
def billing(db: None) -> ConsumerGroup:
    return a_resendable_group()


def text(answer: Any) -> str:
    return " ".join(said(answer.text))


def wish(*offsets: int, **fields: Any) -> dict[str, Any]:
    messages = [f"broker-a/0/{offset}" for offset in offsets]
    return {"message": messages, "destination": "group", "reason": "mended", "rate": "50"} | fields


def test_what_was_chosen_in_the_list_is_shown_with_the_ways_it_can_go(operator: Client, billing: ConsumerGroup) -> None:
    a_letter(billing, 3)
    a_letter(billing, 4)
    a_snapshot(a_group(billing.cluster, "audit"), a_queue(billing.cluster, "Order"), 1, 2)
    answer = operator.post(PLAN, {"message": ["broker-a/0/3", "broker-a/0/4"]})
    assert answer.status_code == 200
    assert "2 messages from Order" in text(answer)
    assert "Receivers: audit" in text(answer)
    assert not Resend.objects.exists()


def test_a_filter_is_carried_along(operator: Client, billing: ConsumerGroup) -> None:
    a_letter(billing, 3, tags="late")
    a_letter(billing, 4)
    answer = operator.post(PLAN, {"filter": "tag=late"})
    assert "1 message" in text(answer)
    assert '<input type="hidden" name="filter" value="tag=late">' in answer.text
    operator.post(PLAN, {"filter": "tag=late", "destination": "group", "reason": "mended", "rate": "5"})
    assert Resend.objects.get().selection == {"filter": {"tag": "late"}}


def test_nothing_ticked_chooses_nothing(operator: Client, billing: ConsumerGroup) -> None:
    """Whoever presses "Send the chosen again" with nothing ticked does not want to send all."""
    a_letter(billing, 3)
    answer = operator.post(PLAN, {})
    assert answer.status_code == 409
    assert "Nothing planned: no message is selected." in text(answer)
    assert "1 message" not in text(answer)
    assert 'name="filter"' not in answer.text
    assert "No message selected" in text(operator.get(PLAN))


def test_all_are_chosen_where_that_is_said(operator: Client, billing: ConsumerGroup) -> None:
    """The button that sends all sends the filter of the list, which is empty where there is none."""
    a_letter(billing, 3)
    a_letter(billing, 4)
    assert "2 messages" in text(operator.post(PLAN, {"filter": ""}))
    operator.post(PLAN, {"filter": "", "destination": "group", "reason": "mended", "rate": "5"})
    assert Resend.objects.get().selection == {"filter": {}}


@pytest.mark.parametrize("query", ["colour=red", "tag=", "tag=late&keys=1"])
def test_a_filter_that_is_not_known_is_not_left_out(operator: Client, billing: ConsumerGroup, query: str) -> None:
    a_letter(billing, 3, tags="late")
    assert operator.post(PLAN, {"filter": query}).status_code == 400


def test_a_way_that_is_closed_cannot_be_chosen_and_says_why(operator: Client, billing: ConsumerGroup) -> None:
    a_letter(billing, 3)
    a_client(billing, orderly=True)
    answer = operator.post(PLAN, {"message": ["broker-a/0/3"]})
    assert 'value="group" disabled' in answer.text
    assert 'value="topic" checked' in answer.text
    assert "hold queue locks" in text(answer)


def test_planning_leads_to_the_plan(operator: Client, billing: ConsumerGroup) -> None:
    a_letter(billing, 3)
    answer = operator.post(PLAN, wish(3))
    resend = Resend.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"{ROOT}{resend.pk}/")
    page = operator.get(answer["Location"])
    assert "nothing is sent yet" in text(page)
    assert "Receivers: billing" in text(page)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"reason": " "}, "needs a reason"),
        ({"rate": "fast"}, "must be a number"),
        ({"rate": "0"}, "from 1 to 500"),
        ({"message": ["broker-a/0/99"]}, "broker-a/0/99"),
        ({"message": []}, "No message selected"),
    ],
)
def test_a_plan_that_is_refused_keeps_what_was_typed(
    operator: Client, billing: ConsumerGroup, fields: dict[str, Any], words: str
) -> None:
    a_letter(billing, 3)
    answer = operator.post(PLAN, wish(3, reason="the bug is mended") | fields)
    assert answer.status_code == 409
    assert words in text(answer)
    assert ('value="the bug is mended"' in answer.text) == ("reason" not in fields)


@pytest.mark.parametrize(
    "fields",
    [{"message": ["broker-a/x/1"]}, {"message": ["nonsense"]}, {"filter": "from=yesterday"}, {"destination": "moon"}],
)
def test_what_no_list_posts_makes_no_sense(operator: Client, fields: dict[str, Any]) -> None:
    said_by_it = {"filter": ""} | fields if "message" not in fields else fields
    assert operator.post(PLAN, said_by_it).status_code == 400


def test_the_typed_name_starts_it(operator: Client, billing: ConsumerGroup) -> None:
    an_item(resend := a_plan(billing), a_letter(billing, 3), outcome=ResendOutcome.PLANNED)
    answer = operator.post(f"{ROOT}{resend.pk}/start/", {"confirm": "billing"})
    assert answer.status_code == 302
    resend.refresh_from_db()
    assert resend.status == ResendStatus.RUNNING


def a_plan(group: ConsumerGroup, **fields: Any) -> Resend:
    return a_resend(group, **{"status": ResendStatus.PLANNED, "expires_at": ago(-900), **fields})


def test_another_name_starts_nothing_and_says_so(operator: Client, billing: ConsumerGroup) -> None:
    an_item(resend := a_plan(billing), a_letter(billing, 3), outcome=ResendOutcome.PLANNED)
    answer = operator.post(f"{ROOT}{resend.pk}/start/", {"confirm": "shipping"})
    assert answer.status_code == 409
    assert "to confirm" in text(answer)
    resend.refresh_from_db()
    assert resend.status == ResendStatus.PLANNED


def test_a_running_one_is_cancelled(operator: Client, billing: ConsumerGroup) -> None:
    resend = a_resend(billing, status=ResendStatus.RUNNING)
    assert operator.post(f"{ROOT}{resend.pk}/cancel/").status_code == 302
    assert "stops after the messages in progress" in text(operator.get(f"{ROOT}{resend.pk}/"))
    assert operator.post(f"{ROOT}{a_resend(billing).pk}/cancel/").status_code == 409


def test_progress_refreshes_itself_and_says_how_far_it_is(viewer: Client, billing: ConsumerGroup) -> None:
    resend = a_resend(billing, status=ResendStatus.RUNNING, started_at=ago(9), working_at=ago(2))
    an_item(resend, a_letter(billing, 3))
    an_item(resend, a_letter(billing, 4), outcome=ResendOutcome.PLANNED)
    page = viewer.get(f"{ROOT}{resend.pk}/")
    assert f'hx-get="/parts{ROOT}{resend.pk}/?"' in page.text
    assert "1 of 2" in text(viewer.get(f"/parts{ROOT}{resend.pk}/"))


def test_each_message_says_what_became_of_it(viewer: Client, billing: ConsumerGroup) -> None:
    resend = a_resend(billing, status=ResendStatus.PARTIAL)
    an_item(resend, a_letter(billing, 3), target_topic="%RETRY%billing", target_broker="broker-a", target_queue_id=0,
            target_offset=9)  # fmt: skip
    an_item(resend, a_letter(billing, 4), outcome=ResendOutcome.UNKNOWN, error="it may have been sent: no answer")
    page = text(viewer.get(f"{ROOT}{resend.pk}/"))
    assert "%RETRY%billing broker-a/0/9" in page
    assert "it may have been sent: no answer" in page
    assert "It is unknown whether" in page
    only = viewer.get(f"{ROOT}{resend.pk}/?outcome=unknown").text
    assert ("broker-a/0/4" in only, "broker-a/0/3" in only) == (True, False)


def test_messages_have_a_column_of_reasons_where_one_has_a_reason(viewer: Client, billing: ConsumerGroup) -> None:
    resend = a_resend(billing, status=ResendStatus.PARTIAL)
    an_item(resend, a_letter(billing, 3))
    assert "Destination Reason" not in text(viewer.get(f"{ROOT}{resend.pk}/"))
    an_item(resend, a_letter(billing, 4), outcome=ResendOutcome.FAILED, error="timed out")
    assert "Destination Reason broker-a/0/3" in text(viewer.get(f"{ROOT}{resend.pk}/"))


def test_outcomes_to_choose_are_in_the_language_of_the_page(viewer: Client, billing: ConsumerGroup) -> None:
    an_item(resend := a_resend(billing), a_letter(billing, 4), outcome=ResendOutcome.CANCELLED)
    assert "cancelled" in text(viewer.get(f"{ROOT}{resend.pk}/"))
    chinese = viewer.get(f"{ROOT}{resend.pk}/", headers={"accept-language": "zh-hans"})
    assert "cancelled" not in text(chinese)


def test_past_ones_are_listed(viewer: Client, billing: ConsumerGroup) -> None:
    assert "No dead-letter message of this group was resent" in text(viewer.get(ROOT))
    an_item(a_resend(billing, reason="after the outage"), a_letter(billing, 3))
    assert "after the outage" in text(viewer.get(ROOT))


def test_a_viewer_may_look_and_is_told_who_may_act(viewer: Client, billing: ConsumerGroup) -> None:
    resend = a_plan(billing)
    an_item(resend, a_letter(billing, 3), outcome=ResendOutcome.PLANNED)
    page = viewer.get(f"{ROOT}{resend.pk}/")
    assert (page.status_code, "<button>Send" in page.text) == (200, False)
    assert "operator or admin" in text(viewer.get(PLAN))
    answers = [
        viewer.post(PLAN, wish(3)),
        viewer.post(f"{ROOT}{resend.pk}/start/"),
        viewer.post(f"{ROOT}{resend.pk}/cancel/"),
    ]
    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert "operator or admin" in text(answers[0])


def test_acts_need_a_token_of_the_form(billing: ConsumerGroup) -> None:
    client = Client(enforce_csrf_checks=True)
    user = User.objects.create_superuser("root")
    client.force_login(user)
    for path in (PLAN, f"{ROOT}{a_plan(billing).pk}/start/", f"{ROOT}{a_plan(billing).pk}/cancel/"):
        assert client.post(path, {"confirm": "billing"}).status_code == 403


def test_a_re_send_of_another_group_is_not_found(viewer: Client, billing: ConsumerGroup) -> None:
    other = a_resend(a_group(billing.cluster, "audit"))
    assert viewer.get(f"{ROOT}{other.pk}/").status_code == 404


def test_it_is_not_shown_to_strangers(billing: ConsumerGroup) -> None:
    for path in (ROOT, PLAN, f"{ROOT}{a_resend(billing, created_at=NOW).pk}/"):
        assert Client().get(path).status_code == 302
