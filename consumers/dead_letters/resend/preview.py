"""The expected effect of a planned resend: which groups receive the messages, and warnings before its start."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from consumers.jobs.acts import ActRefused, note
from consumers.jobs.hold import why_read_only
from consumers.models import Cluster, ConsumerGroup, Destination, Resend, ResendItem, ResendOutcome, ResendStatus
from consumers.retries.checks.observed import BrokerConditions, RetryConditions, group_facts
from consumers.vocabulary.states import READ, WRITE

# Reasons against resending dead-letter messages to a group, and warnings: rules over facts.


@dataclass(frozen=True)
class Outlook:
    """`refusals`: the resend must not be planned. `warnings`: it may be planned."""

    refusals: list[str]
    warnings: list[str]


def outlook(facts: RetryConditions, *, to_group: bool) -> Outlook:
    refusals = [*_kind(facts), *_retry_topic(facts)] if to_group else []
    warnings = [*_members(facts, to_group=to_group), *_standing(facts)]
    if to_group and not refusals:
        warnings += _not_known(facts)
    return Outlook(refusals, warnings)


def _kind(facts: RetryConditions) -> Iterable[str]:
    if facts.is_broadcasting:
        yield _("Its members each consume every message (broadcasting): such a group has no retry topic that is read.")
    if facts.is_popping:
        yield _("The group pops: brokers store its retries in other topics, and %RETRY% with its name is not read.")
    if any(client.orderly for client in facts.clients):
        yield _(
            "The members are orderly and hold queue locks, so the broker would dead-letter messages of "
            "the retry topic again. Resend to the original topic."
        )


def _retry_topic(facts: RetryConditions) -> Iterable[str]:
    """A retry topic on one broker suffices, wherever the dead-letter messages are."""
    told = [_why_not(broker) for broker in facts.brokers]
    if told and all(why for why in told):
        words = {"topic": facts.retry_topic, "why": "; ".join(why for why in told if why)}
        yield _("No broker takes messages for %(topic)s: %(why)s.") % words


def _why_not(broker: BrokerConditions) -> str | None:
    """Null where the group consumes the retry topic, or where that is unknown."""
    words = {"broker": broker.name}
    if broker.permission.has(WRITE) is False or broker.routed.has(WRITE) is False:
        return _("%(broker)s does not accept writes") % words
    group = broker.group
    if group is None:
        return None
    if not group.configured:
        return _("%(broker)s does not know the group") % words
    if group.retry_queue_nums is not None and group.retry_queue_nums <= 0:
        return _("retryQueueNums is %(n)s on %(broker)s, where a message that fails again would be dropped") % {
            **words,
            "n": group.retry_queue_nums,
        }
    if group.retry_permission is None:
        return _("%(broker)s has no such topic") % words
    if not group.retry_permission & READ or not group.retry_permission & WRITE:
        return _("the topic's permission on %(broker)s is %(n)s") % {**words, "n": group.retry_permission}
    return None


def _members(facts: RetryConditions, *, to_group: bool) -> Iterable[str]:
    if facts.online is False:
        yield _("The group has no member: the messages count as lag until a member joins.")
    elif facts.online is None:
        yield _("The members of the group are unknown: %s.") % facts.membership_unknown
    elif to_group and any(client.orderly is None for client in facts.clients):
        yield _(
            "Not every member has reported whether it is orderly. If one is, the first message is "
            "dead-lettered again, and the others are not sent."
        )


def _standing(facts: RetryConditions) -> Iterable[str]:
    closed = [broker.name for broker in facts.brokers if broker.group and broker.group.consume_enable is False]
    if closed:
        yield _("Consumption is not enabled on %s: messages there count as lag.") % ", ".join(closed)


def _not_known(facts: RetryConditions) -> Iterable[str]:
    unclear = [broker.name for broker in facts.brokers if broker.unread is not None]
    if not facts.brokers:
        yield _("No broker of the cluster has been read yet, so it is unknown whether the retry topic exists.")
    elif unclear:
        yield _("Unknown whether the retry topic exists on %s.") % ", ".join(unclear)


# Groups that receive a topic's messages: those that were seen to consume it, or that subscribe to it.


def receivers(cluster: Cluster, topics: Collection[str]) -> list[str]:
    """Two queries. Groups that no reading has seen are not among them."""
    groups = ConsumerGroup.objects.filter(cluster=cluster).order_by()
    read = groups.filter(snapshots__queue__topic__name__in=topics, snapshots__queue__topic__cluster=cluster)
    subscribed = groups.filter(client_subscriptions__topic__in=topics, client_subscriptions__gone_by=None)
    return sorted({*read.values_list("name", flat=True), *subscribed.values_list("name", flat=True)})


@dataclass(frozen=True)
class Preview:
    """`receivers`: groups, as far as readings have seen them. `refusals`: why a plan would now be refused."""

    receivers: list[str]
    warnings: list[str]
    refusals: list[str]


def preview(group: ConsumerGroup, destination: Destination, topics: set[str], now: datetime) -> Preview:
    """`topics`: the original topics of the messages."""
    to_group = destination == Destination.GROUP
    said = outlook(group_facts(group.cluster.name, group.name, now), to_group=to_group)
    who = [group.name] if to_group else receivers(group.cluster, topics)
    locked = why_read_only(group.cluster.name)
    return Preview(who, said.warnings, [*([locked] if locked else []), *said.refusals])


def preview_of(resend_id: UUID, now: datetime) -> Preview:
    resend = Resend.objects.select_related("group__cluster").get(pk=resend_id)
    items = ResendItem.objects.filter(resend=resend_id, outcome=ResendOutcome.PLANNED).order_by()
    topics = {topic for topic in items.values_list("target_topic", flat=True).distinct() if topic}
    return preview(resend.group, Destination(resend.destination), topics, now)


# Starts and cancels planned resends. A worker does the work: it looks for rows that say RUNNING.

# Each running resend occupies a process of the general worker, which has other work too.
MOST_AT_ONCE = 2


class NotStarted(ActRefused):
    """A resend."""


class NotCancelled(ActRefused):
    """A resend."""


def start(resend: Resend, by: Any, confirm: str, now: datetime) -> None:
    """`confirm`: the group's name, as the user typed it. Raises NotStarted. One resend of a group runs at a time."""
    if confirm != resend.group.name:
        raise NotStarted(_("Type the group's name, %s, to confirm.") % resend.group.name)
    if against := preview_of(resend.pk, now).refusals:
        raise NotStarted(" ".join(against))
    with transaction.atomic():
        # Locking the group's row serialises two starts.
        ConsumerGroup.objects.select_for_update().get(pk=resend.group_id)
        resend.refresh_from_db()
        if resend.status == ResendStatus.PLANNED and resend.expires_at <= now:
            raise NotStarted(
                _(
                    "The plan has expired. Plan the resend again: dead-letter messages may have been added or "
                    "deleted since."
                )
            )
        if resend.status != ResendStatus.PLANNED:
            raise NotStarted(_("It was started, cancelled or has expired already: it is %s.") % resend.status)
        if Resend.objects.filter(group=resend.group_id, status=ResendStatus.RUNNING).exists():
            raise NotStarted(_("Another resend of this group is running. Wait for its end, or cancel it."))
        if Resend.objects.filter(status=ResendStatus.RUNNING).count() >= MOST_AT_ONCE:
            raise NotStarted(_("%s resends are running, which is the maximum. Wait for the end of one.") % MOST_AT_ONCE)
        if not resend.items.filter(outcome=ResendOutcome.PLANNED).exists():
            raise NotStarted(_("None of its messages would be sent: see why each is left out."))
        resend.status, resend.started_at = ResendStatus.RUNNING, now
        resend.started_by, resend.started_by_name = by, by.get_username()
        resend.save(update_fields=["status", "started_at", "started_by", "started_by_name"])
        note(resend, resend.title, by, "Started the resend.", now)


def cancel(resend: Resend, by: Any, now: datetime) -> None:
    """A planned resend is cancelled at once; a running one after its current batch. Raises NotCancelled."""
    with transaction.atomic():
        if _close(resend, ResendStatus.CANCELLED, now):
            note(resend, resend.title, by, "Cancelled the plan.", now)
        elif Resend.objects.filter(pk=resend.pk, status=ResendStatus.RUNNING).update(cancel_wanted=True):
            note(resend, resend.title, by, "Requested to cancel the resend.", now)
        else:
            raise NotCancelled(_("It has ended already."))
    resend.refresh_from_db()


def expire(now: datetime) -> int:
    """Marks plans past their time as expired. Returns how many there were."""
    void = Resend.objects.filter(status=ResendStatus.PLANNED, expires_at__lte=now)
    with transaction.atomic():
        return sum(_close(resend, ResendStatus.EXPIRED, now) for resend in void)


def _close(resend: Resend, status: ResendStatus, now: datetime) -> bool:
    """False where the resend is no longer planned."""
    planned = Resend.objects.filter(pk=resend.pk, status=ResendStatus.PLANNED)
    if not planned.update(status=status, finished_at=now):
        return False
    left = ResendItem.objects.filter(resend=resend, outcome=ResendOutcome.PLANNED)
    left.update(outcome=ResendOutcome.CANCELLED, at=now)
    return True
