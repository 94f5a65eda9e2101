"""Sums over the queues of resets, made by the database: ten thousand queues cost what ten do."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Greatest

from consumers.models import ResetMethod, ResetOutcome, ResetQueue, ResetStep

from .totals_rows import ResetTotals

DONE = (ResetStep.READ_BACK, ResetStep.FAILED, ResetStep.NOT_DONE)
CHOSEN = Q(left_out=None)
# Without a method a queue is not left out only while its plan is made.
STANDING = CHOSEN & Q(method=ResetMethod.NOTHING)
MOVING = CHOSEN & ~Q(method=ResetMethod.NOTHING)
CONFIRMED = MOVING & Q(outcome=ResetOutcome.CONFIRMED)
BACK, ON = CONFIRMED & Q(before__gt=F("target")), CONFIRMED & Q(before__lt=F("target"))
IN_FACT = ("replayed_in_fact", "skipped_in_fact")
MESSAGES = ("replayed_messages", "skipped_messages")
TIMES = ("earliest_target_time", "latest_target_time")
NO_TIME = "the time of no message at a target was read"


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
        # Where it stood when it was written, not at the plan: a group with members has moved on meanwhile.
        "replayed_in_fact": Coalesce(Sum(F("before") - F("target"), filter=BACK), 0),
        "skipped_in_fact": Coalesce(Sum(F("target") - Greatest("before", "min_offset"), filter=ON), 0),
        "confirmed": Count("pk", filter=CONFIRMED),
        "confirmed_without_before": Count("pk", filter=CONFIRMED & Q(before=None)),
        "earliest_target_time": Min("target_time", filter=CHOSEN),
        "latest_target_time": Max("target_time", filter=CHOSEN),
    }


def _counts(queues: "QuerySet[ResetQueue]", field: str) -> dict[UUID, dict[str, int]]:
    """Of those that are not left out."""
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
        why = f"{silent} of {chosen} queues do not say how many: each says why" if chosen else "all queues are left out"
        unknown |= {field: why for field in (name, f"{name}_at_least") if messages[field] is None}
    times = {name: row[name] for name in TIMES}
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
        unknown=unknown | {name: NO_TIME for name, at in times.items() if at is None},
    )


def _why_not_in_fact(row: dict[str, Any]) -> str | None:
    if not row["confirmed"]:
        return "no queue that was to move is confirmed"
    if without := row["confirmed_without_before"]:
        return f"{without} of {row['confirmed']} confirmed queues had no commit before"
    return None
