"""Channels as rows, without what is sealed in them."""

from typing import Any

from django.db.models import Count, OuterRef, Subquery
from django.utils.translation import gettext as _

from consumers.models import Channel, Delivery, DeliveryStatus

from .deliveries import delivery_rows
from .rows import DeliveryRow
from .said import said
from .setting_rows import ChannelRow
from .words import selection_words

PLAIN = ("name", "kind", "enabled", "target", "labels", "tells_resolved", "changed_at")
FAILING = ("failing_since", "failing_why", "held_until")
MAY_BE_NULL = ("cluster", "group_pattern", "title_template", "body_template", *FAILING)


def channel_list(*, page: int = 1, page_size: int = 100) -> tuple[list[ChannelRow], int]:
    """In order of their names, and how many there are. Eight queries."""
    start = (page - 1) * page_size
    return _rows(list(_channels()[start : start + page_size])), Channel.objects.count()


def find_channel(channel_id: int) -> ChannelRow | None:
    return next(iter(_rows(list(_channels().filter(pk=channel_id)))), None)


def _channels() -> Any:
    newest = Delivery.objects.filter(channel=OuterRef("pk")).order_by("-number").values("pk")[:1]
    # Nobody who reads rows has a use for what is sealed.
    return Channel.objects.defer("sealed").annotate(newest=Subquery(newest)).prefetch_related("rules").order_by("name")


def _rows(channels: list[Any]) -> list[ChannelRow]:
    to_go = Delivery.objects.filter(status__in=(DeliveryStatus.WAITING, DeliveryStatus.SENDING)).order_by()
    waiting = dict(to_go.values_list("channel").annotate(Count("pk")))
    newest = Delivery.objects.select_related("channel").filter(
        pk__in=[channel.newest for channel in channels if channel.newest is not None]
    )
    last = {row.channel: row for row in delivery_rows(list(newest))}
    return [_row(channel, waiting.get(channel.pk, 0), last.get(channel.pk)) for channel in channels]


def _row(channel: Channel, waiting: int, last: DeliveryRow | None) -> ChannelRow:
    values: dict[str, Any] = {name: getattr(channel, name) for name in MAY_BE_NULL}
    rules = list(channel.rules.all())
    values |= {"last_delivery": last, "changed_by": channel.changed_by_name}
    values |= {"severities": channel.severities or None, "rules": [rule.pk for rule in rules] or None}
    why = {
        "severities": _("all severities"),
        "rules": _("all rules"),
        "cluster": _("all clusters"),
        "group_pattern": _("all groups"),
        **dict.fromkeys(("title_template", "body_template"), _("it is the site's own")),
        "last_delivery": _("nothing was to go through it yet"),
        **dict.fromkeys(FAILING[:2], _("no try has failed since one was taken, or since it was changed")),
        "held_until": _("it is not left alone"),
        "changed_by": _("who changed it is not known"),
    }
    return ChannelRow(
        id=channel.pk,
        **{name: getattr(channel, name) for name in PLAIN},
        selects=selection_words(
            cluster=channel.cluster,
            group_pattern=channel.group_pattern,
            rule=", ".join(rule.name for rule in rules),
            labels=channel.labels,
            severities=channel.severities,
        ),
        waiting=waiting,
        **said(values, why),
    )
