"""Who subscribes to what, in few lines: members that say the same since the same time stand together."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from consumers.selectors.ownership.subscription_rows import SubscriptionRow

NAMED = 4


@dataclass(frozen=True)
class SubscriptionLine:
    """`since` and `last_seen` span the intervals of its clients. `gone_by` null: they say so still."""

    topic: str
    expression: str
    expression_type: str | None
    clients: Sequence[str]
    since: datetime
    last_seen: datetime
    gone_by: datetime | None

    @property
    def named(self) -> Sequence[str]:
        return self.clients[:NAMED]

    @property
    def more(self) -> int:
        return max(0, len(self.clients) - NAMED)


def subscription_lines(rows: Sequence[SubscriptionRow]) -> list[SubscriptionLine]:
    """Those that stand first, by topic and how many say so; then those of the past, the newest first."""
    standing: dict[tuple[str, str, str | None], list[SubscriptionRow]] = {}
    for row in rows:
        if row.gone_by is None:
            standing.setdefault((row.topic, row.expression, row.expression_type), []).append(row)
    now = [_line(same, None) for same in standing.values()]
    past = [_line([row], row.gone_by) for row in rows if row.gone_by is not None]
    past.sort(key=lambda line: line.last_seen, reverse=True)
    return [*sorted(now, key=lambda line: (line.topic, -len(line.clients), line.expression)), *past]


def _line(rows: Sequence[SubscriptionRow], gone_by: datetime | None) -> SubscriptionLine:
    first = rows[0]
    return SubscriptionLine(
        *(first.topic, first.expression, first.expression_type),
        clients=sorted(row.client_id for row in rows),
        since=min(row.seen_since for row in rows),
        last_seen=max(row.last_seen for row in rows),
        gone_by=gone_by,
    )
