"""Who subscribed to what since when, and when the members of a group differed in it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q
from django.utils.translation import gettext, gettext_lazy

from consumers.models import Client, ClientSubscription, ConsumerGroup
from consumers.ownership.segments import Patience, patience_of, uncovered
from consumers.queries.declared import INSIDE, answer, copied, public
from consumers.queries.queues.overlay import NOT_SAMPLED
from consumers.queries.windows import RangeError
from consumers.vocabulary.times import MICROSECOND
from consumers.words.marks import labelled
from consumers.words.reasons import stored_words
from consumers.words.spans import when

# What a member wants of a topic, so that two that want the same are equal.
TAG, EVERYTHING = "TAG", "*"


class Expression(NamedTuple):
    kind: str
    text: str

    def __str__(self) -> str:
        return self.text if self.kind == TAG else f"{self.kind}: {self.text}"


def expression(kind: str | None, text: str | None) -> Expression:
    """Clients without a type filter by tags. `A||B` and `B || A` are the same; every tag is `*` alone, or no text.

    RocketMQ 5.4.0, FilterAPI.buildSubscriptionData.
    """
    if kind not in (None, "", TAG):
        return Expression(str(kind), (text or "").strip())
    if not text or text == EVERYTHING:
        return Expression(TAG, EVERYTHING)
    return Expression(TAG, "||".join(sorted({tag.strip() for tag in text.split("||") if tag.strip()})))


# What members of a group said that they subscribe to, over a range of time, and when they differed in it.
@dataclass(frozen=True, kw_only=True)
class SubscriptionRow:
    """The group's retry topic has none."""

    client_id: str
    topic: str
    expression: str
    expression_type: str | None
    seen_since: datetime = field(metadata=public("The first answer that reported it"))
    last_seen: datetime = field(metadata=public("The last answer that reported it"))
    gone_by: datetime | None = field(
        metadata=public("The first answer that no longer reported it; null: there is none")
    )
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Wanted:
    """What some of the members wanted of a topic."""

    expression: str | None = field(metadata=public("Null: not subscribed"))
    expression_type: str | None
    client_ids: Sequence[str]
    unknown: dict[str, str]


@dataclass(frozen=True)
class Difference:
    """Members subscribed differently to a topic."""

    topic: str
    since: datetime
    until: datetime | None = field(metadata=public("Null: lasts until the end of the range"))
    wanted: Sequence[Wanted] = field(metadata=public("That of most members first"))
    unknown: dict[str, str]


@answer(
    "What members subscribed to is each interval whole; differences are from when to when within the range.",
    name="Beside",
)
@dataclass(frozen=True)
class SubscriptionHistory:
    """Rows by topic, client and time; differences by topic and time."""

    since: datetime = field(metadata=public(name="from"))
    until: datetime = field(metadata=public(name="to"))
    subscriptions: Sequence[SubscriptionRow] = field(metadata=INSIDE)
    differences: Sequence[Difference]
    unknown: dict[str, str] = field(metadata=public("Why either list need not be all"))


# Where they differed. Only what is certain is compared: between two answers of the same content, and of a topic that a
# client does not name between two answers of its own.

Span = tuple[datetime, datetime]


class SubscriptionReport(NamedTuple):
    """A client wanted so between two answers; `doubt_until`: from when it is known that it did no more."""

    client_id: str
    wanted: Expression
    since: datetime
    until: datetime
    doubt_until: datetime


@dataclass
class Period:
    """`clients` by what they wanted; null: the topic not at all."""

    since: datetime
    until: datetime
    clients: dict[Expression | None, set[str]] = field(default_factory=dict)

    def also(self, wanted: Mapping[Expression | None, set[str]], until: datetime) -> None:
        self.until = until
        for what, clients in wanted.items():
            self.clients.setdefault(what, set()).update(clients)


class _Change(NamedTuple):
    at: datetime
    begins: bool
    wanted: Expression | None
    client_id: str


def periods(
    reports: Sequence[SubscriptionReport], answered: Mapping[str, Sequence[Span]], since: datetime, until: datetime
) -> list[Period]:
    """Returns the periods of a topic in order, within [since, until). `answered`: spans between answers, per client."""
    if _is_agreed(reports, answered):
        return []
    found: list[Period] = []
    wanted: dict[Expression | None, set[str]] = {}
    before = since
    for at, changes in _by_time(_changes(reports, answered, since, until)):
        if len(wanted) > 1 and at - before > MICROSECOND:
            if not found or found[-1].until != before:
                found.append(Period(before, at))
            found[-1].also(wanted, at)
        for change in changes:
            _apply(change, wanted)
        before = at
    return found


def _is_agreed(reports: Sequence[SubscriptionReport], answered: Mapping[str, Sequence[Span]]) -> bool:
    """Everybody who answered wanted the same all the time: the usual case, without a look at times."""
    if len({one.wanted for one in reports}) > 1:
        return False
    own: dict[str, list[Span]] = {}
    for one in reports:
        own.setdefault(one.client_id, []).append((one.since, one.until))
    return all(
        not list(uncovered(own.get(client_id, ()), start, end))
        for client_id, spans in answered.items()
        for start, end in spans
    )


def _changes(
    reports: Sequence[SubscriptionReport], answered: Mapping[str, Sequence[Span]], since: datetime, until: datetime
) -> Iterator[_Change]:
    reported: dict[str, list[Span]] = {}
    for one in reports:
        reported.setdefault(one.client_id, []).append((one.since, one.doubt_until))
        yield from _within(one.wanted, one.client_id, (one.since, one.until), since, until)
    for client_id, spans in answered.items():
        for span in _united(spans):
            for silent in uncovered(reported.get(client_id, ()), *span):
                yield from _within(None, client_id, silent, since, until)


def _united(spans: Sequence[Span]) -> list[Span]:
    united: list[Span] = []
    for start, end in sorted(spans):
        if united and start <= united[-1][1]:
            united[-1] = united[-1][0], max(united[-1][1], end)
        else:
            united.append((start, end))
    return united


def _within(
    wanted: Expression | None, client_id: str, span: Span, since: datetime, until: datetime
) -> Iterator[_Change]:
    start, end = max(span[0], since), min(span[1], until)
    if end - start > MICROSECOND:
        yield _Change(start, True, wanted, client_id)
        yield _Change(end, False, wanted, client_id)


def _by_time(changes: Iterable[_Change]) -> Iterator[tuple[datetime, list[_Change]]]:
    together: dict[datetime, list[_Change]] = {}
    for change in changes:
        together.setdefault(change.at, []).append(change)
    yield from sorted(together.items())


def _apply(change: _Change, wanted: dict[Expression | None, set[str]]) -> None:
    if change.begins:
        wanted.setdefault(change.wanted, set()).add(change.client_id)
        return
    wanted[change.wanted].discard(change.client_id)
    if not wanted[change.wanted]:
        del wanted[change.wanted]


STILL = gettext_lazy("still reported when the member last answered")

STILL_DIFFER = gettext_lazy("still different at the end of the range")

NOT_AT_ALL = gettext_lazy("not subscribed")

NO_TYPE = gettext_lazy("not reported by the client")

# Rows of a range, and who wanted what in all differences of it: one answer holds no more.
MOST_ROWS, MOST_WANTED = 20_000, 10_000

NOBODY_SAID = gettext_lazy("no member has reported its subscriptions in this range")


def subscription_history(group: ConsumerGroup, *, since: datetime, until: datetime) -> SubscriptionHistory:
    """Of [since, until), with the whole intervals that touch it. Two queries. Raises RangeError where that is more than
    one answer holds."""
    touching = Q(seen_since__lt=until) & (Q(gone_by=None) | Q(gone_by__gt=since))
    found = ClientSubscription.objects.filter(touching, group=group).order_by("topic", "client_id", "seen_since")
    rows = list(found[: MOST_ROWS + 1])
    _refuse(len(rows), MOST_ROWS, gettext("The range has more than %(most)s subscriptions. Use a shorter range."))
    present = Client.objects.filter(group=group, gone_by=None).order_by("client_id")
    answers = list(present.values_list("client_id", "running_info_at", "running_info_error"))
    patience = patience_of(group, frozenset(client_id for client_id, _, error in answers if error))
    unheard = [(client_id, error or str(NOT_SAMPLED)) for client_id, spoke_at, error in answers if spoke_at is None]
    reasons = [silence_words(*one) for one in unheard]
    reasons += [
        _not_since(client_id, spoke_at)
        for client_id, spoke_at, _ in answers
        if spoke_at is not None and patience.until(client_id, spoke_at) < until
    ]
    differences = _differences(rows, patience, since, until)
    _refuse(
        sum(len(one.wanted) for one in differences),
        MOST_WANTED,
        gettext("The range has more than %(most)s differences of members. Use a shorter range."),
    )
    return SubscriptionHistory(
        since,
        until,
        [_row(row) for row in rows],
        differences,
        _unknown(bool(rows), reasons),
    )


def _refuse(count: int, most: int, why: str) -> None:
    if count > most:
        raise RangeError(why % {"most": f"{most:,}"})


def silence_words(client_id: str, error: str | None) -> str:
    silence = gettext("%(client_id)s has not reported its subscriptions") % {"client_id": client_id}
    return labelled(silence, stored_words(error)) if error else silence


def _not_since(client_id: str, at: datetime) -> str:
    words = {"client_id": client_id, "since": when(at)}
    return gettext("%(client_id)s has not reported its subscriptions since %(since)s") % words


def _unknown(is_any_reported: bool, reasons: Sequence[str]) -> dict[str, str]:
    why = next(iter(reasons), None)
    if why is None and not is_any_reported:
        why = str(NOBODY_SAID)
    return dict.fromkeys(("subscriptions", "differences"), why) if why else {}


def _row(row: ClientSubscription) -> SubscriptionRow:
    unknown = {} if row.expression_type is not None else {"expression_type": str(NO_TYPE)}
    return copied(
        SubscriptionRow, row, unknown=unknown if row.gone_by is not None else unknown | {"gone_by": str(STILL)}
    )


def _differences(
    rows: Sequence[ClientSubscription], patience: Patience, since: datetime, until: datetime
) -> list[Difference]:
    by_topic: dict[str, list[SubscriptionReport]] = {}
    answered: dict[str, list[Span]] = {}
    texts: dict[Expression, tuple[str, str | None]] = {}
    for row in rows:
        end = row.last_seen + MICROSECOND if row.gone_by else patience.until(row.client_id, row.last_seen)
        wanted = expression(row.expression_type, row.expression)
        texts.setdefault(wanted, (row.expression, row.expression_type))
        report = SubscriptionReport(row.client_id, wanted, row.seen_since, end, row.gone_by or end)
        by_topic.setdefault(row.topic, []).append(report)
        answered.setdefault(row.client_id, []).append((row.seen_since, end))
    return [
        _difference(topic, period, texts, until)
        for topic, report in by_topic.items()
        for period in periods(report, answered, since, until)
    ]


def _difference(
    topic: str, period: Period, texts: dict[Expression, tuple[str, str | None]], until: datetime
) -> Difference:
    ordered = sorted(period.clients.items(), key=lambda item: (-len(item[1]), str(item[0])))
    wanted = [_wanted(what, sorted(clients), texts) for what, clients in ordered]
    is_still = period.until >= until
    return Difference(
        topic,
        period.since,
        None if is_still else period.until,
        wanted,
        {"until": str(STILL_DIFFER)} if is_still else {},
    )


def _wanted(what: Expression | None, client_ids: list[str], texts: dict[Expression, tuple[str, str | None]]) -> Wanted:
    if what is None:
        return Wanted(None, None, client_ids, dict.fromkeys(("expression", "expression_type"), str(NOT_AT_ALL)))
    text, kind = texts[what]
    return Wanted(text, kind, client_ids, {} if kind is not None else {"expression_type": str(NO_TYPE)})
