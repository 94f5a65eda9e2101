"""What follows from how members are set, and from the messages that they hold."""

from datetime import timedelta

from django.utils.translation import gettext

from consumers.selectors.ownership.troubles.words import ids
from consumers.selectors.retries.checks.condition_rows import Condition, ConditionName, Severity
from consumers.selectors.retries.checks.facts import ClientFacts, GroupFacts
from consumers.selectors.text.measures import age, count

from .outcome import fails, holds, unknown


def originals(facts: GroupFacts) -> Condition:
    """A broker cannot take back what it no longer has; the member then writes its own copy (RocketMQ 5.4.0,
    AbstractSendMessageProcessor.consumerSendMsgBack, DefaultMQPushConsumerImpl.sendMessageBack)."""
    name, severity = ConditionName.ORIGINALS, Severity.NOTE
    cure = gettext("Let members catch up before messages expire, or keep them longer (fileReservedTime).")
    known = [one for one in facts.held if one.held_min is not None and one.min_offset is not None]
    gone = [one for one in known if (one.held_min or 0) < (one.min_offset or 0)]
    if gone:
        detail = gettext(
            "Members hold messages of %(n)s queues that their broker has deleted (%(place)s: held from %(held)s on, "
            "stored from %(least)s on): it cannot take these back, and members write copies of their own instead."
        )
        first = gone[0]
        words = {"n": count(len(gone)), "place": first.place}
        words |= {"held": count(first.held_min or 0), "least": count(first.min_offset or 0)}
        return fails(name, severity, detail % words, cure)
    unclear = [one for one in facts.held if one.held_min is not None and one.min_offset is None]
    if unclear:
        unread = gettext("The min offset of %(place)s is not known.") % {"place": unclear[0].place}
        return unknown(name, severity, unread, cure)
    if (reason := _unasked(facts)) is not None:
        return unknown(name, severity, reason, cure)
    detail = gettext("Every message that members hold is still stored (%(n)s queues with some).")
    return holds(name, severity, detail % {"n": count(len(known))}, cure)


def timeout(facts: GroupFacts) -> Condition:
    """Each consumeTimeout (15 min) a concurrent member sends back, of each queue, up to 16 of its oldest messages whose
    listener has run for longer than that, and goes on running them (RocketMQ 5.4.0, ProcessQueue.cleanExpiredMsg)."""
    name, severity = ConditionName.TIMEOUT, Severity.WARNING
    cure = gettext("Let the listener give up earlier, or raise consumeTimeout (minutes) of the members.")
    limits = {client.client_id: _number(client, "consumeTimeout") for client in facts.clients}
    late = [
        (one, facts.now - one.head_since)
        for one in facts.held
        if one.head_since is not None
        and (minutes := limits.get(one.client_id)) is not None
        and facts.now - one.head_since > timedelta(minutes=minutes)
    ]
    if late:
        one, since = max(late, key=lambda found: found[1])
        detail = gettext(
            "%(client)s has held the oldest message of %(place)s for %(age)s, longer than its consumeTimeout of "
            "%(minutes)s min: it is sent back while its listener still runs, and consumed twice."
        )
        words = {"client": one.client_id, "place": one.place, "age": age(since.total_seconds())}
        return fails(name, severity, detail % (words | {"minutes": limits[one.client_id]}), cure)
    if (reason := _unsaid(facts, "consumeTimeout")) is not None:
        return unknown(name, severity, reason, cure)
    detail = gettext("No message has been held for longer than consumeTimeout (%(minutes)s min).")
    shortest = min((minutes for minutes in limits.values() if minutes is not None), default=0)
    return holds(name, severity, detail % {"minutes": shortest}, cure)


def single(facts: GroupFacts) -> Condition:
    """RECONSUME_LATER sends the whole batch back, SUCCESS with an ackIndex its tail (RocketMQ 5.4.0,
    ConsumeMessageConcurrentlyService.processConsumeResult)."""
    name, severity = ConditionName.SINGLE, Severity.NOTE
    cure = gettext("Set consumeMessageBatchMaxSize to 1, or tell by ackIndex up to where a batch succeeded.")
    sizes = {client.client_id: _number(client, "consumeMessageBatchMaxSize") for client in facts.clients}
    batches = {client_id: size for client_id, size in sizes.items() if size is not None and size > 1}
    if batches:
        detail = gettext(
            "Up to %(size)s messages at once are consumed by %(clients)s: one that fails sends all of its batch back, "
            "those that succeeded among them (with ackIndex, what follows it)."
        )
        words = {"clients": ids(batches), "size": max(batches.values())}
        return fails(name, severity, detail % words, cure)
    if (reason := _unsaid(facts, "consumeMessageBatchMaxSize")) is not None:
        return unknown(name, severity, reason, cure)
    return holds(name, severity, gettext("Members consume one message at a time."), cure)


def in_turn(facts: GroupFacts) -> Condition:
    """RocketMQ 5.4.0, ConsumeMessageOrderlyService.checkReconsumeTimes: tried on the spot, by default without limit."""
    name, severity = ConditionName.IN_TURN, Severity.NOTE
    cure = gettext("Set maxReconsumeTimes of the members: what fails more often goes to the dead letters.")
    orderly = [client for client in facts.clients if client.orderly]
    if orderly:
        unlimited = [client for client in orderly if _number(client, "maxReconsumeTimes") == -1]
        detail = gettext("Orderly: %(clients)s. A message that fails is tried again on the spot, and its queue waits.")
        endless = gettext(
            "Orderly, and without a limit of tries: %(clients)s. A message that fails is tried again on the spot, and "
            "one that always fails holds its queue for ever."
        )
        chosen, template = (unlimited, endless) if unlimited else (orderly, detail)
        return fails(name, severity, template % {"clients": ids(client.client_id for client in chosen)}, cure)
    if (reason := _unsaid(facts, None)) is not None:
        return unknown(name, severity, reason, cure)
    return holds(name, severity, gettext("Members consume concurrently: what fails does not hold up the rest."), cure)


def acknowledged(facts: GroupFacts) -> Condition:
    """Only for groups that pop: RocketMQ 5.4.0, PopMessageProcessor."""
    detail = gettext(
        "Members pop: offsets advance when a message is given out, before its outcome; one that fails comes again "
        "after its invisible time, through a retry topic for each topic."
    )
    cure = gettext("Judge such a group by its unacknowledged messages, not by its lag alone.")
    return fails(ConditionName.ACKNOWLEDGED, Severity.NOTE, detail, cure)


def _number(client: ClientFacts, name: str) -> int | None:
    said = (client.settings or {}).get(name, "")
    return int(said) if said.removeprefix("-").isdecimal() else None


def _unasked(facts: GroupFacts) -> str | None:
    """Why it is not known what members hold; None where it is, as far as they hold anything."""
    if not facts.clients:
        return facts.membership_unknown or (gettext("The group has no member.") if facts.online is False else None)
    silent = [client.client_id for client in facts.clients if client.told_at is None]
    return gettext("Not heard yet: %(clients)s.") % {"clients": ids(silent)} if silent else None


def _unsaid(facts: GroupFacts, setting: str | None) -> str | None:
    """Why a setting of the members is not known; None where all of them said it. Without a name: whether they are
    orderly."""
    if not facts.clients:
        return facts.membership_unknown or gettext("The group has no member: how it is set is not known.")
    silent = [
        one.client_id for one in facts.clients if (one.orderly if setting is None else _number(one, setting)) is None
    ]
    return gettext("How they are set is not known of: %(clients)s.") % {"clients": ids(silent)} if silent else None
