"""Stores the health of each group for lists: some findings for all groups in each round, others by a full check,
whose findings are stored too.

A full check costs some twenty queries for each group, so a round checks groups for a limited time: first groups that
were never checked, then those whose members changed, then those checked longest ago.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from consumers.findings.queries import check_groups
from consumers.findings.record import record_groups
from consumers.groups.health import Reason, worst_level
from consumers.groups.health_checks import noticed, reasons_of
from consumers.models import ConsumerGroup, GroupHealth

# A group is not checked again before this time, unless its members changed.
REST = timedelta(seconds=30)
CHANGING = timedelta(seconds=60)
AT_ONCE, BATCH = 25, 1000
FIELDS = ("level", "noticed", "checked", "noted_at", "checked_at")


@dataclass(frozen=True)
class Report:
    """`left`: how many due groups have to wait for the next round."""

    groups: int
    checked: int
    left: int


def note(now: datetime, clock: Callable[[], datetime], check_seconds: float) -> Report:
    """`clock` measures the duration. A few writes for all groups where nothing changed."""
    began = clock()
    stored = {row.group_id: row for row in GroupHealth.objects.all()}
    found = noticed(now)
    rows = {pk: _noted(stored.get(pk), pk, reasons, now) for pk, reasons in found.items()}
    _write(row for pk, row in rows.items() if _differs(stored.get(pk), row))
    # One statement, so that all groups share one time.
    GroupHealth.objects.update(noted_at=now)
    due, done = _due(rows, now), 0
    for start in range(0, len(due), AT_ONCE):
        if (clock() - began).total_seconds() > check_seconds:
            break
        part = due[start : start + AT_ONCE]
        _write(_checked(rows, part, now))
        done += len(part)
    return Report(len(rows), done, len(due) - done)


def _noted(before: GroupHealth | None, pk: int, reasons: tuple[Reason, ...], now: datetime) -> GroupHealth:
    checked = [] if before is None else before.checked
    return GroupHealth(
        group_id=pk,
        level=worst_level([*reasons, *map(Reason.of_json, checked)]),
        noticed=[reason.as_json() for reason in reasons],
        checked=checked,
        noted_at=now,
        checked_at=None if before is None else before.checked_at,
    )


def _differs(before: GroupHealth | None, row: GroupHealth) -> bool:
    return before is None or (before.level, before.noticed) != (row.level, row.noticed)


def _due(rows: Mapping[int, GroupHealth], now: datetime) -> list[int]:
    changed = dict(ConsumerGroup.objects.order_by().values_list("pk", "members_changed_at"))

    def urgency(pk: int) -> tuple[int, datetime]:
        at = rows[pk].checked_at
        if at is None:
            return 0, now
        return (1 if _is_changing(changed[pk], at) else 2), at

    due = [pk for pk in rows if pk in changed and _is_due(rows[pk].checked_at, changed[pk], now)]
    return sorted(due, key=lambda pk: (*urgency(pk), pk))


def _is_due(at: datetime | None, changed: datetime | None, now: datetime) -> bool:
    return at is None or now - at >= REST or _is_changing(changed, at)


def _is_changing(changed: datetime | None, checked_at: datetime) -> bool:
    return changed is not None and changed > checked_at - CHANGING


def _checked(rows: Mapping[int, GroupHealth], part: list[int], now: datetime) -> Iterator[GroupHealth]:
    groups = list(ConsumerGroup.objects.filter(pk__in=part).select_related("cluster"))
    checks = check_groups(groups, now)
    record_groups(groups, checks, now)
    for pk, reasons in reasons_of(groups, checks, now).items():
        row = rows[pk]
        row.checked, row.checked_at = [reason.as_json() for reason in reasons], now
        row.level = worst_level(map(Reason.of_json, [*row.noticed, *row.checked]))
        yield row


def _write(rows: Iterable[GroupHealth]) -> None:
    found = list(rows)
    for start in range(0, len(found), BATCH):
        batch = found[start : start + BATCH]
        with transaction.atomic():
            # A group may have been deleted meanwhile.
            pks = set(ConsumerGroup.objects.filter(pk__in=[row.group_id for row in batch]).values_list("pk", flat=True))
            there: list[Any] = [row for row in batch if row.group_id in pks]
            GroupHealth.objects.bulk_create(
                there, update_conflicts=True, unique_fields=["group"], update_fields=list(FIELDS)
            )
