"""Under which addresses each broker lists a member, from one answer about its group to the next."""

from collections.abc import Collection, Mapping

from consumers.polling.reading import GroupMembers, Member

Connections = dict[str, list[str]]  # addresses by broker; none where a slave that stands in for it lists the member


def connections_after(
    stored: Mapping[str, list[str]], member: Member, answer: GroupMembers, stand_ins: Collection[str]
) -> Connections:
    """`stand_ins`: brokers whose slave answered in the master's place. A client has another connection to each process
    (RocketMQ 5.4.0, MQClientInstance.sendHeartbeatToAllBroker), so a slave proves that a member is listed, and neither
    that it is not nor under which address its master lists it. A broker that did not answer proves nothing."""
    after: Connections = {}
    for broker in sorted(stored.keys() | member.connections.keys()):
        told = member.connections.get(broker)
        if broker in stand_ins:
            after[broker] = stored.get(broker, [])
        elif told is not None:
            after[broker] = list(told)
        elif broker not in answer.answered_by and not answer.complete:
            after[broker] = stored[broker]
    return after


def is_reconnected(before: Mapping[str, list[str]], after: Connections) -> bool:
    """Whether one broker lists it under other addresses only. One more is a second process, one less the end of it."""
    return any(before.get(broker) and now and not {*before[broker]} & {*now} for broker, now in after.items())


def is_duplicated(connections: Connections) -> bool:
    """Whether one broker lists two connections: two processes share the id."""
    return any(len(addresses) > 1 for addresses in connections.values())
