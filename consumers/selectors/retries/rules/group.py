"""What brokers know of the group itself: that it is there, keeps its retries and may consume."""

from datetime import timedelta

from django.utils.translation import gettext

from consumers.selectors.retries.checks.condition_rows import Condition, ConditionName, Severity
from consumers.selectors.retries.checks.facts import GroupFacts

from .outcome import fails, holds, names, nobody_holds, oldest, sub_group, unknown, unread_reason

# Members are heard by every broker each 30 s, and it makes a group then that it does not know, if it may
# (RocketMQ 5.4.0, ClientManageProcessor.heartBeat, autoCreateSubscriptionGroup).
HEARTBEATS = timedelta(seconds=60)


def kept(facts: GroupFacts) -> Condition:
    """With retryQueueNums 0 the broker answers success and drops the message (RocketMQ 5.4.0,
    AbstractSendMessageProcessor.consumerSendMsgBack). A proxy sends dead letters by the same call."""
    name, severity = ConditionName.KEPT, Severity.CRITICAL
    told = [broker for broker in facts.holders if broker.group is not None and broker.group.configured]
    dropping = [
        one for one in told if one.group and one.group.retry_queue_nums is not None and one.group.retry_queue_nums <= 0
    ]
    cure = gettext(
        "“%(command)s” with the group's other values, which the command sets too; then give %(topic)s as many queues "
        "(“mqadmin updateTopic … -r 1 -w 1”): it may have been made without any."
    ) % {"command": sub_group(facts, dropping, "-q 1"), "topic": facts.retry_topic}
    if dropping:
        detail = gettext(
            "Failed messages of this group are silently discarded on %(brokers)s: its retryQueueNums is 0."
        )
        if facts.is_popping:
            detail = gettext(
                "Dead letters of this group are silently discarded on %(brokers)s: its retryQueueNums is 0."
            )
        return fails(name, severity, detail % {"brokers": names(dropping)}, cure, dropping, oldest(dropping))
    silent = [
        one
        for one in facts.holders
        if one.group is None or (one.group.configured and one.group.retry_queue_nums is None)
    ]
    if silent or not told:
        none = gettext("No broker that holds its topics has said how many retry queues the group has.")
        return unknown(name, severity, unread_reason(silent) or (none if facts.holders else nobody_holds(facts)), cure)
    least = min(broker.group.retry_queue_nums or 0 for broker in told if broker.group)
    detail = gettext("retryQueueNums is %(least)s or more on %(brokers)s.") % {"least": least, "brokers": names(told)}
    return holds(name, severity, detail, cure, oldest(told))


def exists(facts: GroupFacts) -> Condition:
    """A broker that does not know the group gives it nothing and takes nothing back (26), unless it makes groups by
    itself: then it does so as soon as a member speaks to it."""
    name, severity = ConditionName.GROUP_EXISTS, Severity.CRITICAL
    absent = [one for one in facts.holders if one.group is not None and not one.group.configured]
    since = [one.group.since for one in absent if one.group]
    cure = gettext("“%(command)s”.") % {"command": sub_group(facts, absent, "-q 1 -r 16")}
    words = {"brokers": names(absent)}
    if absent and facts.online and all(facts.now - one > HEARTBEATS for one in since):
        detail = gettext(
            "The group is not known on %(brokers)s, though it has members: they get nothing of its topics there, and "
            "nothing is taken back."
        )
        return fails(name, severity, detail % words, cure, absent, min(since))
    if absent:
        reason = gettext(
            "The group is not known on %(brokers)s; whether groups are made there by themselves "
            "(autoCreateSubscriptionGroup) shows only once a member has been online for a minute."
        )
        return unknown(name, severity, reason % words, cure)
    silent = [one for one in facts.holders if one.group is None]
    if silent or not facts.holders:
        return unknown(name, severity, unread_reason(silent) or nobody_holds(facts), cure)
    detail = gettext("It is known on %(brokers)s.") % {"brokers": names(facts.holders)}
    return holds(name, severity, detail, cure, oldest(facts.holders))


def enabled(facts: GroupFacts) -> Condition:
    name, severity = ConditionName.ENABLED, Severity.WARNING
    paused = [one for one in facts.holders if one.group is not None and one.group.consume_enable is False]
    cure = gettext("“%(command)s” with the group's other values, which the command sets too.") % {
        "command": sub_group(facts, paused, "-s true")
    }
    if paused:
        detail = gettext("Nothing is given to the group on %(brokers)s, its retries neither: consumeEnable is false.")
        return fails(name, severity, detail % {"brokers": names(paused)}, cure, paused, oldest(paused))
    told = [one for one in facts.holders if one.group is not None and one.group.consume_enable]
    silent = [one for one in facts.holders if one.group is None]
    if silent or not told:
        none = gettext("No broker that holds its topics has said whether the group may consume.")
        return unknown(name, severity, unread_reason(silent) or (none if facts.holders else nobody_holds(facts)), cure)
    return holds(name, severity, gettext("consumeEnable is true on %(b)s.") % {"b": names(told)}, cure, oldest(told))


def retried(facts: GroupFacts) -> Condition:
    """RocketMQ 5.4.0: ConsumeMessageConcurrentlyService.processConsumeResult drops what fails in a broadcasting group;
    pull consumers send nothing back by themselves."""
    name = ConditionName.RETRIED
    cure = gettext(
        "Catch failures in the listener and keep them yourself, or consume as CLUSTERING with a push consumer."
    )
    if facts.is_broadcasting:
        detail = gettext("The group is broadcasting: a failed message is only logged by its member, and never retried.")
        return fails(name, Severity.WARNING, detail, cure)
    if facts.is_pulling:
        detail = gettext("Its members pull: a failed message is retried only where the application sends it back.")
        return fails(name, Severity.NOTE, detail, cure)
    if facts.message_model is None:
        never = gettext("no member has been seen: how the group consumes is not known")
        return unknown(name, Severity.WARNING, facts.membership_unknown or never, cure)
    detail = gettext("The group is clustering: what fails comes again.")
    return holds(name, Severity.WARNING, detail, cure)
