"""Evidence of a rebalance in words, and the text to search RocketMQ's logs for."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _, gettext_noop, ngettext

from consumers.rebalances.rows import LogLine
from consumers.vocabulary.reasons import RebalanceCause
from consumers.words.spans import local, when

# Evidence of a rebalance in words. Each cause names its own facts; a missing fact is unknown.
# Facts that a sentence of their cause already contains.
SAID = {
    "cause", "client_id", "address", "as", "topic", "broker", "queue_id", "before", "after", "at", "last_seen",
    "silent_since", "last_pull", "read_again_at", "reset",
}  # fmt: skip

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")

Facts = Mapping[str, Any]


def evidence_sentence(found: Facts, started_after: datetime | None, started_before: datetime) -> str:
    """`found` is one entry of `Rebalance.evidence`. Times are those of the readings around the change."""
    opening, *more = OPENINGS.get(str(found.get("cause")), _unnamed)(found)
    rest = [
        f"{name.replace('_', ' ')}: {_value_words(value)}"
        for name, value in sorted(found.items())
        if _is_more(name, value)
    ]
    words = {"change": opening, "when": _when(found, started_after, started_before)}
    return " · ".join([_("%(change)s %(when)s") % words, *more, *rest])


def evidence_opening(found: Facts) -> str:
    """What happened and to whom, without times and further facts."""
    return OPENINGS.get(str(found.get("cause")), _unnamed)(found)[0]


def moment(value: Any) -> datetime | None:
    """A time from JSON; None where `value` is none."""
    if not isinstance(value, str) or not MOMENT.match(value):
        return None
    at = parse_datetime(value)
    return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at


def _is_more(name: str, value: Any) -> bool:
    return name not in SAID and value is not None and not isinstance(value, dict | list)


def _when(found: Facts, started_after: datetime | None, started_before: datetime) -> str:
    """The readings around the change, as far as they are stored; else those between which the rebalance started."""
    at = moment(found.get("at")) or moment(found.get("read_again_at")) or started_before
    after = moment(found.get("last_seen")) or (started_after if at == started_before else None)
    if after is None:
        return _("by %s") % clock(at)
    return _("between %(after)s and %(before)s") % {"after": f"{local(after):%H:%M:%S}", "before": clock(at)}


def clock(at: datetime) -> str:
    """`02:50:00 UTC`"""
    return f"{local(at):%H:%M:%S %Z}"


def _value_words(value: Any) -> str:
    at = moment(value)
    if at is not None:
        return when(at)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _who(found: Facts) -> str:
    return str(found.get("client_id") or _("a member"))


def _ends(found: Facts) -> list[str]:
    """`before → after`, as far as they are known."""
    before, after = found.get("before"), found.get("after")
    if before is None and after is None:
        return []
    ends = [_("unknown") if value is None else _value_words(value) for value in (before, after)]
    return [" → ".join(ends)]


def _since(found: Facts, name: str, known: str, otherwise: str) -> str:
    """`known` with the time of the fact `name`; `otherwise` where that fact is missing."""
    at = moment(found.get(name))
    return _(otherwise) if at is None else _(known) % clock(at)


def _joined(found: Facts) -> list[str]:
    more = [str(found["as"])] if found.get("as") else []
    if not found.get("address"):
        return [_("%s joined") % _who(found), *more]
    return [_("%(who)s joined from %(address)s") % {"who": _who(found), "address": found["address"]}, *more]


def _left(found: Facts) -> list[str]:
    return [_("%s left") % _who(found), _("its final commit was seen")]


def _gone(found: Facts) -> list[str]:
    return [_("%s left or crashed") % _who(found)]


def _silent(found: Facts) -> list[str]:
    return [_("%s was dropped by its broker") % _who(found), _since(found, "silent_since", *NOT_ANSWERED)]


def _reconnected(found: Facts) -> list[str]:
    return [_("%s reconnected") % _who(found), *_ends(found), _("without a restart")]


def _restarted(found: Facts) -> list[str]:
    return [_("%s restarted under the same id") % _who(found), *_ends(found)]


def _queue_count(found: Facts) -> list[str]:
    topic, before, after = found.get("topic") or _("a topic"), found.get("before"), found.get("after")
    if not isinstance(before, int) or not isinstance(after, int):
        return [_("the number of queues of %s changed") % topic, *_ends(found)]
    words = {"topic": topic, "before": before, "after": after}
    template = ngettext(
        "%(topic)s went from %(before)s to %(after)s queue",
        "%(topic)s went from %(before)s to %(after)s queues",
        after,
    )
    return [template % words]


def _subscription(found: Facts) -> list[str]:
    words = {"who": _who(found), "topic": found.get("topic")}
    changed = (
        _("%(who)s changed its subscription to %(topic)s") if words["topic"] else _("%(who)s changed its subscription")
    )
    return [changed % words, *_ends(found)]


def _strategy(found: Facts) -> list[str]:
    return [_("%s assigns queues by another strategy") % _who(found), *_ends(found)]


def _broker(found: Facts) -> list[str]:
    name = found.get("broker") or _("a broker")
    return [(_("%s could be read again") if found.get("read_again_at") else _("%s could not be read")) % name]


def _pull_stuck(found: Facts) -> list[str]:
    place = "/".join(str(found[name]) for name in ("topic", "broker", "queue_id") if found.get(name) is not None)
    taken = _("%(who)s took %(queue)s again") % {"who": _who(found), "queue": place or _("its own queue")}
    return [taken, _since(found, "last_pull", *NOT_PULLED)]


def _unknown(found: Facts) -> list[str]:
    if reset := found.get("reset"):
        follow = _("members drop queues whose offset was moved, and take them again")
        return [_("queues reassigned"), _("during the reset by %s") % reset, follow]
    return [_("queues reassigned"), _("no evidence of the cause")]


def _unnamed(found: Facts) -> list[str]:
    return [str(found.get("cause") or RebalanceCause.UNKNOWN)]


# With the time and without.
NOT_ANSWERED = (gettext_noop("it had not answered since %s"), gettext_noop("it had stopped answering"))

NOT_PULLED = (gettext_noop("it had not pulled since %s"), gettext_noop("it had not pulled for 120 s"))

OPENINGS: dict[str, Callable[[Facts], list[str]]] = {
    RebalanceCause.JOINED: _joined,
    RebalanceCause.LEFT: _left,
    RebalanceCause.GONE: _gone,
    RebalanceCause.SILENT: _silent,
    RebalanceCause.RECONNECTED: _reconnected,
    RebalanceCause.RESTARTED: _restarted,
    RebalanceCause.QUEUE_COUNT: _queue_count,
    RebalanceCause.SUBSCRIPTION: _subscription,
    RebalanceCause.STRATEGY: _strategy,
    RebalanceCause.BROKER: _broker,
    RebalanceCause.PULL_STUCK: _pull_stuck,
    RebalanceCause.UNKNOWN: _unknown,
}


# Texts to search RocketMQ's own logs for, from RocketMQ 5.4.0.
# Brokers: ConsumerGroupInfo and ConsumerManager, into broker.log. Members: RebalanceImpl, into rocketmq_client.log of
# the member's own host.
OF_BROKERS = "broker.log"

OF_MEMBERS = "rocketmq_client.log"

TEXTS = {
    RebalanceCause.JOINED: (OF_BROKERS, "new consumer connected, group: {group} "),
    RebalanceCause.RECONNECTED: (OF_BROKERS, "new consumer connected, group: {group} "),
    RebalanceCause.RESTARTED: (OF_BROKERS, "new consumer connected, group: {group} "),
    RebalanceCause.LEFT: (OF_BROKERS, "unregister a consumer[{group}] from consumerGroupInfo"),
    # A closed socket; a member that left in order has the line of LEFT instead.
    RebalanceCause.GONE: (OF_BROKERS, "from ConsumerGroupInfo groupChannelTable, consumer group: {group}"),
    RebalanceCause.SILENT: (OF_BROKERS, "SCAN: remove expired channel from ConsumerManager consumerTable"),
    RebalanceCause.SUBSCRIPTION: (OF_BROKERS, "subscription changed, "),
    RebalanceCause.QUEUE_COUNT: (OF_MEMBERS, "client rebalanced result changed"),
    RebalanceCause.STRATEGY: (OF_MEMBERS, "client rebalanced result changed"),
    RebalanceCause.UNKNOWN: (OF_MEMBERS, "client rebalanced result changed"),
    RebalanceCause.PULL_STUCK: (OF_MEMBERS, "[BUG]doRebalance, {group}, try remove unnecessary mq"),
}


def log_line(found: Mapping[str, Any], group: str) -> LogLine | None:
    """None for a cause that RocketMQ does not log."""
    cause = found.get("cause")
    if cause not in TEXTS:
        return None
    file, text = TEXTS[RebalanceCause(cause)]
    return LogLine(file, text.format(group=group))
