"""What can be done with a reset on its page, by whom, and what is said where it cannot."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from redis import Redis

from consumers.models import ConsumerGroup, Reset, ResetKind, ResetStatus, ResetStep
from tests.reset_rows import BACK, ENDED, READ, a_plan, a_reset, a_reset_queue, at, text
from tests.world import a_broker, a_cluster, a_group

pytestmark = pytest.mark.usefixtures("redis_is_down")


@pytest.fixture(autouse=True)
def billing(db: None) -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster)
    return a_group(cluster)


def test_the_dangerous_act_stands_apart_and_wants_the_name(operator: Client, billing: ConsumerGroup) -> None:
    page = operator.get(at(a_plan(billing)))
    _before, _start, apart = page.text.partition('<section class="apart"')
    assert "This moves the offset of 1 queue of billing on prod" in apart
    assert 'name="confirm" required' in apart
    assert '<button class="dangerous">Move the offsets</button>' in apart
    assert apart.count("<form") == 1


def test_the_typed_name_lets_it_be_applied(operator: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing)
    answer = operator.post(at(reset, "apply/"), {"confirm": " billing "})
    assert (answer.status_code, answer["Location"]) == (302, at(reset))
    reset.refresh_from_db()
    assert (reset.status, reset.applied_by_name) == (ResetStatus.APPLYING, "operator")


@pytest.mark.parametrize(("act", "status", "step"), [("apply", ResetStatus.PLANNED, ResetStep.PLANNED),
                                                      ("resume", ResetStatus.PARTIAL, ResetStep.NOT_DONE)])  # fmt: skip
def test_a_worker_is_told_at_once(
    operator: Client, billing: ConsumerGroup, redis: Redis, act: str, status: str, step: str
) -> None:
    reset = a_reset(billing, status=status)
    a_reset_queue(reset, 1, step=step)
    operator.post(at(reset, f"{act}/"), {"confirm": "billing"})
    assert redis.llen("general") == 1


def test_another_name_changes_nothing_and_says_so(operator: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing)
    answer = operator.post(at(reset, "apply/"), {"confirm": "audit"})
    assert answer.status_code == 409
    assert "Type the group's name, billing, to confirm." in text(answer)
    assert 'role="alert"' in answer.text
    reset.refresh_from_db()
    assert reset.status == ResetStatus.PLANNED


def test_who_planned_it_is_told_to_find_a_second_person(
    operator: Client, billing: ConsumerGroup, settings: Any
) -> None:
    settings.CONSUMERSCOPE_RESET_SECOND_PERSON = True
    page = operator.get(at(a_plan(billing, by_name="operator")))
    assert "another person has to apply it here" in text(page)
    assert '<button class="dangerous" disabled aria-describedby="why-not">' in page.text


def test_a_plan_is_given_up(operator: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing)
    assert operator.post(at(reset, "cancel/")).status_code == 302
    assert "The plan was discarded" in text(operator.get(at(reset)))
    assert operator.post(at(reset, "cancel/")).status_code == 409


def test_one_that_ended_half_way_can_go_on(operator: Client, billing: ConsumerGroup) -> None:
    reset = a_reset(billing, status=ResetStatus.PARTIAL, **ENDED)
    a_reset_queue(reset, 1, step=ResetStep.NOT_DONE)
    assert "Reset the remaining queues" in text(operator.get(at(reset)))
    assert operator.post(at(reset, "resume/"), {"confirm": "billing"}).status_code == 302
    reset.refresh_from_db()
    assert reset.status == ResetStatus.APPLYING


def test_the_way_back_is_a_plan_of_its_own(operator: Client, billing: ConsumerGroup) -> None:
    reset = a_reset(billing, status=ResetStatus.APPLIED, **ENDED)
    a_reset_queue(reset, 1, **BACK, **READ)
    answer = operator.post(at(reset, "restore/"), {"reason": "it was the wrong group"})
    back = Reset.objects.get(kind=ResetKind.RESTORE)
    assert (answer.status_code, answer["Location"]) == (302, at(back))
    assert f'href="/resets/{back.pk}/"' in operator.get(at(reset)).text
    assert f'href="/resets/{reset.pk}/"' in operator.get(at(back)).text


def test_a_way_back_that_was_refused_can_be_planned_anew_with_the_nearer_ends(
    operator: Client, billing: ConsumerGroup
) -> None:
    reset = a_reset(billing, status=ResetStatus.APPLIED, **ENDED)
    a_reset_queue(reset, 1, **BACK, **READ)
    back = a_reset(billing, kind=ResetKind.RESTORE, value=str(reset.pk), restores=reset, status=ResetStatus.REFUSED)
    page = operator.get(at(back)).text
    assert f'action="{at(reset, "restore/")}"' in page
    assert 'name="clip" value="1">' in page
    operator.post(at(reset, "restore/"), {"reason": "back", "clip": "1"})
    assert [plan.clip for plan in Reset.objects.filter(restores=reset).order_by("created_at")] == [False, True]


def test_where_nothing_can_be_restored_it_says_why(operator: Client, billing: ConsumerGroup) -> None:
    reset = a_reset(billing, status=ResetStatus.APPLIED, **ENDED)
    a_reset_queue(reset, 1, **BACK | {"before": None}, **READ)
    page = operator.get(at(reset))
    assert "had a committed offset before, and RocketMQ cannot delete one" in text(page)
    assert 'disabled aria-describedby="why-no-restore"' in page.text


@pytest.mark.parametrize(
    ("kind", "value", "sent"),
    [
        ("earliest", None, None),
        ("shift", -500, "-500"),
        ("skip_older", 90.5, "90.5 s"),
        ("skip_older", 14.0 * 86_400, "1209600 s"),
        ("moment", "2026-03-14T02:14:24+00:00", "2026-03-14T02:14:24+00:00"),
        (
            "offsets",
            [{"topic": "Orders", "broker": "broker-a", "queue_id": 1, "offset": 40}],
            "topic,broker,queue_id,offset\nOrders,broker-a,1,40",
        ),
    ],
)
def test_the_same_is_planned_anew_at_one_press(
    operator: Client, billing: ConsumerGroup, kind: str, value: Any, sent: str | None
) -> None:
    where = {"topics": ["Orders"], "queues": [{"topic": "Orders", "broker": "broker-a", "queue_id": 1}]}
    page = operator.get(at(a_plan(billing, kind=kind, value=value, clip=True, status=ResetStatus.EXPIRED, **where)))
    form = page.context["offers"].again
    assert ("kind", kind) in form
    assert sent is None or sent in [field for _name, field in form]
    assert {("topic", "Orders"), ("queue", "Orders/broker-a/1"), ("clip", "1")} <= set(form)
    assert "Re-plan from" in text(page)
    change = operator.get(f"/groups/prod/billing/resets/plan/?{page.context['offers'].change}")
    assert change.context["form"]["kind"].value() == kind
    assert sent is None or sent in {line.value for line in change.context["kinds"]}


def test_a_long_list_is_not_carried_along(operator: Client, billing: ConsumerGroup) -> None:
    listed = [{"topic": "Orders", "broker": "broker-a", "queue_id": number, "offset": 4} for number in range(501)]
    page = operator.get(at(a_plan(billing, kind=ResetKind.OFFSETS, value=listed)))
    assert "Re-plan from" not in text(page)


def test_a_way_back_is_planned_anew_from_the_reset_that_it_undoes(operator: Client, billing: ConsumerGroup) -> None:
    first = a_reset(billing, status=ResetStatus.APPLIED)
    back = a_plan(billing, kind=ResetKind.RESTORE, value=str(first.pk), restores=first)
    page = operator.get(at(back))
    assert "Re-plan from" not in text(page)
    assert f'action="{at(first, "restore/")}"' in page.text


def test_a_viewer_sees_everything_and_is_told_who_may_act(viewer: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing)
    page = viewer.get(at(reset))
    assert "operator or admin" in text(page)
    assert "<form" not in page.text.partition("<main")[2]
    answers = [viewer.post(at(reset, f"{act}/")) for act in ("apply", "resume", "restore", "cancel")]
    assert [answer.status_code for answer in answers] == [403] * 4
    assert "operator or admin" in text(answers[0])


def test_acts_need_a_token_of_the_form(billing: ConsumerGroup) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("root"))
    reset = a_plan(billing)
    for act in ("apply", "resume", "restore", "cancel"):
        assert client.post(at(reset, f"{act}/"), {"confirm": "billing"}).status_code == 403
