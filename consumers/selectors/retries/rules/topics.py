"""The group's retry and dead-letter topics on its brokers: whether they may be written and read."""

from collections.abc import Iterator

from django.utils.translation import gettext

from consumers.rocketmq.names import dlq_topic
from consumers.selectors.retries.checks.condition_rows import Condition, ConditionName, Severity
from consumers.selectors.retries.checks.facts import READ, WRITE, BrokerFacts, GroupConfigured, GroupFacts

from .outcome import fails, holds, names, oldest, topic_permission, unknown, unread_reason


def retry_writable(facts: GroupFacts) -> Condition:
    """POP retries are written by the broker itself, which asks no permission (RocketMQ 5.4.0, PopReviveService)."""
    name, severity = ConditionName.RETRY_WRITABLE, Severity.WARNING
    shut = [
        one for one, said in _told(facts) if said.retry_permission is not None and not said.retry_permission & WRITE
    ]
    words = {"topic": facts.retry_topic, "brokers": names(shut)}
    cure = gettext("“%(command)s”.") % {"command": topic_permission(facts, shut, facts.retry_topic)}
    if shut:
        detail = gettext("%(topic)s may not be written on %(brokers)s: failed messages are not taken back there.")
        return fails(name, severity, detail % words, cure, shut, oldest(shut))
    return _whole(facts, name, severity, gettext("%(topic)s may be written.") % words, cure)


def retry_readable(facts: GroupFacts) -> Condition:
    name, severity = ConditionName.RETRY_READABLE, Severity.CRITICAL
    shut: dict[str, list[BrokerFacts]] = {}
    for broker, said in _told(facts):
        for topic, permission in _retry_topics(facts, said).items():
            if not permission & READ:
                shut.setdefault(topic, []).append(broker)
    topics = ", ".join(sorted(shut)) or facts.retry_topic
    brokers = [broker for each in shut.values() for broker in each]
    cure = gettext("“%(command)s”.") % {
        "command": topic_permission(facts, brokers, next(iter(shut), facts.retry_topic))
    }
    if shut:
        detail = gettext("%(topics)s may not be read on %(brokers)s: what is retried there never comes back.")
        words = {"topics": topics, "brokers": names(brokers)}
        return fails(name, severity, detail % words, cure, brokers, oldest(brokers))
    return _whole(facts, name, severity, gettext("Its retry topics may be read."), cure)


def retry_queues(facts: GroupFacts) -> Condition:
    """A broker spreads retries over retryQueueNums queues, and makes the topic once, with as many as were set then:
    it does not look at how many the topic has (RocketMQ 5.4.0, TopicConfigManager.createTopicInSendMessageBackMethod).
    """
    name, severity = ConditionName.RETRY_QUEUES, Severity.CRITICAL
    few: list[BrokerFacts] = []
    unclear = False
    for broker, said in _told(facts):
        if said.retry_permission is None or not said.retry_queue_nums or said.retry_queue_nums <= 0:
            continue
        unclear = unclear or said.read_queues is None
        if said.read_queues is not None and said.read_queues < said.retry_queue_nums:
            few.append(broker)
    told = few[0].group if few else None
    wanted, found = (told.retry_queue_nums, told.read_queues) if told else (1, None)
    command = f"mqadmin updateTopic -n '{facts.namesrv}' -b {few[0].address if few else 'ADDRESS'}"
    cure = gettext("“%(command)s”.") % {"command": f"{command} -t '{facts.retry_topic}' -r {wanted} -w {wanted}"}
    if few:
        detail = gettext(
            "%(topic)s gives messages of %(found)s queues on %(broker)s, and retries are spread over %(wanted)s "
            "(retryQueueNums): the others' are read by nobody."
        )
        words = {"topic": facts.retry_topic, "found": found, "wanted": wanted, "broker": few[0].name}
        return fails(name, severity, detail % words, cure, few, oldest(few))
    if unclear:
        reason = gettext("No reading has seen the queues of %(topic)s yet.") % {"topic": facts.retry_topic}
        return unknown(name, severity, reason, cure)
    return _whole(facts, name, severity, gettext("It has no fewer queues than retries are spread over."), cure)


def dead_readable(facts: GroupFacts) -> Condition:
    """Brokers up to 4.9.1 make the topic with write alone, and a later one keeps it so. That it may be written is asked
    by nobody (RocketMQ 5.4.0, AbstractSendMessageProcessor, SendMessageProcessor.handleRetryAndDLQ)."""
    name, severity = ConditionName.DLQ_READABLE, Severity.WARNING
    shut = [
        broker for broker, said in _told(facts) if said.dlq_permission is not None and not said.dlq_permission & READ
    ]
    topic = dlq_topic(facts.group)
    cure = gettext("“%(command)s”.") % {"command": topic_permission(facts, shut, topic)}
    if shut:
        detail = gettext(
            "%(topic)s may not be read on %(brokers)s: its dead letters cannot be looked at or sent again."
        )
        return fails(name, severity, detail % {"topic": topic, "brokers": names(shut)}, cure, shut, oldest(shut))
    there = any(said.dlq_permission is not None for _, said in _told(facts))
    detail = gettext("%(topic)s may be read.") if there else gettext("There is no %(topic)s: nothing has died.")
    return _whole(facts, name, severity, detail % {"topic": topic}, cure)


def _told(facts: GroupFacts) -> Iterator[tuple[BrokerFacts, GroupConfigured]]:
    """Of all brokers: a copy of a failed message may be on another than the group's own."""
    return ((broker, broker.group) for broker in facts.brokers if broker.group is not None)


def _retry_topics(facts: GroupFacts, said: GroupConfigured) -> dict[str, int]:
    own = {} if said.retry_permission is None else {facts.retry_topic: said.retry_permission}
    return own | dict(said.pop_permissions)


def _whole(facts: GroupFacts, name: ConditionName, severity: Severity, detail: str, cure: str) -> Condition:
    """It holds, unless a broker was not read."""
    silent = [broker for broker in facts.brokers if broker.group is None]
    if silent or not facts.brokers:
        none = gettext("No broker of %(cluster)s has been read yet.") % {"cluster": facts.cluster}
        return unknown(name, severity, unread_reason(silent) or none, cure)
    return holds(name, severity, detail, cure, oldest(facts.brokers))
