"""All groups that rules evaluate, under the overlay, in one query: the same groups and numbers as on pages."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import F, TextField
from django.db.models.functions import Cast

from consumers.alerts.subjects import Subject
from consumers.groups.listing import filtered
from consumers.groups.overlay import STATES, Overlay
from consumers.groups.rows import GroupFilters
from consumers.models import State, SubjectKind

from .explained import Explainer

CHUNK = 5000


class GroupFacts(NamedTuple):
    """A group and its stored values; `judged_…` are null where it was never evaluated, `total_…` where it was never
    read.

    The columns of SHOWN are under the overlay: null where they are not valid now. So is `rank`, of the state that pages
    show: while evaluations are late, the last state that no newer poll result contradicts.
    """

    id: int
    cluster_id: int
    cluster: str
    name: str
    first_seen_at: datetime
    consume_enable: bool | None
    message_model: str | None
    consume_type: str | None
    membership_at: datetime | None
    membership_error: str | None
    online: bool | None
    offline_since: datetime | None
    moved_at: datetime | None
    settled_at: datetime | None
    members_changed_at: datetime | None
    outside_store: str | None
    total_unknown_reason: str | None
    total_lost_queues: int | None
    total_last_good_at: datetime | None
    total_changed_at: datetime | None
    judged_state: str | None
    judged_rule: str | None
    judged_since: datetime | None
    judged_at: datetime | None
    rank: int
    unread_by: int | None
    lag_messages: int | None
    time_lag_seconds: float | None
    drain_seconds: float | None
    members: int | None
    expired_messages: int | None
    retry_share: float | None
    presence: str
    detail: str | None
    volumes_unknown: str | None

    @property
    def state(self) -> State:
        return STATES[self.rank]


SHOWN = ("lag_messages", "time_lag_seconds", "drain_seconds", "members", "expired_messages", "retry_share")
_COLUMNS: dict[str, Any] = {
    "of_cluster": F("cluster__name"),
    "of_rank": F("shown_rank"),
    "of_unread_by": F("unread_by"),
    **{f"of_{name}": F(f"shown_{name}") for name in SHOWN},
    # JSON is parsed only for the few groups that a rule concerns.
    "of_presence": Cast("presence", TextField()),
    "of_detail": Cast("judged__detail", TextField()),
    "of_volumes_unknown": Cast("judged__volumes_unknown", TextField()),
}


def _column(name: str) -> str:
    if name == "cluster" or f"of_{name}" in _COLUMNS:
        return f"of_{name}"
    if name == "judged_at":
        return "judged__judged_at"
    for table in ("total", "judged"):
        if name.startswith(f"{table}_"):
            return name.replace("_", "__", 1)
    return name


@dataclass(frozen=True)
class GroupScan:
    """`rows[i]` belongs to `subjects[i]`."""

    overlay: Overlay
    explainer: Explainer
    rows: Sequence[GroupFacts]
    subjects: Sequence[Subject]

    @property
    def now(self) -> datetime:
        return self.overlay.now

    @cached_property
    def places(self) -> dict[int, int]:
        """{group id: place}."""
        return {row.id: place for place, row in enumerate(self.rows)}

    def unread_reason(self, place: int) -> str | None:
        """Why nothing of the group is known; None where everything of it is read."""
        row = self.rows[place]
        return None if row.unread_by is None else self.explainer.reason(row.cluster_id, row.unread_by)

    def unjudged_reason(self, place: int) -> str | None:
        """Why no evaluated number of the group is valid; None where its newest evaluation is."""
        return self.explainer.unjudged_reason(self.rows[place].judged_at)

    def is_late(self, place: int) -> bool:
        """The group was evaluated, but too long ago: its state may be out of date."""
        return self.rows[place].judged_at is not None and self.unjudged_reason(place) is not None

    def detail(self, place: int) -> dict[str, Any]:
        return parsed(self.rows[place].detail)


def scanned(overlay: Overlay, explainer: Explainer) -> GroupScan:
    """User groups of all clusters except inactive ones, by cluster and name. One query."""
    found = filtered(overlay, GroupFilters()).annotate(**_COLUMNS).order_by("cluster__name", "name")
    names = [_column(name) for name in GroupFacts._fields]
    rows = [GroupFacts._make(values) for values in found.values_list(*names).iterator(chunk_size=CHUNK)]
    return GroupScan(overlay, explainer, rows, [_subject(row) for row in rows])


def _subject(row: GroupFacts) -> Subject:
    return Subject(SubjectKind.GROUP, cluster=row.cluster, group=row.name, group_id=row.id)


def parsed(stored: str | None) -> dict[str, Any]:
    found = json.loads(stored) if stored else {}
    return found if isinstance(found, dict) else {}
