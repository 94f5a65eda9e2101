"""Whether the group and the settings of its members let failed messages come back."""

from datetime import timedelta

from django.utils.translation import gettext, gettext_lazy as _

from consumers.queries.findings import ids
from consumers.retries.checks.condition_rows import (
    ConditionName,
    Of,
    Outcome,
    check,
    fails,
    holds,
    names,
    nobody_holds,
    oldest,
    sub_group,
    unknown,
    unread_reason,
)
from consumers.retries.checks.observed import RetryConditions
from consumers.vocabulary.findings import FindingSeverity
from consumers.words.spans import age, count, counted


# What follows from how members are set, and from the messages that they hold.
@check(ConditionName.ORIGINALS, FindingSeverity.INFO, Of.SENDING_BACK)
def originals(conditions: RetryConditions) -> Outcome:
    """A broker cannot take back what it no longer has; the member then writes its own copy (RocketMQ 5.4.0,
    AbstractSendMessageProcessor.consumerSendMsgBack, DefaultMQPushConsumerImpl.sendMessageBack)."""
    cure = gettext("Let members catch up before messages expire, or retain messages longer (fileReservedTime).")
    known = [one for one in conditions.held if one.held_min is not None and one.min_offset is not None]
    gone = [one for one in known if (one.held_min or 0) < (one.min_offset or 0)]
    if gone:
        detail = gettext(
            "Members hold messages of %(n_queues)s that their broker has deleted (%(place)s: held from %(held)s on, "
            "stored from %(least)s on): the broker cannot take these back, so members write copies instead."
        )
        first = gone[0]
        words = {"n_queues": counted("n_queues", len(gone)), "place": first.place}
        words |= {"held": count(first.held_min or 0), "least": count(first.min_offset or 0)}
        return fails(detail % words, cure)
    unclear = [one for one in conditions.held if one.held_min is not None and one.min_offset is None]
    if unclear:
        unread = gettext("The min offset of %(place)s is unknown.") % {"place": unclear[0].place}
        return unknown(unread, cure)
    if (reason := _unasked(conditions)) is not None:
        return unknown(reason, cure)
    detail = gettext("Every message that members hold is still stored (%(n_queues)s with some).")
    return holds(detail % {"n_queues": counted("n_queues", len(known))}, cure)


@check(ConditionName.TIMEOUT, FindingSeverity.WARNING, Of.SENDING_BACK)
def timeout(conditions: RetryConditions) -> Outcome:
    """Each consumeTimeout (15 min) a concurrent member sends back, of each queue, up to 16 of its oldest messages whose
    listener has run for longer than that, and goes on running them; an orderly one never does (RocketMQ 5.4.0,
    ProcessQueue.cleanExpiredMsg)."""
    cure = gettext("Let the listener give up earlier, or raise consumeTimeout (minutes) of the members.")
    concurrent = [client for client in conditions.clients if client.orderly is False]
    limits = {client.client_id: client.number("consumeTimeout") for client in concurrent}
    late = [
        (one, conditions.now - one.head_since)
        for one in conditions.held
        if one.head_since is not None
        and (minutes := limits.get(one.client_id)) is not None
        and conditions.now - one.head_since > timedelta(minutes=minutes)
    ]
    if late:
        one, since = max(late, key=lambda found: found[1])
        detail = gettext(
            "%(client)s has held the oldest message of %(place)s for %(age)s, longer than its consumeTimeout of "
            "%(minutes)s min: it is sent back while its listener still runs, and consumed twice."
        )
        words = {"client": one.client_id, "place": one.place, "age": age(since.total_seconds())}
        return fails(detail % (words | {"minutes": limits[one.client_id]}), cure)
    if (reason := _unsaid(conditions, None) or _unsaid(conditions, "consumeTimeout")) is not None:
        return unknown(reason, cure)
    if not concurrent:
        return holds(gettext("Members consume in order: consumeTimeout does not apply."), cure)
    detail = gettext("No message has been held for longer than consumeTimeout (%(minutes)s min).")
    shortest = min((minutes for minutes in limits.values() if minutes is not None), default=0)
    return holds(detail % {"minutes": shortest}, cure)


@check(ConditionName.SINGLE, FindingSeverity.INFO, Of.SENDING_BACK)
def single(conditions: RetryConditions) -> Outcome:
    """RECONSUME_LATER sends the whole batch back, SUCCESS with an ackIndex its tail (RocketMQ 5.4.0,
    ConsumeMessageConcurrentlyService.processConsumeResult)."""
    cure = gettext("Set consumeMessageBatchMaxSize to 1, or set ackIndex to the last message that succeeded.")
    sizes = {client.client_id: client.number("consumeMessageBatchMaxSize") for client in conditions.clients}
    batches = {client_id: size for client_id, size in sizes.items() if size is not None and size > 1}
    if batches:
        detail = gettext(
            "Up to %(size)s messages at once are consumed by %(clients)s: one that fails sends all of its batch back, "
            "those that succeeded among them (with ackIndex, what follows it)."
        )
        words = {"clients": ids(batches), "size": max(batches.values())}
        return fails(detail % words, cure)
    if (reason := _unsaid(conditions, "consumeMessageBatchMaxSize")) is not None:
        return unknown(reason, cure)
    return holds(gettext("Members consume one message at a time."), cure)


@check(ConditionName.IN_TURN, FindingSeverity.INFO, Of.SENDING_BACK)
def in_turn(conditions: RetryConditions) -> Outcome:
    """RocketMQ 5.4.0, ConsumeMessageOrderlyService.checkReconsumeTimes: tried on the spot, by default without limit."""
    cure = gettext("Set maxReconsumeTimes of the members: messages that fail more often are dead-lettered.")
    orderly = [client for client in conditions.clients if client.orderly]
    if orderly:
        unlimited = [client for client in orderly if client.number("maxReconsumeTimes") == -1]
        detail = gettext("Orderly: %(clients)s. A failed message is retried in place, and blocks its queue meanwhile.")
        endless = gettext(
            "Orderly, without a retry limit: %(clients)s. A failed message is retried in place, and a "
            "message that always fails blocks its queue for ever."
        )
        chosen, template = (unlimited, endless) if unlimited else (orderly, detail)
        return fails(template % {"clients": ids(client.client_id for client in chosen)}, cure)
    if (reason := _unsaid(conditions, None)) is not None:
        return unknown(reason, cure)
    return holds(gettext("Members consume concurrently: failed messages do not block others."), cure)


@check(ConditionName.ACKNOWLEDGED, FindingSeverity.INFO, Of.POPPING)
def acknowledged(conditions: RetryConditions) -> Outcome:
    """Only for groups that pop: RocketMQ 5.4.0, PopMessageProcessor."""
    detail = gettext(
        "Members pop: offsets advance when a message is delivered, before its outcome is known. A "
        "failed message is redelivered after its invisible time, through one retry topic per topic."
    )
    cure = gettext("Evaluate such a group by its unacknowledged messages, not by its lag alone.")
    return fails(detail, cure)


def _unasked(conditions: RetryConditions) -> str | None:
    """Why it is not known what members hold; None where it is, as far as they hold anything."""
    if conditions.membership_unknown is not None:
        return conditions.membership_unknown
    if not conditions.clients:
        return gettext("The group has no member.") if conditions.online is False else None
    silent = [client.client_id for client in conditions.clients if client.answered_at is None]
    return gettext("Not reported yet: %(clients)s.") % {"clients": ids(silent)} if silent else None


def _unsaid(conditions: RetryConditions, setting: str | None) -> str | None:
    """Why a setting of the members is not known; None where all of them said it. Without a name: whether they are
    orderly."""
    if conditions.membership_unknown is not None:
        return conditions.membership_unknown
    if not conditions.clients:
        return gettext("The group has no member, so its settings are unknown.")
    silent = [
        one.client_id for one in conditions.clients if (one.orderly if setting is None else one.number(setting)) is None
    ]
    return gettext("Settings are unknown of: %(clients)s.") % {"clients": ids(silent)} if silent else None


# What brokers know of the group itself: that it is there, keeps its retries and may consume.
# Members are heard by every broker each 30 s, and it makes a group then that it does not know, if it may
# (RocketMQ 5.4.0, ClientManageProcessor.heartBeat, autoCreateSubscriptionGroup).
HEARTBEATS = timedelta(seconds=60)


@check(
    ConditionName.KEPT,
    FindingSeverity.CRITICAL,
    Of.RETRIES,
    suspect=lambda configured: configured.retry_queue_nums is not None and configured.retry_queue_nums <= 0,
    of_many=_("Failed messages of %(n_groups)s are silently discarded on %(brokers)s: retryQueueNums 0 (%(groups)s)."),
    cure_of_many=_("“mqadmin updateSubGroup” with -q 1 and each group's other values, which it sets too."),
)
def kept(conditions: RetryConditions) -> Outcome:
    """With retryQueueNums 0 the broker answers success and drops the message (RocketMQ 5.4.0,
    AbstractSendMessageProcessor.consumerSendMsgBack). A proxy sends dead-letter messages by the same call."""
    brokers = [broker for broker in conditions.holders if broker.group is not None and broker.group.configured]
    dropping = [
        one
        for one in brokers
        if one.group and one.group.retry_queue_nums is not None and one.group.retry_queue_nums <= 0
    ]
    cure = gettext(
        "“%(command)s” with the group's other values, which the command sets too; then give %(topic)s as many queues "
        "(“mqadmin updateTopic … -r 1 -w 1”): it may have been made without any."
    ) % {"command": sub_group(conditions, dropping, "-q 1"), "topic": conditions.retry_topic}
    if dropping:
        detail = gettext(
            "Failed messages of this group are silently discarded on %(brokers)s: its retryQueueNums is 0."
        )
        if conditions.is_popping:
            detail = gettext(
                "%(brokers)s silently discards dead-letter messages of this group: its retryQueueNums is 0."
            )
        return fails(detail % {"brokers": names(dropping)}, cure, dropping, oldest(dropping))
    silent = [
        one
        for one in conditions.holders
        if one.group is None or (one.group.configured and one.group.retry_queue_nums is None)
    ]
    if silent or not brokers:
        none = gettext("No broker with the group's topics has reported how many retry queues the group has.")
        return unknown(unread_reason(silent) or (none if conditions.holders else nobody_holds(conditions)), cure)
    least = min(broker.group.retry_queue_nums or 0 for broker in brokers if broker.group)
    detail = gettext("retryQueueNums is %(least)s or more on %(brokers)s.") % {
        "least": least,
        "brokers": names(brokers),
    }
    return holds(detail, cure, oldest(brokers))


@check(
    ConditionName.GROUP_EXISTS,
    FindingSeverity.CRITICAL,
    Of.ALL,
    of_many=_("Missing on %(brokers)s, which has their topics: %(n_groups)s with members (%(groups)s)."),
    cure_of_many=_("“mqadmin updateSubGroup” for each of them, or autoCreateSubscriptionGroup."),
)
def exists(conditions: RetryConditions) -> Outcome:
    """A broker that does not know the group gives it nothing and takes nothing back (26), unless it makes groups by
    itself: then it does so as soon as a member speaks to it."""
    absent = [one for one in conditions.holders if one.group is not None and not one.group.configured]
    since = [one.group.since for one in absent if one.group]
    cure = gettext("“%(command)s”.") % {"command": sub_group(conditions, absent, "-q 1 -r 16")}
    words = {"brokers": names(absent)}
    if absent and conditions.online and all(conditions.now - one > HEARTBEATS for one in since):
        detail = gettext(
            "The group is not known on %(brokers)s, though it has members: they get nothing of its topics there, and "
            "nothing is taken back."
        )
        return fails(detail % words, cure, absent, min(since))
    if absent:
        reason = gettext(
            "The group is not known on %(brokers)s; whether groups are made there by themselves "
            "(autoCreateSubscriptionGroup) shows only once a member has been online for a minute."
        )
        return unknown(reason % words, cure)
    silent = [one for one in conditions.holders if one.group is None]
    if silent or not conditions.holders:
        return unknown(unread_reason(silent) or nobody_holds(conditions), cure)
    detail = gettext("It is known on %(brokers)s.") % {"brokers": names(conditions.holders)}
    return holds(detail, cure, oldest(conditions.holders))


@check(ConditionName.ENABLED, FindingSeverity.WARNING, Of.ALL)
def enabled(conditions: RetryConditions) -> Outcome:
    paused = [one for one in conditions.holders if one.group is not None and one.group.consume_enable is False]
    cure = gettext("“%(command)s” with the group's other values, which the command sets too.") % {
        "command": sub_group(conditions, paused, "-s true")
    }
    if paused:
        detail = gettext("Nothing is given to the group on %(brokers)s, its retries neither: consumeEnable is false.")
        return fails(detail % {"brokers": names(paused)}, cure, paused, oldest(paused))
    brokers = [one for one in conditions.holders if one.group is not None and one.group.consume_enable]
    silent = [one for one in conditions.holders if one.group is None]
    if silent or not brokers:
        none = gettext("No broker with the group's topics has reported whether the group may consume.")
        return unknown(unread_reason(silent) or (none if conditions.holders else nobody_holds(conditions)), cure)
    return holds(gettext("consumeEnable is true on %(b)s.") % {"b": names(brokers)}, cure, oldest(brokers))


@check(ConditionName.RETRIED, FindingSeverity.WARNING, Of.ALL)
def retried(conditions: RetryConditions) -> Outcome:
    """RocketMQ 5.4.0: ConsumeMessageConcurrentlyService.processConsumeResult drops what fails in a broadcasting group;
    pull consumers send nothing back by themselves."""
    cure = gettext(
        "Catch failures in the listener and store them yourself, or consume as CLUSTERING with a push consumer."
    )
    if conditions.is_broadcasting:
        detail = gettext("The group is broadcasting: a failed message is only logged by its member, and never retried.")
        return fails(detail, cure)
    if conditions.is_pulling:
        detail = gettext("Its members pull: a failed message is retried only where the application sends it back.")
        return fails(detail, cure, severity=FindingSeverity.INFO)
    if conditions.message_model is None:
        never = gettext("no member has been seen, so it is unknown how the group consumes")
        return unknown(conditions.membership_unknown or never, cure)
    detail = gettext("The group is clustering: failed messages are redelivered.")
    return holds(detail, cure)
