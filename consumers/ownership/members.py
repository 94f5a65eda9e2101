"""The members of a group as last seen, and how much each consumes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings
from django.utils.translation import gettext, gettext_lazy

from consumers.lake.one_group import read_group
from consumers.lake.store import Lake
from consumers.models import Assignment, Client, ConsumerGroup, GroupBroker, QueueSnapshot
from consumers.polling.flags import outside_reason
from consumers.queries.declared import copied, unknown_of
from consumers.queries.history import WHY_UNKNOWN, as_list
from consumers.queries.limits import broker_ages, limits
from consumers.queries.queues.overlay import NOT_SAMPLED, unread_reason
from consumers.rocketmq.bodies.client_bodies import DEFAULTS
from consumers.vocabulary.states import NO_LAG_REASONS, UnknownReason
from consumers.words.reasons import members_not_since, membership_reason, reason_words, stored_words
from consumers.words.spans import when

from .reports import is_broadcasting, why_ownerless
from .rows import MemberRow, QueuePlace, QueueShare

# How many messages per second are consumed of each queue of a group, over its last whole minutes.

MINUTE = timedelta(minutes=1)
MINUTES = 5
# A pipeline that lags behind by more tells nothing of the present.
LOOKED_BACK = timedelta(minutes=10)
KEPT_BY_MEMBERS = gettext_lazy("broadcasting: each member stores its own offsets")
KEY = ("topic", "broker", "queue_id")
COLUMNS = ("start", *KEY, "kind", "consume_rate", "unknown_reason")
DEAD_LETTERS = "dlq"

QueueKey = tuple[str, str, int]  # topic, broker, queue id


@dataclass(frozen=True)
class Rates:
    """`consumed` by queue: the mean over those minutes of [since, until) in which it is known.

    Null is one whose newest minute is not, for its reason in `reasons`; without a reason nothing was ever committed of
    it, so that nothing was consumed. `why`: why nothing is known of any.
    """

    why: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    consumed: dict[QueueKey, float | None] = field(default_factory=dict)
    reasons: dict[QueueKey, str] = field(default_factory=dict)

    def of(self, queues: Sequence[QueueKey]) -> tuple[float | None, str]:
        """The sum over the queues, and why it is null where it is: one of them is not known."""
        if self.why is not None:
            return None, self.why
        known = 0.0
        for queue in queues:
            rate = self.consumed.get(queue)
            if rate is None and (queue in self.reasons or queue not in self.consumed):
                return None, "{}/{}/{}: {}".format(*queue, self.reasons.get(queue, gettext("no window yet")))
            known += rate or 0.0
        return known, ""

    @cached_property
    def total(self) -> tuple[float | None, str]:
        return self.of(list(self.consumed))


def group_rates(group: ConsumerGroup, now: datetime) -> Rates:
    """Reads the lake's newest windows of the group, and no rows."""
    if is_broadcasting(group):
        return Rates(why=str(KEPT_BY_MEMBERS))
    if (outside := stored_words(outside_reason(group))) is not None:
        return Rates(why=outside)
    until = now.replace(second=0, microsecond=0)
    lake = Lake.at(settings.CONSUMERSCOPE_LAKE)
    found = read_group(lake, "windows_60", group.cluster.name, group.name, until - LOOKED_BACK, until, COLUMNS)
    if not found.num_rows:
        return Rates(why=gettext("no minute since %(since)s is aggregated yet") % {"since": when(until - LOOKED_BACK)})
    newest = pc.max(found["start"])
    since = newest.as_py() - (MINUTES - 1) * MINUTE
    own = pc.not_equal(found["kind"], DEAD_LETTERS)
    chosen = found.filter(pc.and_(own, pc.greater_equal(found["start"], pa.scalar(since, found["start"].type))))
    return _means(chosen, chosen.filter(pc.equal(chosen["start"], newest)), since, newest.as_py() + MINUTE)


def _means(windows: pa.Table, newest: pa.Table, since: datetime, until: datetime) -> Rates:
    rates = {row[:3]: row[3:] for row in _rows(newest, *KEY, "consume_rate", "unknown_reason")}
    means = windows.group_by(list(KEY)).aggregate([("consume_rate", "mean")])
    consumed: dict[QueueKey, float | None] = {}
    reasons: dict[QueueKey, str] = {}
    for topic, broker, queue_id, mean in _rows(means, *KEY, "consume_rate_mean"):
        key = topic, broker, queue_id
        rate, reason = rates.get(
            key, (None, gettext("no poll in the minute before %(until)s") % {"until": when(until)})
        )
        if rate is None and reason not in NO_LAG_REASONS:
            reasons[key] = reason_words(reason) if reason else str(WHY_UNKNOWN["consume_rate"])
        consumed[key] = None if rate is None else mean
    return Rates(None, since, until, consumed, reasons)


def _rows(table: pa.Table, *columns: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(as_list(table[name]) for name in columns), strict=True)


# How much each member of a group consumes: of how many queues, of which most, and what share of the whole.

FIELDS = ("messages_per_second", "share", "busiest_queue", "never_written")
NO_QUEUE = gettext_lazy("the member owns no queue")
NOTHING = gettext_lazy("nothing was consumed from the member's queues")
NOTHING_AT_ALL = gettext_lazy("the group consumed nothing")

MemberFields = tuple[dict[str, Any], dict[str, str]]  # values by field, and reasons of those that are null


@dataclass(frozen=True)
class MemberWork:
    """`held` by client id; `written`: whether anything was ever written into a queue, null for a reason in `unread`."""

    held: Mapping[str, Sequence[QueueKey]]
    rates: Rates
    written: Mapping[QueueKey, bool | None]
    unread: Mapping[QueueKey, str]
    ownerless: str | None

    @classmethod
    def of(cls, group: ConsumerGroup, now: datetime) -> "MemberWork":
        """Six queries, and the newest windows of the lake."""
        held: dict[str, list[QueueKey]] = {}
        present = Assignment.objects.filter(group=group, gone_by=None).order_by()
        for client_id, *queue in present.values_list("client_id", *_key("queue")):
            held.setdefault(client_id, []).append((queue[0], queue[1], queue[2]))
        written, unread = _written(group, now)
        return cls(held, group_rates(group, now), written, unread, why_ownerless(group))

    def of_member(self, client_id: str) -> MemberFields:
        """Of one that answered."""
        queues = self.held.get(client_id, ())
        if not queues and self.ownerless is not None:
            return dict.fromkeys(FIELDS), dict.fromkeys(FIELDS, self.ownerless)
        rate, why = self.rates.of(queues) if queues else (0.0, "")
        share, why_no_share = self._share(rate, why)
        busiest, why_none = self._busiest(queues, why)
        never_written, why_unread = self._never_written(queues)
        return dict(zip(FIELDS, (rate, share, busiest, never_written), strict=True)), dict(
            zip(FIELDS, (why, why_no_share, why_none, why_unread), strict=True)
        )

    def _share(self, rate: float | None, why: str) -> tuple[float | None, str]:
        total, why_no_total = self.rates.total
        if rate is None or total is None:
            return None, why if rate is None else why_no_total
        return (rate / total, "") if total else (None, str(NOTHING_AT_ALL))

    def _busiest(self, queues: Sequence[QueueKey], why: str) -> tuple[QueueShare | None, str]:
        if why or not queues:
            return None, why or str(NO_QUEUE)
        rate, queue = max((self.rates.consumed[queue] or 0.0, queue) for queue in queues)
        return (QueueShare(*queue, rate, self._share(rate, "")[0]), "") if rate else (None, str(NOTHING))

    def _never_written(self, queues: Sequence[QueueKey]) -> tuple[list[QueuePlace] | None, str]:
        for queue in queues:
            if self.written.get(queue) is None:
                return None, self.unread.get(queue, gettext("the broker offset was not read"))
        return [QueuePlace(*queue) for queue in sorted(queues) if not self.written[queue]], ""


def _written(group: ConsumerGroup, now: datetime) -> tuple[dict[QueueKey, bool | None], dict[QueueKey, str]]:
    """A broker offset of 0 proves that no message was ever written, while the broker is read."""
    brokers = {broker.name: broker for broker in broker_ages([group.cluster_id])[group.cluster_id].brokers}
    written: dict[QueueKey, bool | None] = {}
    unread: dict[QueueKey, str] = {}
    rows = QueueSnapshot.objects.filter(group=group).values_list(*_key("queue"), "broker_offset", "unknown_reason")
    reasons = {name: unread_reason(name, broker, now, limits()) for name, broker in brokers.items()}
    for topic, name, queue_id, offset, unknown_reason in rows.order_by():
        key = topic, name, queue_id
        why = reasons.get(name, gettext("%(name)s is not listed in the cluster") % {"name": name})
        written[key] = None if why or offset is None else offset > 0
        if written[key] is None:
            unread[key] = why or reason_words(unknown_reason or UnknownReason.BROKER_OFFSET_UNREAD)
    return written, unread


def _key(queue: str) -> tuple[str, str, str]:
    return f"{queue}__topic__name", f"{queue}__broker", f"{queue}__queue_id"


UNNOTED = gettext_lazy("the time from which brokers list the member was not recorded")
NO_DOUBLE = gettext_lazy("no broker lists two connections under this client id")
# Where a client says of itself what brokers know only of the last one that registered (RocketMQ 5.4.0,
# ConsumerGroupInfo): MQClientInstance.consumerRunningInfo and MixAll.object2Properties.
CONSUME_TYPE, MESSAGE_MODEL = "PROP_CONSUME_TYPE", "messageModel"


def member_list(group: ConsumerGroup, *, now: datetime) -> list[MemberRow]:
    """The clients of the newest full membership answer, by client id. The number of queries is fixed."""
    present = list(Client.objects.filter(group=group, gone_by=None).order_by("client_id"))
    if not present:
        return []
    work = MemberWork.of(group, now)
    return [_member_row(client, group, work) for client in present]


def members_unknown(group: ConsumerGroup, *, now: datetime) -> str | None:
    """Why the members need not be those that are listed; null while every broker has said so lately."""
    known = limits()
    brokers = broker_ages([group.cluster_id])[group.cluster_id].brokers
    unread = next((reason for broker in brokers if (reason := broker.unread_reason(now, known))), None)
    if group.membership_at is None:
        return stored_words(group.membership_error) or unread or membership_reason(None)
    if unread is None and group.membership_at < now - timedelta(seconds=known.kinds.evidence_seconds):
        unread = members_not_since(group.membership_at)
    return stored_words(group.membership_error) or unread


def _member_row(client: Client, group: ConsumerGroup, work: MemberWork) -> MemberRow:
    answered = client.running_info_at is not None and client.running_info_error is None
    silent = stored_words(client.running_info_error) or str(NOT_SAMPLED)
    settings = client.settings or {}
    values: dict[str, Any] = {
        "version": client.version,
        "online_since": client.started_at,
        "listed_since": client.listed_since,
        "duplicated_since": client.duplicated_since,
        "subscription": client.subscriptions,
        "sub_version": client.sub_version,
        "strategy": client.strategy,
        "orderly": client.orderly,
        "consume_type": settings.get(CONSUME_TYPE) or group.consume_type,
        "message_model": settings.get(MESSAGE_MODEL) or group.message_model,
        # A member that answered and holds nothing holds zero queues: that was read.
        "queues": len(work.held.get(client.client_id, ())) if answered else None,
    }
    consumed, unconsumed = work.of_member(client.client_id) if answered else (dict.fromkeys(FIELDS), {})
    values |= consumed
    reasons = dict.fromkeys(values, gettext("not reported by the client") if answered else silent) | unconsumed
    reasons |= {
        "version": gettext("not reported by the broker"),
        "listed_since": str(UNNOTED),
        "duplicated_since": str(NO_DOUBLE),
    }
    return copied(MemberRow, client, seen_at=client.last_seen, unknown=unknown_of(values, reasons), **values)


# What the members of a group are set to, where they differ from each other and from RocketMQ's defaults; and how each
# broker configures the group.
# Each member has its own, by when it was started.
OF_ONE_MEMBER = ("consumeTimestamp", "PROP_CLIENT_VERSION")


@dataclass(frozen=True)
class SettingValue:
    """`value` is null of members that do not report it."""

    value: str | None
    client_ids: tuple[str, ...]
    is_default: bool | None  # null: the default is not known


@dataclass(frozen=True)
class MemberSetting:
    """Values by how many members have them, most first."""

    name: str
    values: tuple[SettingValue, ...]
    default: str | None

    @property
    def differs(self) -> bool:
        return len(self.values) > 1

    @property
    def is_default(self) -> bool:
        return not self.differs and self.values[0].is_default is True


@dataclass(frozen=True)
class MemberSettings:
    """`silent`: members that have not reported their settings, with the reason."""

    rows: tuple[MemberSetting, ...]
    reported: int
    silent: tuple[tuple[str, str | None], ...]


def member_settings(group: ConsumerGroup) -> MemberSettings:
    """Of the members that brokers list now: first what differs, then what is no default. One query."""
    members = Client.objects.filter(group=group, gone_by=None).order_by("client_id")
    by_client: dict[str, dict[str, str]] = {}
    silent: list[tuple[str, str | None]] = []
    for client_id, set_to, error in members.values_list("client_id", "settings", "running_info_error"):
        if set_to is None:
            silent.append((client_id, error))
        else:
            by_client[client_id] = set_to
    names = sorted({name for set_to in by_client.values() for name in set_to} - set(OF_ONE_MEMBER))
    rows = sorted(
        (_setting(name, by_client) for name in names), key=lambda row: (not row.differs, row.is_default, row.name)
    )
    return MemberSettings(tuple(rows), len(by_client), tuple(silent))


def _setting(name: str, by_client: dict[str, dict[str, str]]) -> MemberSetting:
    default = DEFAULTS.get(name)
    by_value: dict[str | None, list[str]] = {}
    for client_id, set_to in by_client.items():
        by_value.setdefault(set_to.get(name), []).append(client_id)
    values = [
        SettingValue(value, tuple(ids), None if default is None or value is None else value == default)
        for value, ids in sorted(by_value.items(), key=lambda one: (-len(one[1]), str(one[0])))
    ]
    return MemberSetting(name, tuple(values), default)


def broker_configs(group: ConsumerGroup) -> Sequence[GroupBroker]:
    """As each broker has it, by the broker's name. One query."""
    return list(GroupBroker.objects.filter(group=group).order_by("broker"))
