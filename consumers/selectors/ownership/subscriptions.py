"""Who subscribed to what since when, and when the members of a group differed in it."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Q

from consumers.models import Client, ClientSubscription, ConsumerGroup
from consumers.selectors.history.window_range import RangeError
from consumers.selectors.overlay import NOT_SAMPLED

from .claims import INSTANT
from .differences import Period, Said, Span, periods
from .expression import Expression, expression
from .patience import Patience, patience_of
from .subscription_rows import Difference, SubscriptionHistory, SubscriptionRow, Wanted

STILL = "it still said so when it was asked last"
STILL_DIFFER = "they differ still at the end of the range"
NOT_AT_ALL = "they did not subscribe to it"
NO_TYPE = "the client does not say"
# Rows of a range, and who wanted what in all differences of it: one answer holds no more.
MOST_ROWS, MOST_WANTED = 20_000, 10_000
NOBODY_SAID = "no member has said in this range what it subscribes to"


def subscription_history(group: ConsumerGroup, *, since: datetime, until: datetime) -> SubscriptionHistory:
    """Of [since, until), with the whole intervals that touch it. Two queries. Raises RangeError where that is more than
    one answer holds."""
    touching = Q(seen_since__lt=until) & (Q(gone_by=None) | Q(gone_by__gt=since))
    found = ClientSubscription.objects.filter(touching, group=group).order_by("topic", "client_id", "seen_since")
    rows = list(found[: MOST_ROWS + 1])
    _refuse(len(rows), MOST_ROWS, "subscriptions")
    present = Client.objects.filter(group=group, gone_by=None).order_by("client_id")
    answers = list(present.values_list("client_id", "running_info_at", "running_info_error"))
    silent = frozenset(client_id for client_id, _, error in answers if error)
    unsaid = {client_id: error or NOT_SAMPLED for client_id, spoke_at, error in answers if spoke_at is None}
    differences = _differences(rows, patience_of(group, silent), since, until)
    _refuse(sum(len(one.wanted) for one in differences), MOST_WANTED, "different wishes of members")
    return SubscriptionHistory(
        since,
        until,
        [_row(row) for row in rows],
        differences,
        _unknown(bool(rows), unsaid),
    )


def _refuse(count: int, most: int, what: str) -> None:
    if count > most:
        raise RangeError(
            f"The range has more {what} than one answer holds; the most is {most:,}: ask for a shorter one."
        )


def _unknown(is_anything_said: bool, unsaid: dict[str, str]) -> dict[str, str]:
    why = next(
        (f"{client_id} has not said what it subscribes to: {error}" for client_id, error in unsaid.items()), None
    )
    if why is None and not is_anything_said:
        why = NOBODY_SAID
    return dict.fromkeys(("subscriptions", "differences"), why) if why else {}


def _row(row: ClientSubscription) -> SubscriptionRow:
    unknown = {} if row.expression_type is not None else {"expression_type": NO_TYPE}
    return SubscriptionRow(
        client_id=row.client_id,
        topic=row.topic,
        expression=row.expression,
        expression_type=row.expression_type,
        seen_since=row.seen_since,
        last_seen=row.last_seen,
        gone_by=row.gone_by,
        unknown=unknown if row.gone_by is not None else unknown | {"gone_by": STILL},
    )


def _differences(
    rows: Sequence[ClientSubscription], patience: Patience, since: datetime, until: datetime
) -> list[Difference]:
    by_topic: dict[str, list[Said]] = {}
    answered: dict[str, list[Span]] = {}
    texts: dict[Expression, tuple[str, str | None]] = {}
    for row in rows:
        end = row.last_seen + INSTANT if row.gone_by else patience.until(row.client_id, row.last_seen)
        wanted = expression(row.expression_type, row.expression)
        texts.setdefault(wanted, (row.expression, row.expression_type))
        said = Said(row.client_id, wanted, row.seen_since, end, row.gone_by or end)
        by_topic.setdefault(row.topic, []).append(said)
        answered.setdefault(row.client_id, []).append((row.seen_since, end))
    return [
        _difference(topic, period, texts, until)
        for topic, said in by_topic.items()
        for period in periods(said, answered, since, until)
    ]


def _difference(
    topic: str, period: Period, texts: dict[Expression, tuple[str, str | None]], until: datetime
) -> Difference:
    ordered = sorted(period.clients.items(), key=lambda item: (-len(item[1]), str(item[0])))
    wanted = [_wanted(what, sorted(clients), texts) for what, clients in ordered]
    is_still = period.until >= until
    return Difference(
        topic, period.since, None if is_still else period.until, wanted, {"until": STILL_DIFFER} if is_still else {}
    )


def _wanted(what: Expression | None, client_ids: list[str], texts: dict[Expression, tuple[str, str | None]]) -> Wanted:
    if what is None:
        return Wanted(None, None, client_ids, dict.fromkeys(("expression", "expression_type"), NOT_AT_ALL))
    text, kind = texts[what]
    return Wanted(text, kind, client_ids, {} if kind is not None else {"expression_type": NO_TYPE})
