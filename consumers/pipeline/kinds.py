"""What kinds of groups change in a judgement: small tables beside the queues, one row a group, one a retired topic."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa
from django.db.models import F, Max

from consumers.lake.schemas import TEXT
from consumers.models import ConsumerGroup, GroupWindow
from consumers.polling.flags import GroupFlags, group_flags, retired_topics
from consumers.polling.members.popping import NO_ANSWER, PopAnswer, pop_answers
from consumers.vocabulary.groups import Flag

from .durations import Durations

HOUR_SECONDS = 3600
GROUPS = pa.schema(
    [
        ("cluster", TEXT),
        ("group", TEXT),
        ("known_type", TEXT),
        ("known_model", TEXT),
        ("is_ghost", pa.bool_()),
        ("is_paused", pa.bool_()),
        ("is_away", pa.bool_()),  # offline, by habit
        ("habit_limit_seconds", pa.float64()),  # null: how long it usually waits is not known
        ("outside_store", TEXT),
        ("has_unlisted_members", pa.bool_()),
        ("is_popping", pa.bool_()),
        ("unacked_messages", pa.int64()),  # null: not every member said so
        ("usual_gap_seconds", pa.float64()),  # null: not learned
        ("allowance_seconds", pa.float64()),  # null: as for every group
        ("behind_seconds", pa.float64()),
    ]
)
RETIRED = pa.schema([("cluster", TEXT), ("group", TEXT), ("topic", TEXT)])


@dataclass(frozen=True)
class KindRows:
    groups: pa.Table
    retired: pa.Table

    @classmethod
    def of(cls, clusters: Sequence[str], now: datetime, durations: Durations) -> "KindRows":
        found = ConsumerGroup.objects.filter(cluster__name__in=clusters).select_related(
            "cluster", "judged", "thresholds"
        )
        groups, pops = list(found), pop_answers(found)
        flagged = [(row, group_flags(row, pops.get(row.pk, NO_ANSWER).pops, now, durations.kinds)) for row in groups]
        away = [row for row, flags in flagged if _is_away(row, flags)]
        waits = usual_waits(away, now, durations)
        rows = [_row(row, flags, pops.get(row.pk, NO_ANSWER), waits, durations) for row, flags in flagged]
        retired = [
            {"cluster": row.cluster.name, "group": row.name, "topic": topic}
            for row in groups
            for topic in retired_topics(row, now, durations.kinds)
        ]
        return cls(pa.Table.from_pylist(rows, GROUPS), pa.Table.from_pylist(retired, RETIRED))


def usual_waits(away: Sequence[ConsumerGroup], now: datetime, durations: Durations) -> dict[int, float]:
    """By group id the longest time lag of the days before it went; without one that was known it is left out."""
    since = now - timedelta(days=durations.kinds.habit_days)
    before = GroupWindow.objects.filter(
        group__in=away, step_seconds=HOUR_SECONDS, start__gte=since, start__lt=F("group__offline_since")
    )
    longest = before.values("group").annotate(longest=Max("time_lag_seconds")).values_list("group", "longest")
    return {group: seconds for group, seconds in longest if seconds is not None}


def _is_away(row: ConsumerGroup, flags: GroupFlags) -> bool:
    return row.offline_since is not None and Flag.HABITUAL in flags and Flag.UNLISTED_MEMBERS not in flags


def _row(
    row: ConsumerGroup, flags: GroupFlags, pop: PopAnswer, waits: dict[int, float], durations: Durations
) -> dict[str, object]:
    usual, judged = waits.get(row.pk), getattr(row, "judged", None)
    thresholds = getattr(row, "thresholds", None)
    return {
        "cluster": row.cluster.name,
        "group": row.name,
        "known_type": row.consume_type,
        "known_model": row.message_model,
        "is_ghost": Flag.GHOST in flags,
        "is_paused": Flag.PAUSED in flags,
        "is_away": _is_away(row, flags),
        "habit_limit_seconds": None if usual is None else usual * durations.habit_wait_factor,
        "outside_store": row.outside_store,
        "has_unlisted_members": Flag.UNLISTED_MEMBERS in flags,
        "is_popping": Flag.POP in flags,
        "unacked_messages": pop.unacked_messages,
        "usual_gap_seconds": judged.usual_gap_seconds if judged else None,
        "allowance_seconds": thresholds.allowance_seconds if thresholds else None,
        "behind_seconds": thresholds.behind_seconds if thresholds else None,
    }
