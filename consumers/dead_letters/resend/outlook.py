"""What speaks against sending dead letters to a group, and what its people should know before: rules over facts."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from consumers.selectors.retries.facts import READ, WRITE, BrokerFacts, GroupFacts


@dataclass(frozen=True)
class Outlook:
    """`refusals`: it must not be planned. `warnings`: it may."""

    refusals: list[str]
    warnings: list[str]


def outlook(facts: GroupFacts, *, to_group: bool) -> Outlook:
    refusals = [*_kind(facts), *_retry_topic(facts)] if to_group else []
    warnings = [*_members(facts, to_group=to_group), *_standing(facts)]
    if to_group and not refusals:
        warnings += _not_known(facts)
    return Outlook(refusals, warnings)


def _kind(facts: GroupFacts) -> Iterable[str]:
    if facts.is_broadcasting:
        yield _("Its members each consume every message (broadcasting): such a group has no retry topic that is read.")
    if facts.is_popping:
        yield _(
            "The group pops: brokers keep its retries in topics of their own, and nobody reads %RETRY% and its name."
        )
    if any(client.orderly for client in facts.clients):
        yield _(
            "Its members are orderly and hold queue locks: the broker would put what is sent to its retry topic into "
            "the dead-letter queue again. Send to the topic it came from."
        )


def _retry_topic(facts: GroupFacts) -> Iterable[str]:
    """A retry topic on one broker is enough, wherever the dead letters lie."""
    told = [_why_not(broker) for broker in facts.brokers]
    if told and all(why for why in told):
        words = {"topic": facts.retry_topic, "why": "; ".join(why for why in told if why)}
        yield _("No broker takes messages for %(topic)s: %(why)s.") % words


def _why_not(broker: BrokerFacts) -> str | None:
    """Null where it does, or where that is not known."""
    words = {"broker": broker.name}
    if broker.permission.has(WRITE) is False or broker.routed.has(WRITE) is False:
        return _("writing to %(broker)s is not allowed") % words
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


def _members(facts: GroupFacts, *, to_group: bool) -> Iterable[str]:
    if facts.online is False:
        yield _("Nobody is in the group: the messages wait until somebody is, and count as lag.")
    elif facts.online is None:
        yield _("Who is in the group is not known: %s.") % facts.membership_unknown
    elif to_group and any(client.orderly is None for client in facts.clients):
        yield _(
            "Not every member has said whether it is orderly: should one be, the first message goes back to the dead "
            "letters, and the rest is not sent."
        )


def _standing(facts: GroupFacts) -> Iterable[str]:
    closed = [broker.name for broker in facts.brokers if broker.group and broker.group.consume_enable is False]
    if closed:
        yield _("Consumption is not enabled on %s: messages there wait.") % ", ".join(closed)


def _not_known(facts: GroupFacts) -> Iterable[str]:
    unclear = [broker.name for broker in facts.brokers if broker.unread is not None]
    if not facts.brokers:
        yield _("No broker of the cluster has been read yet: whether the retry topic is there is not known.")
    elif unclear:
        yield _("Whether the retry topic is there is not known of %s.") % ", ".join(unclear)
