"""Rules, channels, silences and notes as rows, in fixed numbers of queries."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from fnmatch import translate
from re import compile as expression
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _

from consumers.alerts.queries.deliveries import delivery_rows
from consumers.alerts.queries.rows import (
    ChannelRow,
    DeliveryRow,
    NoteRow,
    RuleRow,
    SilenceRow,
    SilenceStatus,
    SilenceWindow,
    WeeklyRow,
)
from consumers.alerts.queries.words import rule_words, selection_words, weekly_words
from consumers.alerts.weekly import is_active, windows
from consumers.models import (
    AlertRule,
    Channel,
    Comparison,
    ConsumerGroup,
    Delivery,
    DeliveryStatus,
    GroupKind,
    GroupNote,
    Incident,
    IncidentStatus,
    Silence,
)
from consumers.queries.declared import answered
from consumers.queries.limits import newest_evaluation
from consumers.words.alerts import rule_name_words
from consumers.words.reasons import stored_words


# Rules as rows, with what fires by them.
def rule_list(
    now: datetime,
    *,
    enabled: bool | None = None,
    severity: str | None = None,
    measure: str | None = None,
    page: int = 1,
    page_size: int = 100,
) -> tuple[list[RuleRow], int]:
    """In order of their names, and how many there are. Five queries."""
    named = {"enabled": enabled, "severity": severity, "measure": measure}
    found = AlertRule.objects.filter(**{name: value for name, value in named.items() if value is not None})
    start = (page - 1) * page_size
    return _rule_rows(list(found.order_by("name")[start : start + page_size]), now), found.count()


def find_rule(rule_id: int, now: datetime) -> RuleRow | None:
    return next(iter(_rule_rows(list(AlertRule.objects.filter(pk=rule_id)), now)), None)


def _rule_rows(rules: list[AlertRule], now: datetime) -> list[RuleRow]:
    evaluated, open_ones = newest_evaluation(now), _open_ones([rule.pk for rule in rules])
    return [_rule_row(rule, open_ones[rule.pk], evaluated) for rule in rules]


def _open_ones(ids: list[int]) -> dict[int, dict[str, int]]:
    counted = Incident.objects.filter(rule__in=ids, resolved_at=None).values_list("rule", "status").order_by()
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for rule, status, number in counted.annotate(Count("pk")):
        found[rule][status] = number
    return found


def _rule_row(rule: AlertRule, counts: dict[str, int], evaluated: datetime | str) -> RuleRow:
    """`evaluated`: when all were, or why that is not known."""
    uncounted = _uncounted(rule, counts, evaluated)
    by_states = rule.comparison == Comparison.IN
    why = {
        "key": _("not built-in"),
        "threshold": _("states are compared"),
        "states": _("a number is compared"),
        "clear_threshold": _("states are compared") if by_states else _("same as the threshold"),
        "cluster": _("all clusters"),
        "group_pattern": _("all groups"),
        "topic": _("all topics of a group together"),
        "runbook_url": _("not set"),
        "note": _("not set"),
        **dict.fromkeys(("firing", "pending"), uncounted),
        "changed_by": _("built-in and unchanged"),
    }
    return answered(
        RuleRow,
        rule,
        why,
        id=rule.pk,
        is_default=rule.key is not None,
        sentence=rule_words(rule),
        selects=selection_words(
            cluster=rule.cluster, group_pattern=rule.group_pattern, topic=rule.topic, labels=rule.labels
        ),
        firing=None if uncounted else counts.get(IncidentStatus.FIRING, 0),
        pending=None if uncounted else counts.get(IncidentStatus.PENDING, 0),
        changed_by=rule.changed_by_name,
    )


def _uncounted(rule: AlertRule, counts: dict[str, int], evaluated: datetime | str) -> str:
    """Why its incidents cannot be counted; "" where they can."""
    if not rule.enabled:
        return _("disabled")
    if isinstance(evaluated, str):
        return evaluated
    return _("changed after the last evaluation") if not counts and rule.changed_at > evaluated else ""


# Channels as rows, without what is sealed in them.
FAILING = ("failing_since", "failing_why", "held_until")


def channel_list(*, page: int = 1, page_size: int = 100) -> tuple[list[ChannelRow], int]:
    """In order of their names, and how many there are. Eight queries."""
    start = (page - 1) * page_size
    return _channel_rows(list(_channels()[start : start + page_size])), Channel.objects.count()


def find_channel(channel_id: int) -> ChannelRow | None:
    return next(iter(_channel_rows(list(_channels().filter(pk=channel_id)))), None)


def _channels() -> Any:
    newest = Delivery.objects.filter(channel=OuterRef("pk")).order_by("-number").values("pk")[:1]
    # Nobody who reads rows has a use for what is sealed.
    return Channel.objects.defer("sealed").annotate(newest=Subquery(newest)).prefetch_related("rules").order_by("name")


def _channel_rows(channels: list[Any]) -> list[ChannelRow]:
    to_go = Delivery.objects.filter(status__in=(DeliveryStatus.WAITING, DeliveryStatus.SENDING)).order_by()
    waiting = dict(to_go.values_list("channel").annotate(Count("pk")))
    newest = Delivery.objects.select_related("channel").filter(
        pk__in=[channel.newest for channel in channels if channel.newest is not None]
    )
    last = {row.channel: row for row in delivery_rows(list(newest))}
    return [_channel_row(channel, waiting.get(channel.pk, 0), last.get(channel.pk)) for channel in channels]


def _channel_row(channel: Channel, waiting: int, last: DeliveryRow | None) -> ChannelRow:
    rules = list(channel.rules.all())
    why = {
        "severities": _("all severities"),
        "rules": _("all rules"),
        "cluster": _("all clusters"),
        "group_pattern": _("all groups"),
        **dict.fromkeys(("title_template", "body_template"), _("the default")),
        "last_delivery": _("no message was queued for the channel yet"),
        **dict.fromkeys(FAILING[:2], _("no failure since the last success or change")),
        "held_until": _("not paused"),
        "changed_by": _("unknown who changed it"),
    }
    return answered(
        ChannelRow,
        channel,
        why,
        id=channel.pk,
        severities=channel.severities or None,
        rules=[rule.pk for rule in rules] or None,
        selects=selection_words(
            cluster=channel.cluster,
            group_pattern=channel.group_pattern,
            rule=", ".join(rule.name for rule in rules),
            labels=channel.labels,
            severities=channel.severities,
        ),
        waiting=waiting,
        failing_why=stored_words(channel.failing_why),
        last_delivery=last,
        changed_by=channel.changed_by_name,
    )


# Silences as rows: which hold, which will, and which are over.
NEXT_WINDOWS = 3


def silence_list(
    now: datetime, *, status: SilenceStatus | None = None, page: int = 1, page_size: int = 100
) -> tuple[list[SilenceRow], int]:
    """The one that ends last first, and how many there are. Four queries at the most."""
    found = Silence.objects.all() if status is None else Silence.objects.filter(_is(status, now))
    start = (page - 1) * page_size
    ordered = found.select_related("rule").order_by("-ends_at", "-pk")
    return _silence_rows(ordered[start : start + page_size], now), found.count()


def find_silence(silence_id: int, now: datetime) -> SilenceRow | None:
    return next(iter(_silence_rows(Silence.objects.select_related("rule").filter(pk=silence_id), now)), None)


def _is(status: SilenceStatus, now: datetime) -> Q:
    """One query, for those that repeat."""
    begun = Q(starts_at__lte=now, ends_at__gt=now)
    repeating = Silence.objects.filter(begun, weekly__isnull=False)
    closed = Q(pk__in=[silence.pk for silence in repeating if not is_active(silence, now)])
    return {
        SilenceStatus.COMING: Q(starts_at__gt=now, ends_at__gt=now) | closed,
        SilenceStatus.ACTIVE: begun & ~closed,
        SilenceStatus.PAST: Q(ends_at__lte=now),
    }[status]


def _silence_rows(silences: "QuerySet[Silence]", now: datetime) -> list[SilenceRow]:
    found = list(silences)
    held = Incident.objects.filter(silence__in=[silence.pk for silence in found], resolved_at=None).order_by()
    counts = dict(held.values_list("silence").annotate(Count("pk")))
    return [_silence_row(silence, counts.get(silence.pk, 0), now) for silence in found]


def _status(silence: Silence, now: datetime) -> SilenceStatus:
    if silence.ends_at <= now:
        return SilenceStatus.PAST
    return SilenceStatus.ACTIVE if is_active(silence, now) else SilenceStatus.COMING


def _silence_row(silence: Silence, incidents: int, now: datetime) -> SilenceRow:
    why = {
        "cluster": _("all clusters"),
        "group_pattern": _("all groups"),
        "topic": _("all topics"),
        **dict.fromkeys(("rule", "rule_name"), _("all rules")),
        "ended_by": _("not ended early"),
        "weekly": _("does not repeat"),
    }
    return answered(
        SilenceRow,
        silence,
        why,
        id=silence.pk,
        status=_status(silence, now).value,
        weekly=None if silence.weekly is None else WeeklyRow(**silence.weekly, text=weekly_words(silence.weekly)),
        windows=[SilenceWindow(*window) for window in windows(silence, now, NEXT_WINDOWS)],
        rule=silence.rule_id,
        rule_name=silence.rule.name if silence.rule else "",
        selects=silence_words(silence),
        by=silence.by_name,
        incidents=incidents,
        ended_by=silence.ended_by_name,
    )


def silence_words(silence: Silence) -> str:
    """What it silences."""
    selected = {name: getattr(silence, name) for name in ("cluster", "group_pattern", "topic", "labels")}
    return selection_words(**selected, rule=rule_name_words(silence.rule.name) if silence.rule else "")


# Notes about groups as rows, with how many groups each names.


def note_list(*, page: int = 1, page_size: int = 100) -> tuple[list[NoteRow], int]:
    """In the order in which they count, and how many there are. Three queries."""
    start = (page - 1) * page_size
    return _note_rows(list(GroupNote.objects.order_by("position", "pk")[start : start + page_size])), _count()


def _count() -> int:
    return GroupNote.objects.count()


def find_note(note_id: int) -> NoteRow | None:
    return next(iter(_note_rows(list(GroupNote.objects.filter(pk=note_id)))), None)


def groups_named(cluster: str, group_pattern: str) -> int:
    """User groups that a pattern with * and ? names, on clusters that another one does ("": all). One query."""
    return _named(_user_groups(), cluster, group_pattern)


def _user_groups() -> Sequence[tuple[str, str]]:
    return list(ConsumerGroup.objects.filter(kind=GroupKind.USER).values_list("cluster__name", "name"))


def _named(groups: Sequence[tuple[str, str]], cluster: str, group_pattern: str) -> int:
    names, is_on = expression(translate(group_pattern)).fullmatch, expression(translate(cluster or "*")).fullmatch
    return sum(1 for of, group in groups if names(group) and is_on(of))


def _note_rows(notes: list[GroupNote]) -> list[NoteRow]:
    groups = _user_groups() if notes else []
    return [_note_row(note, _named(groups, note.cluster, note.group_pattern)) for note in notes]


def _note_row(note: GroupNote, groups: int) -> NoteRow:
    why = {
        "cluster": _("all clusters"),
        **dict.fromkeys(("owner", "runbook_url"), _("not set")),
        "note": _("not set"),
        "changed_by": _("unknown who changed it"),
    }
    return answered(NoteRow, note, why, id=note.pk, groups=groups, changed_by=note.changed_by_name)
