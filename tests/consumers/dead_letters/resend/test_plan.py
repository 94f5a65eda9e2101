"""Plans: what is in them, what is left out, and what is refused."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from consumers.dead_letters.filters import DeadLetterFilters
from consumers.dead_letters.resend.plan import PlanRefused, ResendRequest, Selection, plan
from consumers.models import AuditEvent, ConsumerGroup, DeadLetter, Destination, ResendOutcome, ResendStatus
from consumers.vocabulary.reasons import ResendCause, stored_reason
from tests.consumers.dead_letters.resend.conftest import a_resend, an_item, outcomes
from tests.consumers.dead_letters.resend.fake_queues import stored_id
from tests.dead_letter_rows import a_resendable_group
from tests.world import NOW, ago

PLANNED, SKIPPED = ResendOutcome.PLANNED, ResendOutcome.SKIPPED


@pytest.fixture
def ann(db: None) -> User:
    return User.objects.create_user("ann")


@pytest.fixture
def billing(db: None) -> ConsumerGroup:
    return a_resendable_group()


def a_letter(group: ConsumerGroup, offset: int, **fields: Any) -> DeadLetter:
    values = {"broker": "broker-a", "queue_id": 0, "stored_id": stored_id(offset), "origin_topic": "Order"}
    values |= {"reconsume_times": 4, "born_at": ago(900), "stored_at": ago(600 - offset), "size": 4, "seen_at": ago(5)}
    return DeadLetter.objects.create(group=group, offset=offset, **(values | fields))


def requested(*offsets: int, filters: DeadLetterFilters | None = None, **fields: Any) -> ResendRequest:
    messages = None if filters else [("broker-a", 0, offset) for offset in offsets]
    values = {"destination": Destination.GROUP, "reason": "the bug is mended"} | fields
    return ResendRequest(selection=Selection(messages, filters), **values)


def test_the_named_messages_are_planned_the_oldest_first(billing: ConsumerGroup, ann: User) -> None:
    for offset in range(4):
        a_letter(billing, offset)
    resend = plan(billing, requested(3, 1, 1), ann, NOW)
    assert list(resend.items.values_list("offset", "outcome", "target_topic")) == [
        (1, PLANNED, "%RETRY%billing"),
        (3, PLANNED, "%RETRY%billing"),
    ]
    assert (resend.status, resend.by_name, resend.expires_at) == ("planned", "ann", NOW + timedelta(minutes=15))
    assert resend.selection == {"messages": [["broker-a", 0, 3], ["broker-a", 0, 1], ["broker-a", 0, 1]]}


def test_filters_plan_all_that_they_choose(billing: ConsumerGroup, ann: User) -> None:
    a_letter(billing, 0, tags="paid")
    a_letter(billing, 1, tags="late")
    resend = plan(billing, requested(filters=DeadLetterFilters(tag="late")), ann, NOW)
    assert list(resend.items.values_list("offset", flat=True)) == [1]
    assert resend.selection == {"filter": {"tag": "late"}}


def test_to_the_topic_each_goes_where_it_came_from(billing: ConsumerGroup, ann: User) -> None:
    a_letter(billing, 0)
    a_letter(billing, 1, origin_topic="Lost")
    a_letter(billing, 2, origin_topic=None)
    resend = plan(billing, requested(0, 1, 2, destination=Destination.TOPIC), ann, NOW)
    assert list(resend.items.values_list("outcome", "error")) == [
        (PLANNED, None),
        (SKIPPED, stored_reason(ResendCause.TOPIC_NEVER_READ, topic="Lost")),
        (SKIPPED, stored_reason(ResendCause.NO_ORIGIN)),
    ]


@pytest.mark.parametrize(
    ("outcome", "cause"),
    [
        (ResendOutcome.SENT, ResendCause.RESENT_BEFORE),
        (ResendOutcome.UNKNOWN, ResendCause.MAYBE_RESENT_BEFORE),
        (ResendOutcome.SENDING, ResendCause.MAYBE_RESENT_BEFORE),
    ],
)
def test_what_was_re_sent_before_is_left_out(
    billing: ConsumerGroup, ann: User, outcome: ResendOutcome, cause: ResendCause
) -> None:
    a_letter(billing, 0)
    an_item(a_resend(billing, status=ResendStatus.DONE), 0, outcome, at=ago(3600))
    error = stored_reason(cause, at="2026-03-14T02:00:00Z", by="ann")
    assert list(plan(billing, requested(0), ann, NOW).items.values_list("outcome", "error")) == [(SKIPPED, error)]


@pytest.mark.parametrize("outcome", [ResendOutcome.FAILED, ResendOutcome.CANCELLED, ResendOutcome.SKIPPED, PLANNED])
def test_what_was_certainly_not_sent_is_planned_anew(billing: ConsumerGroup, ann: User, outcome: ResendOutcome) -> None:
    a_letter(billing, 0)
    an_item(a_resend(billing, status=ResendStatus.DONE), 0, outcome, at=ago(3600))
    assert outcomes(plan(billing, requested(0), ann, NOW)) == [PLANNED]


def test_another_message_at_the_same_place_was_not_re_sent(billing: ConsumerGroup, ann: User) -> None:
    a_letter(billing, 0)
    an_item(a_resend(billing, status=ResendStatus.DONE), 0, ResendOutcome.SENT, at=ago(3600), stored_id="OTHER")
    assert outcomes(plan(billing, requested(0), ann, NOW)) == [PLANNED]


def test_again_plans_what_was_re_sent_too(billing: ConsumerGroup, ann: User) -> None:
    a_letter(billing, 0)
    an_item(a_resend(billing, status=ResendStatus.DONE), 0, ResendOutcome.SENT, at=ago(3600))
    assert outcomes(plan(billing, requested(0, again=True), ann, NOW)) == [PLANNED]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (requested(), "No message is chosen"),
        (requested(filters=DeadLetterFilters(tag="none")), "No message is chosen"),
        (requested(0, reason="  "), "needs a reason"),
        (requested(0, rate_per_second=0.5), "from 1 to 500"),
        (requested(0, rate_per_second=501), "from 1 to 500"),
        (requested(0, rate_per_second=float("nan")), "from 1 to 500"),
        (requested(0, 7), "broker-a/0/7"),
        (requested(0, 1, 2, 3), "RESEND_MESSAGES_MAX"),
        (requested(filters=DeadLetterFilters(origin_topic="Order")), "More than 2 messages"),
    ],
)
def test_it_refuses(billing: ConsumerGroup, ann: User, settings: Any, wanted: ResendRequest, words: str) -> None:
    settings.RESEND_MESSAGES_MAX = 2
    for offset in range(4):
        a_letter(billing, offset)
    with pytest.raises(PlanRefused, match=words):
        plan(billing, wanted, ann, NOW)
    assert not billing.resends.exists()


def test_it_refuses_what_speaks_against_the_group(billing: ConsumerGroup, ann: User) -> None:
    billing.configs.update(retry_queue_nums=0)
    a_letter(billing, 0)
    with pytest.raises(PlanRefused, match="retryQueueNums is 0 on broker-a"):
        plan(billing, requested(0), ann, NOW)


@pytest.mark.parametrize("destination", list(Destination))
def test_it_refuses_on_a_read_only_cluster(
    billing: ConsumerGroup, ann: User, settings: Any, destination: Destination
) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    a_letter(billing, 0)
    with pytest.raises(PlanRefused, match="prod is marked read-only"):
        plan(billing, requested(0, destination=destination), ann, NOW)


def test_who_planned_is_kept(billing: ConsumerGroup, ann: User) -> None:
    a_letter(billing, 0)
    resend = plan(billing, requested(0), ann, NOW)
    entry = AuditEvent.objects.get(subject_id=str(resend.pk))
    assert (entry.by_name, entry.at, "1 dead-letter messages" in entry.sentence) == ("ann", NOW, True)


def test_hundreds_of_messages_are_planned_with_few_queries(
    billing: ConsumerGroup, ann: User, django_assert_max_num_queries: Any
) -> None:
    made = [a_letter_of(billing, offset) for offset in range(500)]
    DeadLetter.objects.bulk_create(made)
    with django_assert_max_num_queries(35):
        resend = plan(billing, requested(*range(500)), ann, NOW)
    assert resend.items.count() == 500


def a_letter_of(group: ConsumerGroup, offset: int) -> DeadLetter:
    times = {"born_at": ago(900), "stored_at": ago(600), "seen_at": ago(5)}
    values = {"broker": "broker-a", "queue_id": 0, "stored_id": stored_id(offset), "origin_topic": "Order"}
    return DeadLetter(group=group, offset=offset, reconsume_times=4, size=4, **values, **times)
