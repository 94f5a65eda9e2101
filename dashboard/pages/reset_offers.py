"""What can be done with a reset on its page, and why not where it cannot."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from consumers.models import Reset, ResetKind
from consumers.resets.acts import MAY_RESET, why_no_role, why_not_applied, why_not_cancelled, why_not_resumed
from consumers.resets.restore import why_not_restored
from consumers.selectors.resets.rows import ResetRow

from .reset_form import FIELDS

# Longer lists are not carried along in a page.
MOST_NAMED = 500
LONGEST_QUERY = 2_000


@dataclass(frozen=True)
class Offers:
    """Null where the reader may do it, else the sentence why not. `role`: why the reader may do nothing at all.

    `again`: fields of the form that plans the same anew; none where the list that they would carry is too long.
    `change`: the query that fills the form with them; null where it would be too long.
    """

    role: str | None
    apply: str | None
    resume: str | None
    restore: str | None
    cancel: str | None
    again: list[tuple[str, str]]
    change: str | None


def offers(row: ResetRow, user: Any, now: datetime) -> Offers:
    reset, again = Reset.objects.get(pk=row.id), _again(row)
    return Offers(
        role=None if user.has_perm(MAY_RESET) else why_no_role(),
        apply=why_not_applied(reset, user, now),
        resume=why_not_resumed(reset, user, now),
        restore=why_not_restored(reset, user),
        cancel=why_not_cancelled(reset, user),
        again=again,
        change=_query(again),
    )


def _again(row: ResetRow) -> list[tuple[str, str]]:
    listed = row.value if row.kind == ResetKind.OFFSETS else []
    named = sum(len(names or ()) for names in (listed, row.topics, row.brokers, row.chosen_queues))
    if row.kind == ResetKind.RESTORE or named > MOST_NAMED:
        return []
    fields = [("kind", row.kind), ("reason", row.reason)]
    if (name := FIELDS.get(ResetKind(row.kind))) is not None:
        fields.append((name, _written(row)))
    fields += [("topic", topic) for topic in row.topics or ()]
    fields += [("broker", broker) for broker in row.brokers or ()]
    fields += [("queue", f"{key['topic']}/{key['broker']}/{key['queue_id']}") for key in row.chosen_queues or ()]
    return [*fields, ("clip", "1")] if row.clip else fields


def _query(fields: list[tuple[str, str]]) -> str | None:
    values = set(FIELDS.values())
    query = urlencode([("value" if name in values else name, value) for name, value in fields])
    return query if fields and len(query) <= LONGEST_QUERY else None


def _written(row: ResetRow) -> str:
    if row.kind != ResetKind.OFFSETS:
        return f"{row.value:g} s" if row.kind == ResetKind.SKIP_OLDER else str(row.value)
    lines = [",".join(str(entry[name]) for name in ("topic", "broker", "queue_id", "offset")) for entry in row.value]
    return "\n".join(["topic,broker,queue_id,offset", *lines])
