"""One evaluation of all enabled rules."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet

from consumers.alerts.channels.payload import payload_of
from consumers.alerts.channels.queue import NOT_ARRIVED, Taking, next_number
from consumers.alerts.measured import Measured
from consumers.alerts.measures.registry import measured
from consumers.alerts.notes import Notes
from consumers.models import (
    AlertEngine,
    AlertRule,
    Channel,
    Delivery,
    DeliveryEvent,
    DeliveryStatus,
    EvaluationGap,
    Incident,
    IncidentEvent,
    IncidentEventKind,
    IncidentStatus,
    Severity,
)
from consumers.queries.limits import CLOCKS_DIFFER, is_overdue
from consumers.vocabulary.alerts import DeliveryResult
from consumers.vocabulary.reasons import stored_reason

from .changes import Changes, Compared
from .rows import WRITTEN, seen, silences_at

# Which channels were notified that an incident fires, and which are still to be notified.

# The database limits the number of values in one statement.
AT_ONCE = 500
FIRING = IncidentEventKind.FIRING
NOWHERE = Q(delivery__status=DeliveryStatus.DROPPED)
GIVEN_UP = Q(delivery__status=DeliveryStatus.FAILED)
# Deliveries given up while the receiver was unreachable.
IN_VAIN = GIVEN_UP & Q(delivery__refusals=0)


def offered_again(now: datetime) -> Q:
    """Filters the DeliveryEvents of firing incidents that a channel is notified of once more, because no receiver is
    known to have the message. A message that was given up while a receiver answered is offered again after the repeat
    interval, as Alertmanager does it, because the receiver may have been repaired; and at once after a change of the
    channel. The message may have arrived: rather twice than never."""
    long_ago = Q(delivery__created_at__lte=now - timedelta(hours=settings.ALERT_REPEAT_HOURS))
    changed_since = Q(delivery__created_at__lt=F("channel__changed_at"))
    return NOWHERE | IN_VAIN | (GIVEN_UP & (long_ago | changed_since))


NotifiedChannels = Mapping[UUID, set[int]]  # ids of channels by the id of an incident


def notified_channels(incidents: Iterable[Incident]) -> NotifiedChannels:
    """Channels that were, will be or may have been notified that each incident fires. One query."""
    return _notified(NOT_ARRIVED, event__incident__in=list(incidents))


@dataclass(frozen=True)
class PendingFirings:
    """By the id of a channel: the firing events that it takes and is not known to have been notified of, and the ids of
    those that may have arrived with an earlier message, which was given up."""

    events: Mapping[int, list[IncidentEvent]]
    may_have_arrived: Mapping[int, set[int]]


def pending_firings(changes: Changes, channels: Sequence[Channel], now: datetime) -> PendingFirings:
    """One query, and few for late ones."""
    left: dict[int, list[IncidentEvent]] = {channel.pk: [] for channel in channels}
    arrived: dict[int, set[int]] = {channel.pk: set() for channel in channels}
    if not changes.audible:
        return PendingFirings(left, arrived)
    again, fired_now = offered_again(now), _fired_now(changes)
    notified = _notified(again, event__incident__status=IncidentStatus.FIRING)
    for channel in channels:
        taking = Taking.of(channel)
        not_notified = [one for one in changes.audible if channel.pk not in notified[one.pk] and taking.takes(one)]
        left[channel.pk] = [fired_now[one.pk] for one in not_notified if one.pk in fired_now]
        before = {one.pk: one for one in not_notified if one.pk not in fired_now}
        events, arrived[channel.pk] = _fired_before(channel, before, again)
        left[channel.pk] += events
    return PendingFirings(left, arrived)


def _notified(not_by: Q, **of_events: Any) -> NotifiedChannels:
    """`not_by`: filters the rows of DeliveryEvent whose message does not count."""
    rows = DeliveryEvent.objects.filter(~not_by, event__kind=FIRING, **of_events).values_list(
        "event__incident", "channel"
    )
    notified: dict[UUID, set[int]] = defaultdict(set)
    for incident, channel in rows:
        notified[incident].add(channel)
    return notified


def _fired_now(changes: Changes) -> dict[UUID, IncidentEvent]:
    return {event.incident_id: event for event in changes.events if event.kind == FIRING}


def _fired_before(
    channel: Channel, incidents: Mapping[UUID, Incident], again: Q
) -> tuple[list[IncidentEvent], set[int]]:
    """Firing events of earlier evaluations, with the incidents as they are now, and the ids of those that may have
    arrived. An incident of a rule that was removed meanwhile has none: it was not written.
    """
    ids, events, arrived = list(incidents), list[IncidentEvent](), set[int]()
    for begin in range(0, len(ids), AT_ONCE):
        some = list(IncidentEvent.objects.filter(incident__in=ids[begin : begin + AT_ONCE], kind=FIRING))
        # A channel gets a change in one message only: the new one tells what is known of the one before.
        before = DeliveryEvent.objects.filter(again, channel=channel, event__in=some)
        arrived |= set(before.filter(delivery__may_have_arrived=True).values_list("event", flat=True))
        before.delete()
        events += some
    for event in events:
        event.incident = incidents[event.incident_id]
    return events, arrived


# Pending resolution notifications: a channel was notified that an incident fires, but not that it resolved.
# A resolution is lost where its channel is disabled, or where its message was given up because the receiver was
# unreachable. Both leave a row, so that only lost messages are searched, and not all resolved incidents.

# The conditions NOWHERE and IN_VAIN, for messages.
LOST = Q(status=DeliveryStatus.DROPPED) | Q(status=DeliveryStatus.FAILED, refusals=0)


def has_lost() -> Exists:
    """Filters channels that lost a message."""
    return Exists(_lost().filter(channel=OuterRef("pk")))


def pending_resolutions(channels: Sequence[Channel]) -> Mapping[int, list[IncidentEvent]]:
    """By the id of each of `channels`. Queries for each 500 lost messages, none without channels.

    A channel that was never notified of the start is not notified of the resolution.
    """
    pending: dict[int, list[IncidentEvent]] = defaultdict(list)
    rows = [row for deliveries in _lost_by(channels) for row in _ends_in(deliveries)]
    for row in rows:
        pending[row.channel_id].append(row.event)
    # A channel gets a change in one message only, and these messages reached nobody.
    for begin in range(0, len(rows), AT_ONCE):
        DeliveryEvent.objects.filter(pk__in=[row.pk for row in rows[begin : begin + AT_ONCE]]).delete()
    return pending


def _lost() -> QuerySet[Delivery]:
    # Both lists exist so that the database uses an index; OR alone, or a bare boolean, would not.
    ended = (DeliveryStatus.DROPPED, DeliveryStatus.FAILED)
    return Delivery.objects.filter(LOST, status__in=ended, is_test__in=(False,))


def _lost_by(channels: Sequence[Channel]) -> Iterator[list[UUID]]:
    if channels:
        keys = list(_lost().filter(channel__in=channels).order_by().values_list("pk", flat=True))
        for begin in range(0, len(keys), AT_ONCE):
            yield keys[begin : begin + AT_ONCE]


def _ends_in(deliveries: list[UUID]) -> QuerySet[DeliveryEvent]:
    begun = DeliveryEvent.objects.filter(
        ~NOT_ARRIVED,
        channel=OuterRef("channel"),
        event__kind=FIRING,
        event__incident=OuterRef("event__incident"),
    )
    ends = DeliveryEvent.objects.filter(Exists(begun), delivery__in=deliveries, event__kind=IncidentEventKind.RESOLVED)
    return ends.select_related("event__incident__rule")


# Which changes are reported to which channel: queued deliveries, written in the transaction of the changes.
# One message for each rule and channel contains all changes of one evaluation.

WORST_FIRST = {severity.value: number for number, severity in enumerate(Severity)}
WAS_OFF = stored_reason(DeliveryResult.WAS_OFF)
# Changes of one rule: the key of its row, and its name, because a removed rule has only its name.
Messages = dict[tuple[int | None, str], list[IncidentEvent]]


def notify(changes: Changes, now: datetime) -> int:
    """Writes the deliveries and returns how many. The events are already written.

    Each channel is notified of a firing incident as soon as it takes it, also where the incident fired earlier. It is
    notified of the resolution of each incident it was notified of, also where that resolved earlier.
    """
    channels = list(Channel.objects.order_by("pk").prefetch_related("rules").annotate(has_lost=has_lost()))
    resolved = [event for event in changes.events if event.kind == IncidentEventKind.RESOLVED]
    notified = notified_channels(event.incident for event in resolved)
    not_notified = pending_firings(changes, [channel for channel in channels if channel.enabled], now)
    pending = pending_resolutions([one for one in channels if one.has_lost and one.enabled and one.tells_resolved])
    to_go = 0
    for channel in channels:
        events = [*not_notified.events.get(channel.pk, ()), *pending.get(channel.pk, ())]
        if channel.tells_resolved:
            events += [event for event in resolved if channel.pk in notified[event.incident_id]]
        written = _write(channel, _by_rule(events), not_notified.may_have_arrived.get(channel.pk, set()), now)
        to_go += written if channel.enabled else 0
    return to_go


def _by_rule(events: Iterable[IncidentEvent]) -> Messages:
    messages: Messages = defaultdict(list)
    for event in sorted(events, key=_place):
        messages[event.incident.rule_id, event.incident.rule_name].append(event)
    return messages


def _place(event: IncidentEvent) -> tuple[float, int, str]:
    """Sort order: firing before resolved, the worst first, because a text names only some. Resolved ones: the oldest
    first.
    """
    incident = event.incident
    ended = event.at.timestamp() if event.kind == IncidentEventKind.RESOLVED else 0.0
    return ended, WORST_FIRST[incident.severity], incident.subject_key


def _write(channel: Channel, messages: Messages, may_have_arrived: Collection[int], now: datetime) -> int:
    """Resolutions are written for a disabled channel too: it is notified once it is enabled again. `may_have_arrived`:
    ids of events."""
    if not messages:
        return 0
    first, deliveries, tells = next_number(channel), [], []
    for number, events in enumerate(messages.values(), first):
        key, rule = uuid4(), events[0].incident.rule
        delivery = Delivery(
            id=key,
            channel=channel,
            number=number,
            payload=payload_of(key, number, channel, rule, events),
            status=DeliveryStatus.WAITING if channel.enabled else DeliveryStatus.DROPPED,
            created_at=now,
            next_try_at=now if channel.enabled else None,
            error=None if channel.enabled else WAS_OFF,
            may_have_arrived=any(event.pk in may_have_arrived for event in events),
        )
        deliveries.append(delivery)
        tells += [DeliveryEvent(delivery=delivery, channel=channel, event=event) for event in events]
    Delivery.objects.bulk_create(deliveries)
    DeliveryEvent.objects.bulk_create(tells)
    return len(deliveries)


# Reads open incidents and writes changes of an evaluation, in few statements for any number of incidents.

# The database limits the number of values in one statement.


def open_incidents() -> list[Incident]:
    """Open incidents with their rules."""
    return list(Incident.objects.filter(resolved_at=None).select_related("rule"))


def write(changes: Changes) -> None:
    """Call it in a transaction. Resolved incidents are written before new ones: a subject has at most one open incident
    of a rule.
    """
    _leave_out(changes, removed=_removed_rules(changes))
    for some in _batches(incident.pk for incident in changes.forgotten):
        Incident.objects.filter(pk__in=some).delete()
    Incident.objects.bulk_create(changes.changed, update_conflicts=True, unique_fields=["id"], update_fields=WRITTEN)
    Incident.objects.bulk_create(changes.begun)
    _number(changes.events, {incident.pk for incident in changes.begun})
    IncidentEvent.objects.bulk_create(changes.events)


def _removed_rules(changes: Changes) -> set[int]:
    """Ids of rules that were removed meanwhile. The others are locked until the end, before their incidents, as a
    removal does.
    """
    incidents = chain(changes.begun, changes.changed, changes.forgotten)
    wanted = {incident.rule_id for incident in incidents if incident.rule_id is not None}
    held = AlertRule.objects.select_for_update().filter(pk__in=wanted).order_by("pk")
    return wanted - set(held.values_list("pk", flat=True))


def _leave_out(changes: Changes, removed: set[int]) -> None:
    """No incident starts by a rule that was removed during its evaluation."""
    left_out = {incident.pk for incident in changes.begun if incident.rule_id in removed}
    if not left_out:
        return
    changes.begun = [incident for incident in changes.begun if incident.pk not in left_out]
    changes.events = [event for event in changes.events if event.incident_id not in left_out]


def _number(events: Sequence[IncidentEvent], begun: set[UUID]) -> None:
    """Numbers the events. Rows of incidents are locked, so that nobody else adds an event meanwhile."""
    newest: dict[UUID, int] = {}
    for some in _batches({event.incident_id for event in events} - begun):
        list(Incident.objects.select_for_update().filter(pk__in=some).order_by("pk").values_list("pk"))
        counted = IncidentEvent.objects.filter(incident__in=some).order_by().values_list("incident")
        newest |= dict(counted.annotate(newest=Max("sequence")))
    for event in events:
        newest[event.incident_id] = event.sequence = newest.get(event.incident_id, 0) + 1


def _batches(ids: Iterable[UUID]) -> Iterator[list[UUID]]:
    wanted = list(ids)
    for begin in range(0, len(wanted), AT_ONCE):
        yield wanted[begin : begin + AT_ONCE]


# One round of the evaluation, from measured values to notifications.
# Everything is compared before the transaction, which only writes. The engine's row has the time of the newest
# evaluation: if another evaluation was faster, this one stops.

ENGINE = 1


@dataclass(frozen=True)
class Report:
    """`evaluated` is False where another evaluation of the same or a later time finished first."""

    at: datetime
    evaluated: bool
    rules: int = 0
    groups: int = 0
    seconds: float = 0.0
    fired: int = 0
    resolved: int = 0
    deliveries: int = 0


def go_round(
    found: Measured, rules: Sequence[AlertRule], newest: datetime | None, seconds: Callable[[], float]
) -> Report:
    """`rules`: all enabled rules. `newest`: the time of the newest evaluation before anything was read."""
    now = found.at
    compared = Compared(now, Notes.of_site(), silences_at(now), found.explained)
    changes = compared.take(seen(found, rules, open_incidents()))
    with transaction.atomic():
        engine = AlertEngine.objects.select_for_update().get(pk=ENGINE)
        if engine.evaluated_at != newest:
            return Report(now, evaluated=False)
        write(changes)
        report = Report(
            now,
            evaluated=True,
            deliveries=notify(changes, now),
            rules=len(rules),
            groups=len(found.groups.subjects),
            fired=changes.count(IncidentEventKind.FIRING),
            resolved=changes.count(IncidentEventKind.RESOLVED),
            seconds=seconds(),
        )
        if newest is None or is_overdue(newest, now):
            EvaluationGap.objects.create(began_at=newest, ended_at=now)
        engine.evaluated_at, engine.rules, engine.groups = now, report.rules, report.groups
        engine.seconds, engine.error, engine.error_at = report.seconds, None, None
        engine.save()
    return report


def evaluate(now: datetime, clock: Callable[[], datetime]) -> Report:
    """`clock` measures the duration. A failure is stored in the engine's row and raised again."""
    began = clock()
    newest = AlertEngine.objects.get_or_create(pk=ENGINE)[0].evaluated_at
    if newest is not None and newest >= now:
        _note_clock(newest, now)
        return Report(now, evaluated=False)
    try:
        rules = list(AlertRule.objects.filter(enabled=True).order_by("pk"))
        return go_round(measured(now, rules), rules, newest, lambda: (clock() - began).total_seconds())
    except Exception as error:
        AlertEngine.objects.filter(pk=ENGINE).update(error=f"{type(error).__name__}: {error}", error_at=now)
        raise


def _note_clock(newest: datetime, now: datetime) -> None:
    if newest - now > CLOCKS_DIFFER:
        words = f"Rules were evaluated for {newest:%Y-%m-%d %H:%M:%S} UTC, and this host's clock is behind that"
        AlertEngine.objects.filter(pk=ENGINE).update(
            error=f"{words}: set the clocks of all workers alike. Until then nothing is evaluated.", error_at=now
        )
