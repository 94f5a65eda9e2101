"""Whether brokers take failed messages: their permissions, routes, and the retry and dead-letter topics."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.utils.translation import gettext, gettext_lazy as _, ngettext

from consumers.models import ConsumerGroup
from consumers.retries.checks.condition_rows import (
    PERMISSION_OF_EACH,
    ConditionName,
    Of,
    Outcome,
    check,
    fails,
    holds,
    is_way_round,
    names,
    nobody_holds,
    oldest,
    takes_back,
    topic_permission,
    unknown,
    unread_reason,
    why_not_taken_back,
    why_unknown,
)
from consumers.retries.checks.observed import (
    BrokerConditions,
    GroupConfigured,
    RetryConditions,
    facts_of,
)
from consumers.rocketmq.names import dlq_topic, retry_topic
from consumers.vocabulary.findings import FindingSeverity
from consumers.vocabulary.states import READ, WRITE
from consumers.words.marks import chained, listed

# Whether a failed message finds a broker that takes it, its own or another; else the offset stands.


@check(ConditionName.ACCEPTED, FindingSeverity.CRITICAL, Of.SENDING_BACK)
def accepted(conditions: RetryConditions) -> Outcome:
    """Orderly members try on the spot, and write only what is past its tries, by the second way alone (RocketMQ 5.4.0,
    ConsumeMessageOrderlyService.sendMessageBack)."""
    if not conditions.holders:
        return unknown(nobody_holds(conditions), _cure(()))
    if conditions.orderly:
        return _of_orderly(conditions)
    refusing = [broker for broker in conditions.holders if takes_back(broker) is False]
    unclear = [broker for broker in conditions.holders if takes_back(broker) is None]
    around = way_round(conditions)
    if refusing or unclear:
        return _beside(conditions, refusing, unclear, around)
    detail = gettext("Its failed messages are taken back by %(brokers)s.") % {"brokers": names(conditions.holders)}
    return holds(detail, _cure(()), oldest(conditions.holders))


def way_round(conditions: RetryConditions) -> list[BrokerConditions]:
    """Where members can write what its own broker does not take back."""
    return [broker for broker in conditions.brokers if is_way_round(broker)]


def _beside(
    conditions: RetryConditions,
    refusing: list[BrokerConditions],
    unclear: list[BrokerConditions],
    around: list[BrokerConditions],
) -> Outcome:
    if around:
        landing = gettext("%(why)s: its failed messages go to %(others)s.")
        whatever = gettext("Whatever its own broker does, failed messages can go to %(others)s.")
        words = {"others": names(around), "why": _why(refusing)}
        detail = (landing if refusing else whatever) % words
        return holds(detail, _cure(refusing), oldest(around))
    unread = [broker for broker in conditions.brokers if is_way_round(broker) is None]
    if not refusing or unread:
        return unknown(_unclear([*unclear, *unread]), _cure(refusing))
    detail = gettext(
        "%(why)s, and no other broker accepts %(topic)s. Members retain failed messages, retry them "
        "every 5 s and do not commit their offsets."
    )
    words = {"why": _why(refusing), "topic": conditions.retry_topic}
    return fails(detail % words, _cure(refusing), refusing, oldest(conditions.brokers))


def _of_orderly(conditions: RetryConditions) -> Outcome:
    around, tries = way_round(conditions), [client.number("maxReconsumeTimes") for client in conditions.clients]
    if all(one == -1 for one in tries):
        detail = gettext("Its members are orderly and try a failed message on the spot without limit: nothing is sent.")
        return holds(detail, _cure(()))
    if around:
        detail = gettext("What orderly members have tried too often goes to %(others)s.") % {"others": names(around)}
        return holds(detail, _cure(()), oldest(around))
    unread = [broker for broker in conditions.brokers if is_way_round(broker) is None]
    if unread:
        return unknown(_unclear(unread), _cure(()))
    detail = gettext(
        "The members are orderly, and clients know no broker that accepts %(topic)s. Messages whose "
        "retries are exceeded cannot be stored, and their queues are blocked."
    )
    words = {"topic": conditions.retry_topic}
    return fails(detail % words, _cure(conditions.brokers), conditions.brokers, oldest(conditions.brokers))


def _why(brokers: Sequence[BrokerConditions]) -> str:
    sentence = chained(why_not_taken_back(broker) for broker in brokers[:3])
    return sentence[:1].upper() + sentence[1:]


def _unclear(brokers: Sequence[BrokerConditions]) -> str:
    return why_unknown(brokers[0]) if brokers else gettext("Unknown which brokers accept the retry topic.")


def _cure(brokers: Sequence[BrokerConditions]) -> str:
    closed = [broker for broker in brokers if broker.permission.has(WRITE) is False]
    address = closed[0].address if len(closed) == 1 else "ADDRESS"
    words = {"command": f"mqadmin updateBrokerConfig -b {address} -k brokerPermission -v 6"}
    return (
        gettext(
            "Open one broker that the group's topics are on: “%(command)s”; or start its master, or give it the group."
        )
        % words
    )


# What brokers as such allow, whatever the group: their own permission, and what name servers route.
@check(ConditionName.TAKES_BACK, FindingSeverity.INFO, Of.SENDING_BACK)
def brokers_take_back(conditions: RetryConditions) -> Outcome:
    """A broker that does not is no harm where another takes its failed messages: `accepted` says so."""
    holders = conditions.holders
    closed = [broker for broker in holders if False in (broker.has_master, broker.permission.has(WRITE))]
    around = way_round(conditions)
    severity = FindingSeverity.INFO if around else FindingSeverity.WARNING
    if closed:
        why = chained(why_not_taken_back(broker) for broker in closed[:3])
        words = {"why": why[:1].upper() + why[1:], "others": names(around)}
        landing = gettext("%(why)s. What fails of its messages is retried through %(others)s.")
        nowhere = gettext("%(why)s. What fails of its messages is not taken elsewhere either, as far as is known.")
        since = min((broker.permission.at for broker in closed if broker.permission.at), default=None)
        return fails((landing if around else nowhere) % words, _open(closed), closed, since, severity=severity)
    silent = [broker for broker in holders if broker.has_master is None or broker.permission.has(WRITE) is None]
    if silent or not holders:
        reason = silent[0].permission.unknown or silent[0].unread if silent else nobody_holds(conditions)
        return unknown(reason or nobody_holds(conditions), _open(silent), severity=severity)
    oldest_at = min((broker.permission.at for broker in holders if broker.permission.at), default=None)
    return holds(gettext("%(brokers)s: open.") % {"brokers": names(holders)}, _open(()), oldest_at, severity=severity)


@check(ConditionName.ROUTED, FindingSeverity.INFO, Of.SENDING_BACK)
def routed(conditions: RetryConditions) -> Outcome:
    """Name servers can be told to route no writes to a broker; the broker does not know of it, and takes back all the
    same what is sent back to it. Only writing a copy needs the route."""
    holders = conditions.holders
    wiped = [
        broker for broker in holders if broker.routed.has(WRITE) is False and broker.permission.has(WRITE) is not False
    ]
    if wiped:
        severity = FindingSeverity.WARNING if conditions.orderly else FindingSeverity.INFO
        detail = gettext(
            "Name servers route no writes to %(brokers)s (wipeWritePerm). Clients cannot write messages "
            "there that the broker does not take back itself, nor messages of orderly members whose "
            "retries are exceeded. New messages go to other brokers."
        )
        since = min((broker.routed.at for broker in wiped if broker.routed.at), default=None)
        return fails(detail % {"brokers": names(wiped)}, _route(conditions, wiped), wiped, since, severity=severity)
    silent = [broker for broker in holders if broker.routed.has(WRITE) is None]
    if silent or not holders:
        reason = silent[0].routed.unknown if silent else None
        return unknown(reason or nobody_holds(conditions), _route(conditions, silent))
    oldest_at = min((broker.routed.at for broker in holders if broker.routed.at), default=None)
    detail = gettext("Name servers route to %(brokers)s what it allows itself.")
    return holds(detail % {"brokers": names(holders)}, _route(conditions, ()), oldest_at)


def _open(brokers: Sequence[BrokerConditions]) -> str:
    address = brokers[0].address if len(brokers) == 1 else "ADDRESS"
    command = f"mqadmin updateBrokerConfig -b {address} -k brokerPermission -v 6"
    return gettext("Open it when what it was closed for is done: “%(command)s”; or start its master.") % {
        "command": command
    }


def _route(conditions: RetryConditions, brokers: Sequence[BrokerConditions]) -> str:
    name = brokers[0].name if len(brokers) == 1 else "BROKER"
    return gettext("“%(command)s”, on every name server.") % {
        "command": f"mqadmin addWritePerm -n '{conditions.namesrv}' -b {name}"
    }


# The group's retry and dead-letter topics on its brokers: whether they may be written and read.
@check(
    ConditionName.RETRY_WRITABLE,
    FindingSeverity.WARNING,
    Of.SENDING_BACK,
    suspect=lambda configured: not configured.retry_permissions.get(retry_topic(configured.group), WRITE) & WRITE,
    of_many=_("Retry topics of %(n_groups)s may not be written on %(brokers)s (%(groups)s)."),
    cure_of_many=PERMISSION_OF_EACH,
)
def retry_writable(conditions: RetryConditions) -> Outcome:
    """POP retries are written by the broker itself, which asks no permission (RocketMQ 5.4.0, PopReviveService)."""
    shut = [
        one
        for one, configured in _configured_brokers(conditions)
        if configured.retry_permission is not None and not configured.retry_permission & WRITE
    ]
    words = {"topic": conditions.retry_topic, "brokers": names(shut)}
    cure = gettext("“%(command)s”.") % {"command": topic_permission(conditions, shut, conditions.retry_topic)}
    if shut:
        detail = gettext("%(topic)s may not be written on %(brokers)s: failed messages are not taken back there.")
        return fails(detail % words, cure, shut, oldest(shut))
    return _whole(conditions, gettext("%(topic)s may be written.") % words, cure)


@check(
    ConditionName.RETRY_READABLE,
    FindingSeverity.CRITICAL,
    Of.RETRIES,
    suspect=lambda configured: any(not permission & READ for permission in configured.retry_permissions.values()),
    of_many=_("Retry topics of %(n_groups)s may not be read on %(brokers)s: nothing comes back (%(groups)s)."),
    cure_of_many=PERMISSION_OF_EACH,
)
def retry_readable(conditions: RetryConditions) -> Outcome:
    shut: dict[str, list[BrokerConditions]] = {}
    for broker, configured in _configured_brokers(conditions):
        for topic, permission in _retry_topics(conditions, configured).items():
            if not permission & READ:
                shut.setdefault(topic, []).append(broker)
    topics = listed(sorted(shut)) or conditions.retry_topic
    brokers = [broker for each in shut.values() for broker in each]
    cure = gettext("“%(command)s”.") % {
        "command": topic_permission(conditions, brokers, next(iter(shut), conditions.retry_topic))
    }
    if shut:
        detail = gettext("%(topics)s may not be read on %(brokers)s: what is retried there never comes back.")
        words = {"topics": topics, "brokers": names(brokers)}
        return fails(detail % words, cure, brokers, oldest(brokers))
    return _whole(conditions, gettext("Its retry topics may be read."), cure)


@check(
    ConditionName.RETRY_QUEUES,
    FindingSeverity.CRITICAL,
    Of.SENDING_BACK,
    suspect=lambda configured: (
        configured.retry_read_queues is not None and (configured.retry_queue_nums or 0) > configured.retry_read_queues
    ),
    of_many=_("Retry topics of %(n_groups)s have fewer queues than retryQueueNums on %(brokers)s (%(groups)s)."),
    cure_of_many=_("“mqadmin updateTopic” with -r and -w of retryQueueNums for each of the topics."),
)
def retry_queues(conditions: RetryConditions) -> Outcome:
    """A broker spreads retries over retryQueueNums queues, and makes the topic once, with as many as were set then:
    it does not look at how many the topic has (RocketMQ 5.4.0, TopicConfigManager.createTopicInSendMessageBackMethod).
    """
    few: list[BrokerConditions] = []
    unclear = False
    for broker, configured in _configured_brokers(conditions):
        if configured.retry_permission is None or not configured.retry_queue_nums or configured.retry_queue_nums <= 0:
            continue
        unclear = unclear or configured.read_queues is None
        if configured.read_queues is not None and configured.read_queues < configured.retry_queue_nums:
            few.append(broker)
    fewest = few[0].group if few else None
    wanted, found = (fewest.retry_queue_nums, fewest.read_queues) if fewest else (1, None)
    command = f"mqadmin updateTopic -n '{conditions.namesrv}' -b {few[0].address if few else 'ADDRESS'}"
    cure = gettext("“%(command)s”.") % {"command": f"{command} -t '{conditions.retry_topic}' -r {wanted} -w {wanted}"}
    if few:
        detail = ngettext(
            "%(topic)s has %(found)s read queue on %(broker)s, and retries are spread over %(wanted)s "
            "(retryQueueNums): the other queues are not read.",
            "%(topic)s has %(found)s read queues on %(broker)s, and retries are spread over %(wanted)s "
            "(retryQueueNums): the other queues are not read.",
            found or 0,
        )
        words = {"topic": conditions.retry_topic, "found": found, "wanted": wanted, "broker": few[0].name}
        return fails(detail % words, cure, few, oldest(few))
    if unclear:
        reason = gettext("No scrape has found the queues of %(topic)s yet.") % {"topic": conditions.retry_topic}
        return unknown(reason, cure)
    return _whole(conditions, gettext("It has at least as many read queues as retries are spread over."), cure)


@check(
    ConditionName.DLQ_READABLE,
    FindingSeverity.WARNING,
    Of.RETRIES,
    suspect=lambda configured: configured.dlq_permission is not None and not configured.dlq_permission & READ,
    of_many=_("Dead-letter topics of %(n_groups)s are not readable on %(brokers)s (%(groups)s)."),
    cure_of_many=PERMISSION_OF_EACH,
)
def dead_readable(conditions: RetryConditions) -> Outcome:
    """Brokers up to 4.9.1 make the topic with write alone, and a later one keeps it so. That it may be written is asked
    by nobody (RocketMQ 5.4.0, AbstractSendMessageProcessor, SendMessageProcessor.handleRetryAndDLQ)."""
    shut = [
        broker
        for broker, configured in _configured_brokers(conditions)
        if configured.dlq_permission is not None and not configured.dlq_permission & READ
    ]
    topic = dlq_topic(conditions.group)
    cure = gettext("“%(command)s”.") % {"command": topic_permission(conditions, shut, topic)}
    if shut:
        detail = gettext("%(topic)s is not readable on %(brokers)s: its messages cannot be inspected or resent.")
        return fails(detail % {"topic": topic, "brokers": names(shut)}, cure, shut, oldest(shut))
    there = any(configured.dlq_permission is not None for _, configured in _configured_brokers(conditions))
    detail = gettext("%(topic)s may be read.") if there else gettext("There is no %(topic)s.")
    return _whole(conditions, detail % {"topic": topic}, cure)


def _configured_brokers(conditions: RetryConditions) -> Iterator[tuple[BrokerConditions, GroupConfigured]]:
    """Of all brokers: a copy of a failed message may be on another than the group's own."""
    return ((broker, broker.group) for broker in conditions.brokers if broker.group is not None)


def _retry_topics(conditions: RetryConditions, configured: GroupConfigured) -> dict[str, int]:
    own = {} if configured.retry_permission is None else {conditions.retry_topic: configured.retry_permission}
    return own | dict(configured.pop_permissions)


def _whole(conditions: RetryConditions, detail: str, cure: str) -> Outcome:
    """It holds, unless a broker was not read."""
    silent = [broker for broker in conditions.brokers if broker.group is None]
    if silent or not conditions.brokers:
        none = gettext("No broker of %(cluster)s has been read yet.") % {"cluster": conditions.cluster}
        return unknown(unread_reason(silent) or none, cure)
    return holds(detail, cure, oldest(conditions.brokers))


def refusals(groups: Sequence[ConsumerGroup], now: datetime) -> dict[int, str]:
    """By the group's id: why brokers refuse every failed message of it. Needs the groups' clusters loaded."""
    if not groups:
        return {}
    found = ((group.pk, accepted(conditions)) for group, conditions in zip(groups, facts_of(groups, now), strict=True))
    return {pk: condition.detail.removesuffix(".") for pk, condition in found if condition.is_failing}
