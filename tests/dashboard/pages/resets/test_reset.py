"""The page of a reset in each of its states: what it says of the whole, and of each queue."""

from typing import Any

import pytest
from django.test import Client

from consumers.models import ConsumerGroup, ResetOutcome, ResetStatus, ResetStep
from consumers.resets.planning.queue_plan import NEVER_COMMITTED
from tests.reset_rows import BACK, ENDED, READ, a_plan, a_queue_left_out, a_reset, a_reset_queue, an_event, at, text
from tests.world import NOW, a_broker, a_cluster, a_group, ago


@pytest.fixture(autouse=True)
def billing(db: None) -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster)
    return a_group(cluster)


def test_a_plan_says_what_it_would_do_and_how_long_it_holds(viewer: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing, warnings=["Consumers must be idempotent: 20 messages come again."])
    page = viewer.get(at(reset))
    words = text(page)
    assert "Reset of billing · to offset 40" in words
    assert "planned Nothing is changed yet. The plan expires at" in words
    assert "1 queue of 1 moves. Redelivered: 20 messages , back to" in words
    assert "1 h ago" in words
    assert "Skipped: 0 messages" in words
    assert "Consumers must be idempotent" in words
    assert "orders were lost" in words
    assert 'aria-label="min 10, now 60, target 40, max 100"' in page.text


def test_each_queue_says_where_it_goes_and_how(viewer: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing)
    a_reset_queue(reset, 2, target=70, wanted=5, clipped=True, replayed_messages=0, skipped_messages=10)
    a_reset_queue(reset, 3, now_offset=None, restorable=False, replayed_messages=None, skipped_messages=None,
                  unknown={"replayed_messages": "it never committed"})  # fmt: skip
    a_queue_left_out(reset, 4, "broker-b does not answer")
    words = text(viewer.get(at(reset)))
    assert "Orders / broker-a / 1" in words
    assert "moved by the broker" in words
    assert "clipped from 5" in words
    assert "10 skipped" in words
    assert "not restorable" in words
    assert "left out broker-b does not answer" in words
    assert "Redelivered: ≥ 20 messages (unknown for 1 of 3 queues" in words


def test_what_moves_all_queues_alike_is_said_once(viewer: Client, billing: ConsumerGroup) -> None:
    a_reset_queue(reset := a_plan(billing), 2)
    assert text(viewer.get(at(reset))).count("moved by the broker") == 1


@pytest.mark.parametrize("unknown", [{}, {"now_offset": NEVER_COMMITTED}])
def test_a_queue_without_a_commit_is_known_to_have_none(
    viewer: Client, billing: ConsumerGroup, unknown: dict[str, str]
) -> None:
    a_reset_queue(reset := a_reset(billing), 3, now_offset=None, restorable=False, unknown=unknown)
    page = viewer.get(at(reset))
    assert ">no commit</span>" in page.text
    assert "not restorable" in text(page)


def test_how_far_it_goes_back_is_told_by_the_queues_that_go_back(viewer: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing)
    ahead = {"target": 70, "replayed_messages": 0, "skipped_messages": 10}
    a_reset_queue(reset, 2, target_time=ago(7200), **ahead)
    a_reset_queue(reset, 3, target_time=ago(60), **ahead)
    words = text(viewer.get(at(reset)))
    assert "Redelivered: 20 messages , back to 2026-03-14 02:00:00 UTC" in words
    assert "next messages are of 2026-03-14 02:59:00 UTC" in words


def test_a_time_to_go_back_to_says_of_how_many_queues_it_is_not_known(viewer: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing)
    assert "no message read" not in text(viewer.get(at(reset)))
    a_reset_queue(reset, 2, target_time=None)
    a_reset_queue(reset, 3, target_time=None)
    words = text(viewer.get(at(reset)))
    assert "1 h ago · no message read at the target of 2 queues Skipped" in words


def test_an_offset_that_is_not_known_is_not_shown_as_zero(viewer: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing)
    a_queue_left_out(reset, 4)
    assert viewer.get(at(reset)).text.count("url(#hatch)") == 1


def test_while_it_is_planned_it_refreshes_and_offers_nothing(operator: Client, billing: ConsumerGroup) -> None:
    page = operator.get(at(a_reset(billing, status=ResetStatus.PLANNING, seen=None)))
    assert "The brokers are being asked" in text(page)
    assert "data-live" in page.text
    assert 'name="confirm"' not in page.text


def test_progress_is_said_while_it_is_applied(viewer: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing, status=ResetStatus.APPLYING, started_at=ago(9), working_at=ago(2))
    a_reset_queue(reset, 2, **BACK, **READ)
    page = viewer.get(at(reset))
    assert f'hx-get="/resets/{reset.pk}/part/?"' in page.text
    answer = viewer.get(at(reset, "part/"), headers={"HX-Request": "true"})
    assert '<progress max="2" value="1"' in answer.text
    assert '<div hx-swap-oob="innerHTML:#reset-said">1 of 2 queues are done.' in answer.text
    assert "planned 1 · read back 1" in " ".join(answer.text.split())
    viewer.cookies["language"] = "zh-hans"
    assert "已回读 1" in viewer.get(at(reset, "part/"), headers={"HX-Request": "true"}).text


def test_one_of_which_no_broker_was_told_can_be_cancelled_by_an_operator(
    viewer: Client, operator: Client, billing: ConsumerGroup
) -> None:
    reset = a_plan(billing, status=ResetStatus.APPLYING, started_at=ago(9))
    cancel = f'action="/resets/{reset.pk}/cancel/"'
    assert (cancel in viewer.get(at(reset)).text, cancel in operator.get(at(reset)).text) == (False, True)
    a_reset_queue(reset, 2, step=ResetStep.WRITING)
    assert cancel not in operator.get(at(reset)).text


def test_when_it_has_ended_the_page_is_loaded_anew(viewer: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing, status=ResetStatus.APPLIED, **ENDED)
    answer = viewer.get(at(reset, "part/"), headers={"HX-Request": "true"})
    assert answer.headers["HX-Refresh"] == "true"


def test_what_became_of_each_queue_is_said_trouble_first(viewer: Client, billing: ConsumerGroup) -> None:
    reset = a_reset(billing, status=ResetStatus.PARTIAL, **ENDED)
    a_reset_queue(reset, 1, **BACK, **READ)
    over = {**READ, "outcome": ResetOutcome.OVERWRITTEN, "evidence": "10.0.0.7@3312 committed 62."}
    a_reset_queue(reset, 2, **BACK, **over)
    a_reset_queue(reset, 3, step=ResetStep.FAILED, error="broker-a refused: system busy")
    words = text(viewer.get(at(reset)))
    assert "partly applied Some queues are not confirmed at target" in words
    assert "OVERWRITTEN 10.0.0.7@3312 committed 62." in words
    assert "failed broker-a refused: system busy" in words
    assert words.index("Orders / broker-a / 2") < words.index("Orders / broker-a / 1")
    only = viewer.get(at(reset, "?outcome=CONFIRMED")).text
    assert ("broker-a / 1" in only, "broker-a / 2" in only) == (True, False)


def test_a_filter_that_is_none_is_refused(viewer: Client, billing: ConsumerGroup) -> None:
    assert viewer.get(at(a_plan(billing), "?outcome=GOOD")).status_code == 400


def test_queues_that_are_left_out_can_be_looked_at_alone(viewer: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing)
    a_queue_left_out(reset, 4)
    page = viewer.get(at(reset, "?outcome=left out"))
    assert ("broker-b / 4" in page.text, "broker-a / 1" in page.text) == (True, False)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"status": ResetStatus.REFUSED, "error": "No queue of it can be moved."}, "No queue of it can be moved."),
        ({"status": ResetStatus.EXPIRED}, "The plan expired."),
        ({"status": ResetStatus.PLANNED, "expires_at": ago(1)}, "The plan expired."),
        ({"status": ResetStatus.CANCELLED}, "The plan was discarded."),
        ({"status": ResetStatus.APPLIED, **ENDED}, "All queues confirmed at target."),
        (
            {"status": ResetStatus.FAILED, "moved": ["Order/1 moved on by 20,000 messages."], **ENDED},
            "so no further queue was changed: Order/1 moved on by 20,000 messages.",
        ),
    ],
)
def test_each_end_is_told_in_a_sentence(
    viewer: Client, billing: ConsumerGroup, fields: dict[str, Any], words: str
) -> None:
    page = viewer.get(at(a_plan(billing, **fields)))
    assert words in text(page)
    assert "data-live" not in page.text


def test_who_did_what_is_listed(viewer: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing)
    an_event(reset, "Asked for a plan.")
    an_event(reset, "Planned 1 queue.", by_name=None, address=None, via="worker")
    words = text(viewer.get(at(reset)))
    assert "ops 10.1.2.3 REST Asked for a plan." in words
    assert "a worker done by the system Planned 1 queue." in words


def test_the_reset_of_a_group_that_is_gone_stays(viewer: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing)
    billing.delete()
    page = viewer.get(at(reset))
    assert page.status_code == 200
    assert "This group is no longer listed" in text(page)
    assert 'href="/groups/prod/billing' not in page.text


def test_one_that_is_not_there_is_not_found(operator: Client) -> None:
    gone = "/resets/0b0f6d0e-8a4e-4c1b-9a56-4c7f3f2f7a10/"
    answers = [operator.get(gone), operator.get(f"{gone}part/"), operator.get(f"{gone}export/")]
    answers += [operator.post(f"{gone}{act}/") for act in ("apply", "resume", "restore", "cancel")]
    assert [answer.status_code for answer in answers] == [404] * 7


def test_its_queues_are_a_file(viewer: Client, billing: ConsumerGroup) -> None:
    answer = viewer.get(at(a_plan(billing), "export/"))
    assert answer["Content-Type"].startswith("text/csv")
    assert b"Orders,broker-a,1," in b"".join(answer.streaming_content)  # type: ignore[attr-defined]


def test_its_page_costs_the_same_for_many_queues(viewer: Client, billing: ConsumerGroup,
                                                 django_assert_max_num_queries: Any) -> None:  # fmt: skip
    reset = a_reset(billing, created_at=NOW)
    for number in range(120):
        a_reset_queue(reset, number)
    with django_assert_max_num_queries(40):
        page = viewer.get(at(reset))
    assert "1–100 of 120" in text(page)
