"""Keeps a channel that was checked, removes one, and says what of its address may be shown."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from consumers.alerts.channels.delivery.standing import COLUMNS, begin_anew
from consumers.alerts.channels.kinds.urls import parsed_url
from consumers.models import Channel, ChannelKind

from .secrets_of import ChannelNotReadable, told_of


def saved(checked: Mapping[str, Any], channel: Channel | None, by: Any, now: datetime) -> Channel:
    """`checked`: of `checked_channel`, for the same `channel`; None makes one."""
    row = channel or Channel()
    for name, value in checked.items():
        if name != "rules":
            setattr(row, name, value)
    row.changed_at, row.changed_by_name = now, by.get_username()
    # What is known of its receiver was learnt with the settings before.
    begin_anew(row)
    columns = [*(name for name in checked if name != "rules"), "changed_at", "changed_by_name", *COLUMNS]
    with transaction.atomic():
        # Its mark of life belongs to the workers: it is never written from here.
        row.save(update_fields=columns if channel else None)
        row.rules.set(checked["rules"])
    return row


def shown(channel: Channel) -> dict[str, Any]:
    """The fields of its address, as forms may show them: without secrets, and {} where it cannot be read.

    webhook: url (its origin alone), header_names, has_secret · alertmanager: url, username, has_password, has_token ·
    email: recipients · apprise: nothing.
    """
    try:
        told = told_of(channel, settings.SECRET_KEY)
    except ChannelNotReadable:
        return {}
    if channel.kind == ChannelKind.WEBHOOK:
        origin = parsed_url(told["url"]).origin
        return {"url": origin, "header_names": sorted(told["headers"]), "has_secret": bool(told["secret"])}
    if channel.kind == ChannelKind.ALERTMANAGER:
        has = {"has_password": bool(told["password"]), "has_token": bool(told["token"])}
        return {"url": told["url"], "username": told["username"], **has}
    return {"recipients": told["recipients"]} if channel.kind == ChannelKind.EMAIL else {}
