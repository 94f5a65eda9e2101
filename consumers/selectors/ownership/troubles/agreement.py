"""Strategy, orderliness and settings in which members of one group differ."""

from collections.abc import Iterator

from django.utils.translation import gettext, gettext_lazy

from consumers.selectors.ownership.finding import Kind, Level, OwnershipFinding
from consumers.selectors.ownership.shares.member_facts import MESSAGE_MODEL, MemberFacts
from consumers.selectors.rebalances.log_lines import OF_MEMBERS
from consumers.selectors.rebalances.rows import LogLine

from .differences import Differing, differing, ids_by_value, since
from .effects import Effect, Effects
from .evidence import Evidence
from .words import ids

GIVEN = "given by a broker"
# What each is for: RocketMQ 5.4.0, DefaultMQPushConsumer.
SETTINGS = {
    MESSAGE_MODEL: (Level.PROBLEM, gettext_lazy("some share the queues, others consume every queue")),
    "PROP_CONSUME_TYPE": (Level.PROBLEM, gettext_lazy("some push, others pull: they compute shares for each other")),
    "consumeFromWhere": (Level.WARNING, gettext_lazy("where a queue without a committed offset starts depends on who")),
    "maxReconsumeTimes": (Level.WARNING, gettext_lazy("how often a message is tried depends on who consumes it")),
    "consumeMessageBatchMaxSize": (Level.NOTE, gettext_lazy("how many messages one call is given depends on who")),
}
EQUAL = gettext_lazy("Start all members of the group with the same setting.")


def strategies_differ(evidence: Evidence, effects: Effects) -> Iterator[OwnershipFinding]:
    if not evidence.queues_have_owners:
        return
    found = differing(evidence, lambda member: GIVEN if member.is_given_queues else member.strategy)
    if not found:
        return
    effect = effects.of(Kind.STRATEGIES)
    said = gettext("Members share queues by different strategies: %s. Each computes its own share by its own.")
    yield OwnershipFinding(
        kind=Kind.STRATEGIES,
        level=Level.PROBLEM,
        sentence=said % _said(found) + effect.sentences,
        cure=gettext("Start all members of the group with the same strategy."),
        facts={"strategies": ids_by_value(found)},
        since=since(found),
        log_line=LogLine(OF_MEMBERS, "client rebalanced result changed. allocateMessageQueueStrategyName="),
        unowned=effect.unowned,
        doubly_owned=effect.doubly_owned,
    )


def orderly_and_concurrent(evidence: Evidence) -> Iterator[OwnershipFinding]:
    names = {True: gettext("orderly"), False: gettext("concurrent")}
    found = differing(evidence, lambda member: None if member.orderly is None else names[member.orderly])
    if found:
        said = gettext("Orderly and concurrent members in one group: %s. Concurrent ones take no locks: order is lost.")
        yield OwnershipFinding(
            kind=Kind.ORDERLY_AND_CONCURRENT,
            level=Level.PROBLEM,
            sentence=said % _said(found),
            cure=gettext("Register the same kind of listener in all members, or give each kind a group of its own."),
            facts={"listeners": ids_by_value(found)},
            since=since(found),
        )


def settings_differ(evidence: Evidence, effects: Effects) -> Iterator[OwnershipFinding]:
    for name, (level, meaning) in SETTINGS.items():
        found = differing(evidence, lambda member, name=name: _setting(member, name))  # type: ignore[misc]
        if not found:
            continue
        effect = effects.of(Kind.SETTINGS) if name == MESSAGE_MODEL else Effect((), ())
        words = {"name": name, "said": _said(found), "meaning": str(meaning)}
        said = gettext("Members differ in %(name)s: %(said)s. So %(meaning)s.") % words
        yield OwnershipFinding(
            kind=Kind.SETTINGS,
            level=level,
            sentence=said + effect.sentences,
            cure=str(EQUAL),
            facts={"setting": name, "values": ids_by_value(found)},
            since=since(found),
            unowned=effect.unowned,
            doubly_owned=effect.doubly_owned,
        )


def _setting(member: MemberFacts, name: str) -> str | None:
    return (member.settings or {}).get(name)


def _said(found: Differing) -> str:
    """`AVG (c1, c2); CIRCLE (c3)`, those that most say first."""
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    return "; ".join(f"{value} ({ids(member.client_id for member in members)})" for value, members in ranked)
