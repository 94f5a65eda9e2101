"""The page of a reset in each of its states: what it says, what it offers, and what it refuses."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from redis import Redis

from consumers.models import ConsumerGroup, Reset, ResetKind, ResetOutcome, ResetStatus, ResetStep
from consumers.resets.planning.rows import NEVER_COMMITTED
from tests.reset_rows import a_queue_left_out, a_reset, a_reset_queue, an_event
from tests.walk.page_text import said
from tests.world import NOW, a_broker, a_cluster, a_group, ago

pytestmark = pytest.mark.usefixtures("redis_is_down")
ENDED = {"started_at": ago(50), "finished_at": ago(10), "working_at": ago(11), "applied_by_name": "eve"}
BACK = {"step": ResetStep.READ_BACK, "before": 60, "before_at": ago(40), "written_at": ago(39)}
READ = {"outcome": ResetOutcome.CONFIRMED, "after": 41, "after_at": ago(12), "evidence": "It moved on from there."}


@pytest.fixture
def billing(db: None) -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster)
    return a_group(cluster)


def logged_in(role: str) -> Client:
    user = User.objects.create_user(role)
    user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def operator(billing: ConsumerGroup) -> Client:
    return logged_in("operator")


@pytest.fixture
def viewer(billing: ConsumerGroup) -> Client:
    return logged_in("viewer")


def text(answer: Any) -> str:
    return " ".join(said(answer.text))


def at(reset: Reset, act: str = "") -> str:
    return f"/resets/{reset.pk}/{act}"


def a_plan(group: ConsumerGroup, **fields: Any) -> Reset:
    reset = a_reset(group, **fields)
    a_reset_queue(reset, 1)
    return reset


def test_a_plan_says_what_it_would_do_and_how_long_it_holds(viewer: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing, warnings=["Consumers must be idempotent: 20 messages come again."])
    page = viewer.get(at(reset))
    words = text(page)
    assert "Reset of billing to offset 40" in words
    assert "planned Nothing is changed yet. The plan is void from" in words
    assert "1 queue of 1 moves. Consumed again: 20 messages , back to" in words
    assert "1 h ago" in words
    assert "Skipped, and lost to this group: 0 messages" in words
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
    assert "the broker moves it itself" in words
    assert "clipped from 5" in words
    assert "10 skipped" in words
    assert "not restorable" in words
    assert "left out broker-b does not answer" in words
    assert "Consumed again: at least 20 messages (1 of 3 queues do not say how many" in words


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
    assert "Consumed again: 20 messages , back to 2026-03-14 02:00:00 UTC" in words
    assert "it goes on with messages of 2026-03-14 02:59:00 UTC" in words


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
    assert '<div hx-swap-oob="innerHTML:#reset-said">1 of 2 queues are done with.' in answer.text


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
    assert "partly applied Not every queue was read at its target" in words
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
        ({"status": ResetStatus.EXPIRED}, "It was not applied in time, and is void."),
        ({"status": ResetStatus.PLANNED, "expires_at": ago(1)}, "It was not applied in time, and is void."),
        ({"status": ResetStatus.CANCELLED}, "The plan was given up."),
        ({"status": ResetStatus.APPLIED, **ENDED}, "Every queue that was to move was read at its target"),
        (
            {"status": ResetStatus.FAILED, "moved": ["Order/1 moved on by 20,000 messages."], **ENDED},
            "so nothing more was changed: Order/1 moved on by 20,000 messages.",
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
    assert "ops 10.1.2.3 rest Asked for a plan." in words
    assert "a worker a worker did it by itself Planned 1 queue." in words


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
    assert "a second person has to apply" in text(page)
    assert '<button class="dangerous" disabled aria-describedby="why-not">' in page.text


def test_a_plan_is_given_up(operator: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing)
    assert operator.post(at(reset, "cancel/")).status_code == 302
    assert "The plan was given up" in text(operator.get(at(reset)))
    assert operator.post(at(reset, "cancel/")).status_code == 409


def test_one_that_ended_half_way_can_go_on(operator: Client, billing: ConsumerGroup) -> None:
    reset = a_reset(billing, status=ResetStatus.PARTIAL, **ENDED)
    a_reset_queue(reset, 1, step=ResetStep.NOT_DONE)
    assert "Go on with the rest" in text(operator.get(at(reset)))
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


def test_where_nothing_can_be_restored_it_says_why(operator: Client, billing: ConsumerGroup) -> None:
    reset = a_reset(billing, status=ResetStatus.APPLIED, **ENDED)
    a_reset_queue(reset, 1, **BACK | {"before": None}, **READ)
    page = operator.get(at(reset))
    assert "had a commit before, and no call of RocketMQ takes an offset away" in text(page)
    assert 'disabled aria-describedby="why-no-restore"' in page.text


@pytest.mark.parametrize(
    ("kind", "value", "sent"),
    [
        ("earliest", None, None),
        ("shift", -500, "-500"),
        ("skip_older", 90.5, "90.5 s"),
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
    assert "Plan the same anew" in text(page)
    change = operator.get(f"/groups/prod/billing/resets/plan/?{page.context['offers'].change}")
    assert change.context["form"]["kind"].value() == kind
    assert sent is None or sent in {line.value for line in change.context["kinds"]}


def test_a_long_list_is_not_carried_along(operator: Client, billing: ConsumerGroup) -> None:
    listed = [{"topic": "Orders", "broker": "broker-a", "queue_id": number, "offset": 4} for number in range(501)]
    page = operator.get(at(a_plan(billing, kind=ResetKind.OFFSETS, value=listed)))
    assert "Plan the same anew" not in text(page)


def test_a_way_back_is_planned_anew_from_the_reset_that_it_undoes(operator: Client, billing: ConsumerGroup) -> None:
    first = a_reset(billing, status=ResetStatus.APPLIED)
    back = a_plan(billing, kind=ResetKind.RESTORE, value=str(first.pk), restores=first)
    page = operator.get(at(back))
    assert "Plan the same anew" not in text(page)
    assert f'action="{at(first, "restore/")}"' in page.text


def test_a_viewer_sees_everything_and_is_told_who_may_act(viewer: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing)
    page = viewer.get(at(reset))
    assert "operator and admin" in text(page)
    assert "<form" not in page.text.partition("<main")[2]
    answers = [viewer.post(at(reset, f"{act}/")) for act in ("apply", "resume", "restore", "cancel")]
    assert [answer.status_code for answer in answers] == [403] * 4
    assert "operator and admin" in text(answers[0])


def test_acts_need_a_token_of_the_form(billing: ConsumerGroup) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("root"))
    reset = a_plan(billing)
    for act in ("apply", "resume", "restore", "cancel"):
        assert client.post(at(reset, f"{act}/"), {"confirm": "billing"}).status_code == 403


def test_the_reset_of_a_group_that_is_gone_stays(viewer: Client, billing: ConsumerGroup) -> None:
    reset = a_plan(billing)
    billing.delete()
    page = viewer.get(at(reset))
    assert page.status_code == 200
    assert "This group is not listed any more" in text(page)
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
