"""What brokers as such allow, whatever the group: their own permission, and what name servers route."""

from collections.abc import Sequence

from django.utils.translation import gettext

from consumers.selectors.retries.checks.condition_rows import Condition, ConditionName, Severity
from consumers.selectors.retries.checks.facts import WRITE, BrokerFacts, GroupFacts

from .accepted import way_round
from .outcome import fails, holds, names, nobody_holds, unknown
from .taking import why_not_taken_back


def brokers_take_back(facts: GroupFacts) -> Condition:
    """A broker that does not is no harm where another takes its failed messages: `accepted` says so."""
    name, holders = ConditionName.TAKES_BACK, facts.holders
    closed = [broker for broker in holders if False in (broker.has_master, broker.permission.has(WRITE))]
    around = way_round(facts)
    severity = Severity.NOTE if around else Severity.WARNING
    if closed:
        why = "; ".join(why_not_taken_back(broker) for broker in closed[:3])
        words = {"why": why[:1].upper() + why[1:], "others": names(around)}
        landing = gettext("%(why)s. What fails of its messages is retried through %(others)s.")
        nowhere = gettext("%(why)s. What fails of its messages is not taken elsewhere either, as far as is known.")
        since = min((broker.permission.at for broker in closed if broker.permission.at), default=None)
        return fails(name, severity, (landing if around else nowhere) % words, _open(closed), closed, since)
    silent = [broker for broker in holders if broker.has_master is None or broker.permission.has(WRITE) is None]
    if silent or not holders:
        reason = silent[0].permission.unknown or silent[0].unread if silent else nobody_holds(facts)
        return unknown(name, severity, reason or nobody_holds(facts), _open(silent))
    told = min((broker.permission.at for broker in holders if broker.permission.at), default=None)
    return holds(name, severity, gettext("%(brokers)s: open.") % {"brokers": names(holders)}, _open(()), told)


def routed(facts: GroupFacts) -> Condition:
    """Name servers can be told to route no writes to a broker; the broker does not know of it, and takes back all the
    same what is sent back to it. Only writing a copy needs the route."""
    name, holders = ConditionName.ROUTED, facts.holders
    wiped = [
        broker for broker in holders if broker.routed.has(WRITE) is False and broker.permission.has(WRITE) is not False
    ]
    if wiped:
        severity = Severity.WARNING if facts.orderly else Severity.NOTE
        detail = gettext(
            "Name servers tell clients that %(brokers)s takes no messages (wipeWritePerm): what it does not take back "
            "itself, and what orderly members have tried too often, cannot be written there. New messages go elsewhere."
        )
        since = min((broker.routed.at for broker in wiped if broker.routed.at), default=None)
        return fails(name, severity, detail % {"brokers": names(wiped)}, _route(facts, wiped), wiped, since)
    silent = [broker for broker in holders if broker.routed.has(WRITE) is None]
    if silent or not holders:
        reason = silent[0].routed.unknown if silent else None
        return unknown(name, Severity.NOTE, reason or nobody_holds(facts), _route(facts, silent))
    told = min((broker.routed.at for broker in holders if broker.routed.at), default=None)
    detail = gettext("Name servers route to %(brokers)s what it allows itself.")
    return holds(name, Severity.NOTE, detail % {"brokers": names(holders)}, _route(facts, ()), told)


def _open(brokers: Sequence[BrokerFacts]) -> str:
    address = brokers[0].address if len(brokers) == 1 else "ADDRESS"
    command = f"mqadmin updateBrokerConfig -b {address} -k brokerPermission -v 6"
    return gettext("Open it when what it was closed for is done: “%(command)s”; or start its master.") % {
        "command": command
    }


def _route(facts: GroupFacts, brokers: Sequence[BrokerFacts]) -> str:
    name = brokers[0].name if len(brokers) == 1 else "BROKER"
    return gettext("“%(command)s”, on every name server.") % {
        "command": f"mqadmin addWritePerm -n '{facts.namesrv}' -b {name}"
    }
