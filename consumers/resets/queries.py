"""Finds resets, each in a fixed number of queries, however many queues a reset has."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Greatest

from consumers.models import Reset, ResetEvent, ResetKind, ResetMethod, ResetOutcome, ResetQueue, ResetStatus, ResetStep
from consumers.queries.declared import answered
from consumers.vocabulary.reasons import reason_code, reason_codes
from consumers.vocabulary.resets import RowReason
from consumers.words.reasons import coded_reason, stored_words

from .rows import ResetEventRow, ResetRow, ResetTotals, SeenBroker, SeenGroup

# Sums over the queues of resets, computed by the database: ten thousand queues cost the same as ten.

DONE = (ResetStep.READ_BACK, ResetStep.FAILED, ResetStep.NOT_DONE)

CHOSEN = Q(left_out=None)

# Without a method a queue is not left out only while its plan is made.
STANDING = CHOSEN & Q(method=ResetMethod.NOTHING)

MOVING = CHOSEN & ~Q(method=ResetMethod.NOTHING)

CONFIRMED = MOVING & Q(outcome=ResetOutcome.CONFIRMED)

# Of members that are told a time their broker says where they go, and not the plan.
WENT_TO = Coalesce("answered", "target")

BACK, ON = CONFIRMED & Q(before__gt=WENT_TO), CONFIRMED & Q(before__lt=WENT_TO)

IN_FACT = ("replayed_in_fact", "skipped_in_fact")

MESSAGES = ("replayed_messages", "skipped_messages")

TIMES = ("earliest_target_time", "latest_target_time")


def totals_of(reset_ids: Sequence[UUID]) -> dict[UUID, ResetTotals]:
    """In four queries. Resets without queues are not in it."""
    queues = ResetQueue.objects.filter(reset__in=reset_ids).order_by()
    counted = {name: _counts(queues, name) for name in ("method", "step", "outcome")}
    sums: Any = queues.values("reset").annotate(**_sums())
    return {
        row["reset"]: _totals(row, {name: counts[row["reset"]] for name, counts in counted.items()}) for row in sums
    }


def _sums() -> dict[str, Any]:
    # No name of a column: in the filters it would mean the count.
    count = {
        "queues": Q(),
        "left_out_queues": ~CHOSEN,
        "standing": STANDING,
        "moving": MOVING,
        "done": MOVING & Q(step__in=DONE),
        "clipped_queues": CHOSEN & Q(clipped=True),
        "restorable_queues": MOVING & Q(restorable=True),
        "not_restorable": MOVING & Q(restorable=False),
        "queues_with_target_time": CHOSEN & Q(target_time__isnull=False),
    }
    return {
        **{name: Count("pk", filter=which) for name, which in count.items()},
        **{f"{name}_silent": Count("pk", filter=CHOSEN & Q(**{name: None})) for name in MESSAGES},
        **{f"{name}_sum": Sum(name, filter=CHOSEN) for name in MESSAGES},
        # The offset when it was written, not the planned one: a group with members has moved on meanwhile.
        "replayed_in_fact": Coalesce(Sum(F("before") - WENT_TO, filter=BACK), 0),
        "skipped_in_fact": Coalesce(Sum(WENT_TO - Greatest("before", "min_offset"), filter=ON), 0),
        "confirmed": Count("pk", filter=CONFIRMED),
        "confirmed_without_before": Count("pk", filter=CONFIRMED & Q(before=None)),
        "earliest_target_time": Min("target_time", filter=CHOSEN),
        "latest_target_time": Max("target_time", filter=CHOSEN),
    }


def _counts(queues: "QuerySet[ResetQueue]", field: str) -> dict[UUID, dict[str, int]]:
    """Of queues that are not excluded."""
    counts: dict[UUID, dict[str, int]] = defaultdict(dict)
    rows = queues.filter(CHOSEN).exclude(**{field: None}).values_list("reset", field).annotate(Count("pk"))
    for reset_id, value, number in rows:
        counts[reset_id][value] = number
    return counts


def _totals(row: dict[str, Any], counts: dict[str, dict[str, int]]) -> ResetTotals:
    messages: dict[str, int | None] = {}
    unknown: dict[str, str] = {}
    chosen = row["queues"] - row["left_out_queues"]
    for name in MESSAGES:
        silent, known = row[f"{name}_silent"], row[f"{name}_sum"]
        messages |= {name: None if silent or not chosen else known, f"{name}_at_least": known}
        why = (
            coded_reason(RowReason.QUEUES_SILENT, silent=silent, chosen=chosen)
            if chosen
            else coded_reason(RowReason.ALL_LEFT_OUT)
        )
        unknown |= {field: why for field in (name, f"{name}_at_least") if messages[field] is None}
    times = {name: row[name] for name in TIMES}
    no_time = coded_reason(RowReason.NO_TARGET_TIME)
    if why_not_in_fact := _why_not_in_fact(row):
        messages |= dict.fromkeys(IN_FACT)
        unknown |= dict.fromkeys(IN_FACT, why_not_in_fact)
    else:
        messages |= {name: row[name] for name in IN_FACT}
    return ResetTotals(
        **{name: row[name] for name in ("queues", "standing", "moving", "done", "not_restorable")},
        **messages,  # type: ignore[arg-type]
        **times,
        left_out=row["left_out_queues"],
        clipped=row["clipped_queues"],
        restorable=row["restorable_queues"],
        queues_with_target_time=row["queues_with_target_time"],
        methods=counts["method"],
        steps=counts["step"],
        outcomes=counts["outcome"],
        unknown=unknown | {name: no_time for name, at in times.items() if at is None},
    )


def _why_not_in_fact(row: dict[str, Any]) -> str | None:
    if not row["confirmed"]:
        return coded_reason(RowReason.NONE_CONFIRMED)
    if without := row["confirmed_without_before"]:
        return coded_reason(RowReason.NO_COMMIT_BEFORE, without=without, confirmed=row["confirmed"])
    return None


# These targets select the queues that they name, unless the request says more.
CHOSEN_BY = {
    ResetKind.OFFSETS: RowReason.LISTED_QUEUES,
    ResetKind.MOMENT: RowReason.QUEUES_OF_THEN,
    ResetKind.RESTORE: RowReason.QUEUES_OF_OTHER,
}


def find_reset(reset_id: UUID, now: datetime) -> ResetRow | None:
    return next(iter(_rows(list(Reset.objects.filter(pk=reset_id)), now)), None)


@dataclass(frozen=True)
class ResetFilters:
    """`by`: who planned or applied it; created in [since, until)."""

    cluster: str | None = None
    group: str | None = None
    status: str | None = None
    kind: str | None = None
    by: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def reset_list(now: datetime, filters: ResetFilters, *, page: int, page_size: int) -> tuple[list[ResetRow], int]:
    """The newest first, and how many there are."""
    found = Reset.objects.order_by("-created_at", "pk")
    if filters.cluster is not None:
        found = found.filter(cluster_name=filters.cluster)
    if filters.group is not None:
        found = found.filter(group_name=filters.group)
    if filters.status is not None:
        found = found.filter(_is(filters.status, now))
    if filters.kind is not None:
        found = found.filter(kind=filters.kind)
    if filters.since is not None:
        found = found.filter(created_at__gte=filters.since)
    if filters.until is not None:
        found = found.filter(created_at__lt=filters.until)
    if filters.by is not None:
        found = found.filter(Q(by_name=filters.by) | Q(applied_by_name=filters.by))
    start = (page - 1) * page_size
    return _rows(list(found[start : start + page_size]), now), found.count()


def _is(status: str, now: datetime) -> Q:
    """A plan past its time counts as expired, whether or not a worker has recorded that."""
    void = Q(status=ResetStatus.PLANNED, expires_at__lte=now)
    if status == ResetStatus.EXPIRED:
        return Q(status=status) | void
    return Q(status=status) & ~void


def _rows(resets: Sequence[Reset], now: datetime) -> list[ResetRow]:
    ids = [reset.pk for reset in resets]
    totals = totals_of(ids)
    undone: dict[UUID | None, list[str]] = defaultdict(list)
    undoing = Reset.objects.filter(restores__in=ids).order_by("created_at")
    for reset_id, by in undoing.values_list("restores", "pk"):
        undone[reset_id].append(str(by))
    return [_row(reset, totals.get(reset.pk), undone[reset.pk], now) for reset in resets]


def _row(reset: Reset, totals: ResetTotals | None, restored_by: list[str], now: datetime) -> ResetRow:
    is_void = reset.status == ResetStatus.PLANNED and reset.expires_at is not None and reset.expires_at <= now
    status = ResetStatus.EXPIRED if is_void else ResetStatus(reset.status)
    finished_at = reset.expires_at if is_void else reset.finished_at
    warnings, moved = list(map(stored_words, reset.warnings)), list(map(stored_words, reset.moved or ()))
    return answered(
        ResetRow,
        reset,
        _why(reset, status),
        id=str(reset.pk),
        cluster=reset.cluster_name,
        group=reset.group_name,
        status=str(status),
        by=reset.by_name,
        restored_by=restored_by,
        chosen_queues=reset.queues,
        applied_by=reset.applied_by_name,
        finished_at=finished_at,
        seconds=_seconds(reset.started_at, finished_at or now),
        restores=None if reset.restores_id is None else str(reset.restores_id),
        warnings=warnings,
        warning_codes=list(map(reason_code, warnings)),
        moved=None if reset.moved is None else moved,
        moved_codes=list(map(reason_code, moved)),
        error=stored_words(reset.error),
        seen=seen_group(reset.seen),
        totals=totals,
    )


def _seconds(start: datetime | None, end: datetime) -> float | None:
    return None if start is None else max(0.0, (end - start).total_seconds())


def _why(reset: Reset, status: ResetStatus) -> dict[str, str]:
    by_target = CHOSEN_BY.get(ResetKind(reset.kind))
    no_plan = RowReason.PLAN_BEING_MADE if status == ResetStatus.PLANNING else RowReason.NO_PLAN
    no_check = RowReason.MOVES_LOOKED_AT if status == ResetStatus.APPLYING else RowReason.NOTHING_MOVED
    codes = {
        "value": RowReason.NO_VALUE,
        "topics": by_target or RowReason.ALL_TOPICS,
        "brokers": by_target or RowReason.ALL_BROKERS,
        "chosen_queues": by_target or RowReason.ALL_QUEUES,
        **dict.fromkeys(("planned_at", "expires_at", "seen", "totals"), no_plan),
        **dict.fromkeys(("applied_by", "started_at", "seconds"), RowReason.NOT_APPLIED),
        "working_at": RowReason.NOT_TAKEN_UP,
        "finished_at": RowReason.NOT_ENDED,
        "restores": RowReason.UNDOES_NONE,
        "moved": RowReason.NOT_APPLIED if reset.started_at is None else no_check,
        "error": RowReason.NOTHING_TO_SAY,
    }
    return {name: coded_reason(code) for name, code in codes.items()}


# The group as its plan saw it, from the reset's row.

OF_MEMBERS = ("orderly", "message_model", "consume_type")

OF_BROKERS = ("version", "server_side", "permission")


def seen_group(seen: Mapping[str, Any] | None) -> SeenGroup | None:
    if seen is None:
        return None
    members = seen.get("members")
    values = {name: seen.get(name) for name in OF_MEMBERS}
    why = coded_reason(RowReason.GROUP_OFFLINE if members == [] else RowReason.NO_MEMBER_SAID)
    unknown: dict[str, str] = {name: why for name, value in values.items() if value is None}
    if members is None:
        unknown["members"] = coded_reason(RowReason.MEMBERS_UNSAID)
    brokers = seen.get("brokers") or {}
    return SeenGroup(
        members=members,
        **values,
        brokers=[_broker(name, brokers[name]) for name in sorted(brokers)],
        unknown=unknown,
    )


def _broker(name: str, stored: Mapping[str, Any]) -> SeenBroker:
    values = {field: stored.get(field) for field in OF_BROKERS}
    why = coded_reason(RowReason.BROKER_UNSAID)
    unknown: dict[str, str] = {field: why for field, value in values.items() if value is None}
    return SeenBroker(name=name, **values, unknown=unknown)


def reset_events(reset_id: UUID) -> list[ResetEventRow]:
    """The actions on a reset, in order of time."""
    return [_event_row(event) for event in ResetEvent.objects.filter(reset=reset_id).order_by("pk")]


def _event_row(event: ResetEvent) -> ResetEventRow:
    unknown: dict[str, str] = {}
    sentence = stored_words(event.sentence)
    by_system = coded_reason(RowReason.BY_SYSTEM)
    if event.by_name is None:
        unknown["by"] = by_system
    if event.address is None:
        unknown["address"] = by_system if event.by_name is None else coded_reason(RowReason.NO_ADDRESS)
    codes = reason_codes({"sentence": sentence} | unknown)
    return ResetEventRow(event.at, event.by_name, event.address, event.via, sentence, unknown, codes)


# The time range that a reset covers: one query, however many queues it has.
@dataclass(frozen=True)
class Span:
    """Null where nothing is redelivered or skipped, or the messages at these targets were not read.

    `replayed_from`: when the first redelivered message was stored. `skipped_to`: the newest store time of a message at
    which a queue resumes after a skip. `replayed_unread` and `skipped_unread`: queues whose target has no known time.
    """

    replayed_from: datetime | None
    skipped_to: datetime | None
    replayed_unread: int
    skipped_unread: int


def span_of(reset_id: UUID) -> Span:
    moving = ResetQueue.objects.filter(reset=reset_id, left_out=None).exclude(method=ResetMethod.NOTHING).order_by()
    back, on, unread = Q(replayed_messages__gt=0), Q(skipped_messages__gt=0), Q(target_time=None)
    found = moving.aggregate(
        replayed_from=Min("target_time", filter=back),
        skipped_to=Max("target_time", filter=on),
        replayed_unread=Count("pk", filter=back & unread),
        skipped_unread=Count("pk", filter=on & unread),
    )
    return Span(**found)


# Resets for lists of many: one of ten thousand queues must not make a page of a hundred too long to read.
# A cell of a spreadsheet holds 32,767 characters.
LONGEST_LIST = 100


def shortened(row: ResetRow) -> ResetRow:
    """Without its lists of queues where they are long; `unknown` says where to find them."""
    found = {"value": row.value, "chosen_queues": row.chosen_queues}
    long = {
        name: len(entries)
        for name, entries in found.items()
        if isinstance(entries, list) and len(entries) > LONGEST_LIST
    }
    why = {name: coded_reason(RowReason.LONG_LIST, queues=queues) for name, queues in long.items()}
    elsewhere: dict[str, Any] = dict.fromkeys(long)
    return replace(row, **elsewhere, unknown=row.unknown | why, codes=row.codes | reason_codes(why))
