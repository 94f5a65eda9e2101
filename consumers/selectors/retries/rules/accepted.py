"""Whether a failed message finds a broker that takes it, its own or another; else the offset stands."""

from collections.abc import Sequence

from django.utils.translation import gettext

from consumers.selectors.retries.checks.condition_rows import Condition, ConditionName, Severity
from consumers.selectors.retries.checks.facts import WRITE, BrokerFacts, ClientFacts, GroupFacts

from .outcome import fails, holds, names, nobody_holds, oldest, unknown
from .taking import is_way_round, takes_back, why_not_taken_back, why_unknown

NAME = ConditionName.ACCEPTED


def accepted(facts: GroupFacts) -> Condition:
    """Orderly members try on the spot, and write only what is past its tries, by the second way alone (RocketMQ 5.4.0,
    ConsumeMessageOrderlyService.sendMessageBack)."""
    if not facts.holders:
        return unknown(NAME, Severity.CRITICAL, nobody_holds(facts), _cure(()))
    if facts.orderly:
        return _of_orderly(facts)
    refusing = [broker for broker in facts.holders if takes_back(broker) is False]
    unclear = [broker for broker in facts.holders if takes_back(broker) is None]
    around = way_round(facts)
    if refusing or unclear:
        return _beside(facts, refusing, unclear, around)
    detail = gettext("Its failed messages are taken back by %(brokers)s.") % {"brokers": names(facts.holders)}
    return holds(NAME, Severity.CRITICAL, detail, _cure(()), oldest(facts.holders))


def way_round(facts: GroupFacts) -> list[BrokerFacts]:
    """Where members can write what its own broker does not take back."""
    return [broker for broker in facts.brokers if is_way_round(broker)]


def _beside(
    facts: GroupFacts, refusing: list[BrokerFacts], unclear: list[BrokerFacts], around: list[BrokerFacts]
) -> Condition:
    if around:
        landing = gettext("%(why)s: its failed messages go to %(others)s.")
        whatever = gettext("Whatever its own broker does, failed messages can go to %(others)s.")
        words = {"others": names(around), "why": _why(refusing)}
        detail = (landing if refusing else whatever) % words
        return holds(NAME, Severity.CRITICAL, detail, _cure(refusing), oldest(around))
    unread = [broker for broker in facts.brokers if is_way_round(broker) is None]
    if not refusing or unread:
        return unknown(NAME, Severity.CRITICAL, _unclear([*unclear, *unread]), _cure(refusing))
    detail = gettext(
        "%(why)s, and no other broker takes %(topic)s: members keep what fails and try it every 5 s, and its offset "
        "stands."
    )
    words = {"why": _why(refusing), "topic": facts.retry_topic}
    return fails(NAME, Severity.CRITICAL, detail % words, _cure(refusing), refusing, oldest(facts.brokers))


def _of_orderly(facts: GroupFacts) -> Condition:
    around, tries = way_round(facts), [_tries(client) for client in facts.clients]
    if all(one == -1 for one in tries):
        detail = gettext("Its members are orderly and try a failed message on the spot without limit: nothing is sent.")
        return holds(NAME, Severity.CRITICAL, detail, _cure(()))
    if around:
        detail = gettext("What orderly members have tried too often goes to %(others)s.") % {"others": names(around)}
        return holds(NAME, Severity.CRITICAL, detail, _cure(()), oldest(around))
    unread = [broker for broker in facts.brokers if is_way_round(broker) is None]
    if unread:
        return unknown(NAME, Severity.CRITICAL, _unclear(unread), _cure(()))
    detail = gettext(
        "Its members are orderly, and clients are told of no broker that takes %(topic)s: what they have tried too "
        "often finds no place, and its queue stands."
    )
    words = {"topic": facts.retry_topic}
    return fails(NAME, Severity.CRITICAL, detail % words, _cure(facts.brokers), facts.brokers, oldest(facts.brokers))


def _tries(client: ClientFacts) -> int | None:
    said = (client.settings or {}).get("maxReconsumeTimes", "")
    return int(said) if said.removeprefix("-").isdecimal() else None


def _why(brokers: Sequence[BrokerFacts]) -> str:
    sentence = "; ".join(why_not_taken_back(broker) for broker in brokers[:3])
    return sentence[:1].upper() + sentence[1:]


def _unclear(brokers: Sequence[BrokerFacts]) -> str:
    return why_unknown(brokers[0]) if brokers else gettext("It is not known which brokers take its retry topic.")


def _cure(brokers: Sequence[BrokerFacts]) -> str:
    closed = [broker for broker in brokers if broker.permission.has(WRITE) is False]
    address = closed[0].address if len(closed) == 1 else "ADDRESS"
    words = {"command": f"mqadmin updateBrokerConfig -b {address} -k brokerPermission -v 6"}
    return (
        gettext(
            "Open one broker that the group's topics are on: “%(command)s”; or start its master, or give it the group."
        )
        % words
    )
