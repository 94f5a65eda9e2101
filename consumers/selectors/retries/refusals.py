"""What keeps every failed message of a group from being taken back: no broker that its members know takes its retries.

A member writes what its own broker does not take back to `%RETRY%group` on any broker that the name servers tell it of
(RocketMQ 5.4.0, DefaultMQPushConsumerImpl.sendMessageBack), so one that takes it is enough.
"""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta

from django.utils.translation import gettext

from consumers.models import Broker, ConsumerGroup, GroupBroker
from consumers.rocketmq.names import retry_topic
from consumers.selectors.brokers import MASTER
from consumers.selectors.limits import limits

WRITE = 2
# Permissions are read more rarely than offsets.
LATE_FACTOR = 4


def refusals(groups: Collection[ConsumerGroup], now: datetime) -> dict[int, str]:
    """By the group's id, those of which it is known, in a sentence. Two queries."""
    brokers: dict[int, list[Broker]] = {}
    for broker in Broker.objects.filter(cluster__in={group.cluster_id for group in groups}, broker_id=MASTER):
        brokers.setdefault(broker.cluster_id, []).append(broker)
    configs = GroupBroker.objects.filter(group__in={group.pk for group in groups})
    permissions = {(row.group_id, row.broker): row.retry_permissions for row in configs}
    since = now - timedelta(seconds=LATE_FACTOR * limits().late_seconds)
    found: dict[int, str] = {}
    for group in groups:
        reasons = [
            next(
                _closed(broker, permissions.get((group.pk, broker.name), {}).get(retry_topic(group.name)), since), None
            )
            for broker in brokers.get(group.cluster_id, ())
        ]
        known = [reason for reason in reasons if reason is not None]
        if reasons and len(known) == len(reasons):
            found[group.pk] = gettext("no broker takes its retries: %(why)s") % {"why": "; ".join(known)}
    return found


def _closed(broker: Broker, retries: int | None, since: datetime) -> Iterator[str]:
    """Why the broker takes no retry of the group, as far as it was read a moment ago."""
    words = {"broker": broker.name}
    if broker.config_at is not None and broker.config_at >= since and _takes_none(broker.permission):
        yield gettext("%(broker)s has permission %(n)s") % (words | {"n": broker.permission})
    if broker.routed_at is not None and broker.routed_at >= since and _takes_none(broker.routed_permission):
        yield gettext("name servers tell permission %(n)s of %(broker)s") % (words | {"n": broker.routed_permission})
    if _takes_none(retries):
        yield gettext("its retry topic on %(broker)s has permission %(n)s") % (words | {"n": retries})


def _takes_none(permission: int | None) -> bool:
    return permission is not None and not permission & WRITE
