"""Which resets there are, and what is said of each."""

import uuid
from typing import Any

import pytest

from consumers.models import ConsumerGroup, Reset, ResetKind, ResetStatus
from consumers.resets.queries import ResetFilters, find_reset, reset_events, reset_list
from consumers.resets.rows import ResetRow
from tests.reset_rows import SEEN, a_queue_left_out, a_reset, a_reset_queue, an_event
from tests.world import NOW, a_cluster, a_group, ago

ALL: dict[str, Any] = {"page": 1, "page_size": 100}


@pytest.fixture
def billing(db: None) -> ConsumerGroup:
    return a_group(a_cluster())


def found(reset: Reset) -> ResetRow:
    row = find_reset(reset.pk, NOW)
    assert row is not None
    return row


def test_it_says_what_was_wanted_and_by_whom(billing: ConsumerGroup) -> None:
    row = found(a_reset(billing, topics=["Orders"], clip=True))
    assert (row.cluster, row.group, row.kind, row.value) == ("prod", "billing", "offset", 40)
    assert (row.by, row.reason, row.topics, row.clip) == ("ops", "orders were lost", ["Orders"], True)


@pytest.mark.parametrize("status", list(ResetStatus))
def test_every_null_has_a_reason(billing: ConsumerGroup, status: ResetStatus) -> None:
    bare = dict.fromkeys(("planned_at", "expires_at", "seen", "value"))
    row = found(a_reset(billing, status=status, kind=ResetKind.EARLIEST, **bare))
    assert {name for name, value in vars(row).items() if value is None} == row.unknown.keys()


@pytest.mark.parametrize(
    ("status", "why"), [(ResetStatus.PLANNING, "the plan is not ready yet"), (ResetStatus.REFUSED, "no plan")]
)
def test_without_a_plan_there_are_no_sums(billing: ConsumerGroup, status: ResetStatus, why: str) -> None:
    row = found(a_reset(billing, status=status, seen=None))
    assert (row.totals, row.seen) == (None, None)
    assert (row.unknown["totals"], row.unknown["seen"]) == (why, why)


@pytest.mark.parametrize(
    ("kind", "topics", "queues"),
    [
        (
            ResetKind.EARLIEST,
            "all topics of the group, without its retry topic",
            "all queues of these topics and brokers",
        ),
        (ResetKind.OFFSETS, "the queues listed in the value", "the queues listed in the value"),
        (ResetKind.MOMENT, "the queues that the group had at that time", "the queues that the group had at that time"),
        (ResetKind.RESTORE, *["the queues that the other reset may have changed"] * 2),
    ],
)
def test_without_a_choice_it_says_what_is_chosen(
    billing: ConsumerGroup, kind: ResetKind, topics: str, queues: str
) -> None:
    why = found(a_reset(billing, kind=kind)).unknown
    assert (why["topics"], why["chosen_queues"]) == (topics, queues)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "not applied"),
        ({"status": ResetStatus.APPLYING, "started_at": NOW}, "has not ended, or found none"),
        ({"status": ResetStatus.APPLIED, "started_at": NOW}, "no queue was found to have moved since the plan"),
    ],
)
def test_nothing_is_said_to_have_stood_still_before_that_was_looked_at(
    billing: ConsumerGroup, fields: dict[str, Any], why: str
) -> None:
    assert why in found(a_reset(billing, **fields)).unknown["moved"]


def test_a_plan_is_expired_when_its_time_is_over(billing: ConsumerGroup) -> None:
    row = found(a_reset(billing, expires_at=NOW))
    assert (row.status, row.finished_at, row.has_ended) == ("expired", NOW, True)


def test_it_holds_until_then(billing: ConsumerGroup) -> None:
    row = found(a_reset(billing, expires_at=ago(-0.001)))
    assert (row.status, row.is_planned, row.unknown["finished_at"]) == ("planned", True, "it has not ended")


@pytest.mark.parametrize(("finished_at", "seconds"), [(ago(10), 20.0), (None, 30.0)])
def test_it_says_how_long_it_took_or_has_taken(billing: ConsumerGroup, finished_at: Any, seconds: float) -> None:
    row = found(a_reset(billing, status=ResetStatus.APPLYING, started_at=ago(30), finished_at=finished_at))
    assert row.seconds == seconds


def test_it_names_what_it_undoes_and_what_undoes_it(billing: ConsumerGroup) -> None:
    first = a_reset(billing)
    second = a_reset(billing, restores=first, kind=ResetKind.RESTORE)
    assert found(first).restored_by == [str(second.pk)]
    assert found(second).restores == str(first.pk)


def test_it_says_what_the_plan_saw_of_the_group(billing: ConsumerGroup) -> None:
    seen = found(a_reset(billing)).seen
    assert seen is not None
    assert (seen.members, seen.orderly, seen.unknown) == (["10.0.0.7@3312"], False, {})
    assert [(broker.name, broker.server_side) for broker in seen.brokers] == [("broker-a", True)]


@pytest.mark.parametrize(
    ("members", "reasons"),
    [
        ([], {"orderly": "the group had no member", "message_model": "the group had no member"}),
        (None, {"members": "not every broker listed its members", "orderly": "no member reported it"}),
    ],
)
def test_it_says_what_the_plan_could_not_see(
    billing: ConsumerGroup, members: list[str] | None, reasons: dict[str, str]
) -> None:
    said = SEEN | {"members": members, "orderly": None, "message_model": None}
    silent = {"broker-b": {"version": None, "server_side": None, "permission": None}}
    seen = found(a_reset(billing, seen=said | {"brokers": silent})).seen
    assert seen is not None
    assert seen.unknown.items() >= reasons.items()
    assert seen.brokers[0].unknown["server_side"] == "the broker did not report it"


@pytest.mark.parametrize(
    ("filters", "reasons"),
    [
        ({}, ["newest", "planned", "void", "other group", "other cluster"]),
        ({"cluster": "prod"}, ["newest", "planned", "void", "other group"]),
        ({"cluster": "prod", "group": "billing"}, ["newest", "planned", "void"]),
        ({"status": "planned"}, ["planned", "other group", "other cluster"]),
        ({"status": "expired"}, ["void"]),
        ({"by": "eve"}, ["newest", "planned"]),
        ({"page": 2, "page_size": 2}, ["void", "other group"]),
    ],
)
def test_they_are_listed_the_newest_first(billing: ConsumerGroup, filters: dict[str, Any], reasons: list[str]) -> None:
    shipping, far = a_group(billing.cluster, "shipping"), a_group(a_cluster("far"), "billing")
    a_reset(far, created_at=ago(500), reason="other cluster")
    a_reset(shipping, created_at=ago(400), reason="other group")
    a_reset(billing, created_at=ago(300), reason="void", expires_at=NOW)
    a_reset(billing, created_at=ago(200), reason="planned", by_name="eve")
    applied = {"status": ResetStatus.APPLIED, "applied_by_name": "eve"}
    a_reset(billing, created_at=ago(100), reason="newest", **applied)
    page = {name: filters.get(name, value) for name, value in ALL.items()}
    chosen = {name: value for name, value in filters.items() if name not in ALL}
    rows, _ = reset_list(NOW, ResetFilters(**chosen), **page)
    assert [row.reason for row in rows] == reasons


def test_a_list_costs_the_same_however_long_it_is(billing: ConsumerGroup, django_assert_num_queries: Any) -> None:
    for _ in range(20):
        reset = a_reset(billing)
        a_reset_queue(reset, 0)
        a_queue_left_out(reset, 1)
    with django_assert_num_queries(7):
        rows, count = reset_list(NOW, ResetFilters(), **ALL)
    assert (len(rows), count, rows[0].totals.queues if rows[0].totals else None) == (20, 20, 2)


def test_one_that_is_not_there_is_none(db: None) -> None:
    assert find_reset(uuid.uuid4(), NOW) is None


def test_acts_come_in_their_order_with_who_did_them(billing: ConsumerGroup) -> None:
    reset = a_reset(billing)
    an_event(reset, "Planned it.")
    an_event(reset, "Wrote 3 queues.", by_name=None, address=None, via="worker")
    first, second = reset_events(reset.pk)
    assert (first.by, first.address, first.sentence, first.unknown) == ("ops", "10.1.2.3", "Planned it.", {})
    assert (second.by, second.unknown["by"]) == (None, "done by the system")


def test_an_act_without_an_address_says_so(billing: ConsumerGroup) -> None:
    reset = a_reset(billing)
    an_event(reset, address=None)
    assert reset_events(reset.pk)[0].unknown == {"address": "the request had no address"}
