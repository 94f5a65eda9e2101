"""The small and stable answer for alert rules."""

from dataclasses import dataclass, field
from datetime import datetime

from consumers.models import ConsumerGroup, State
from consumers.selectors.groups.listing import shown_groups
from consumers.selectors.groups.overlay import Overlay
from consumers.selectors.groups.row import row_fields
from consumers.selectors.groups.rows import IncidentCounts, WorstQueue
from consumers.selectors.public import answer, public
from consumers.selectors.queues.queue_rows import STALE
from consumers.vocabulary.unknown import UnknownReason


@answer(name="Status")
@dataclass(frozen=True)
class GroupStatus:
    """`worst_queue` is null where no single queue decided; other nulls have their reason in `unknown`."""

    state: State
    stale: bool = field(metadata=public(STALE))
    since: datetime | None
    completeness: float | None
    lag_messages: int | None
    time_lag_seconds: float | None
    worst_queue: WorstQueue | None
    open_incidents: IncidentCounts | None
    taken_at: datetime | None
    judged_at: datetime | None
    unknown_reason: str | None
    unknown_reason_code: UnknownReason | None
    unknown: dict[str, str]


FIELDS = (
    *(
        "state",
        "stale",
        "since",
        "completeness",
        "lag_messages",
        "time_lag_seconds",
        "open_incidents",
        "taken_at",
        "judged_at",
    ),
)


def group_status(cluster: str, group: str, *, now: datetime) -> GroupStatus | None:
    """None when there is no such group."""
    found = ConsumerGroup.objects.filter(cluster__name=cluster, name=group).values_list("pk", flat=True).first()
    if found is None:
        return None
    [shown] = shown_groups(Overlay.at(now), [found])
    fields, verdict = row_fields(shown), shown.verdict
    return GroupStatus(
        **{name: fields[name] for name in FIELDS},
        worst_queue=verdict.worst,
        unknown_reason=fields["unknown_reason"],
        unknown_reason_code=fields["unknown_reason_code"],
        unknown={name: reason for name, reason in fields["unknown"].items() if name in FIELDS},
    )
