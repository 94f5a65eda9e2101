"""Rows of clients, with what they said of themselves; a silent client keeps what it said last."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from consumers.models import Client, ConsumerGroup
from consumers.polling.brokers.joined import kind_in_group
from consumers.polling.reading import ClientReading
from consumers.polling.record.tables.ids import BATCH
from consumers.polling.record.tables.stamps import stamp

# The present rows of some groups' clients, while one reading is written into them: all at once, at its end.
ClientKey = tuple[int, str]  # group id, client id

# What a list of members is compared with; the rest is read of those alone that spoke or changed.
LISTED = (
    "group_id",
    "client_id",
    "connections",
    "listed_since",
    "duplicated_since",
    "seen_since",
    "running_info_at",
    "running_info_error",
)

REWRITTEN = (
    "address",
    "language",
    "version",
    "connections",
    "listed_since",
    "duplicated_since",
    "last_seen",
    "strategy",
    "orderly",
    "started_at",
    "subscriptions",
    "settings",
    "pop_queues",
    "sub_version",
    "broker_assigned",
    "broker_assigned_at",
    "consume_status",
    "running_info_at",
    "running_info_error",
)


@dataclass
class ClientRows:
    """`present` is what the rows become; those that are changed in place are named to `touch`.

    Of the rows as they were: when each last spoke, who was two processes under one id, and those that another replaced.
    """

    present: dict[ClientKey, Client]
    spoke_at: dict[ClientKey, datetime | None]
    doubled: frozenset[ClientKey]
    replaced: dict[ClientKey, Client] = field(default_factory=dict)
    _ended: list[int] = field(default_factory=list)
    _touched: set[ClientKey] = field(default_factory=set)

    @classmethod
    def of(cls, groups: Collection[int]) -> "ClientRows":
        """Those of the groups that were asked, and of no others: a cluster may have a hundred thousand members."""
        listed = Client.objects.filter(group__in=groups, gone_by=None).only(*LISTED)
        rows = {(row.group_id, row.client_id): row for row in listed.iterator()}
        return cls(
            rows,
            {key: row.running_info_at for key, row in rows.items()},
            frozenset(key for key, row in rows.items() if row.duplicated_since is not None),
        )

    def load(self, rows: Iterable[Client]) -> None:
        """The rest of these rows, in few statements: what was set meanwhile stays."""
        lacking = {row.pk: row for row in rows if row.get_deferred_fields()}
        names = sorted({name for row in lacking.values() for name in row.get_deferred_fields()})
        keys = sorted(lacking)
        for start in range(0, len(keys), BATCH):
            for values in Client.objects.filter(pk__in=keys[start : start + BATCH]).values("pk", *names):
                row = lacking[values["pk"]]
                for name in row.get_deferred_fields():
                    setattr(row, name, values[name])

    def begin(self, row: Client) -> None:
        """An interval; that of the same key, where there is one, ends with it."""
        key = (row.group_id, row.client_id)
        if key in self.present:
            self.replaced[key] = self.present[key]
            self.end(key)
        self.present[key] = row

    def end(self, key: ClientKey) -> None:
        row = self.present.pop(key)
        if row.pk is not None:
            self._ended.append(row.pk)

    def touch(self, key: ClientKey) -> None:
        self._touched.add(key)

    def write(self, listed: Collection[ClientKey], spoken: Collection[ClientKey], now: datetime) -> None:
        """`listed` and `spoken`: those that this reading saw; of most rows nothing but that time changes."""
        stored = {key for key, row in self.present.items() if row.pk is not None}
        stamp(Client.objects.all(), self._ended, gone_by=now)
        made = [row for key, row in self.present.items() if key not in stored]
        Client.objects.bulk_create(made, batch_size=BATCH)
        touched = [self.present[key] for key in self._touched & stored]
        self.load(touched)
        # An UPDATE with a case per row and column takes many times longer.
        Client.objects.bulk_create(
            touched,
            batch_size=BATCH,
            update_conflicts=True,
            unique_fields=["pk"],
            update_fields=REWRITTEN,
        )
        same = stored - self._touched
        stamp(Client.objects.all(), self._keys(same.intersection(listed)), last_seen=now)
        stamp(Client.objects.all(), self._keys(same.intersection(spoken)), running_info_at=now)

    def _keys(self, clients: Iterable[ClientKey]) -> list[int]:
        return sorted(self.present[key].pk for key in clients)


# Whether a client that says the same as long ago has done the same all the time.
PASSIVE = "CONSUME_PASSIVELY"


@dataclass(frozen=True)
class Continuity:
    """Until when nothing is known to have happened to clients that did not speak: by their groups as they were.

    `longest`: after so long without a word, a client has to prove itself that nothing happened.
    """

    groups: Mapping[int, ConsumerGroup]
    longest: timedelta

    def holds(self, before: Client, reading: ClientReading, now: datetime) -> bool:
        """A push consumer stamps its subscription whenever it gets or loses a queue (RocketMQ 5.4.0,
        RebalancePushImpl.messageQueueChanged), so the same stamp is a proof for any time."""
        if before.running_info_at is None:
            return True
        group = self.groups[before.group_id]
        known_until, changed_at, asked_at = before.running_info_at, group.members_changed_at, group.membership_at
        if changed_at is not None and asked_at is not None and changed_at <= known_until:
            known_until = max(known_until, asked_at)
        if now - known_until <= self.longest:
            return True
        same = reading.sub_version is not None and reading.sub_version == before.sub_version
        return same and group.consume_type == PASSIVE


# What clients said of themselves, in the rows of those that are listed. A client that is silent keeps what it said.
#
# Whether what a client holds is the same as before, or held anew, is decided here: a process that started anew holds
# nothing of what the one before it held, and who was not asked for long may have lost a queue and got it back.
@dataclass
class Spoken:
    """`interrupted`: whose queues and subscriptions are not what they were said to be before, though they look alike.

    `changed`: groups in which somebody started anew, or named another strategy or subscription than before; `reset`:
    those in which somebody is set otherwise.
    """

    answered: set[ClientKey] = field(default_factory=set)
    interrupted: set[ClientKey] = field(default_factory=set)
    changed: set[int] = field(default_factory=set)
    reset: set[int] = field(default_factory=set)


def note_words(
    rows: ClientRows,
    groups: Mapping[str, int],
    readings: Iterable[ClientReading],
    continuity: Continuity,
    now: datetime,
) -> Spoken:
    spoken = Spoken()
    keyed = [((groups[reading.group], reading.client_id), reading) for reading in readings if reading.group in groups]
    heard = [(key, reading) for key, reading in keyed if key in rows.present]
    answered = [key for key, reading in heard if reading.error is None]
    before = _predecessors(rows, answered, now)
    rows.load([*(rows.present[key] for key in answered), *before.values()])
    for key, reading in heard:
        row = rows.present[key]
        if reading.error is not None:
            if row.running_info_error != reading.error:
                row.running_info_error = reading.error
                rows.touch(key)
            continue
        spoken.answered.add(key)
        predecessor = before.get(key, row)
        if _is_restarted(rows, key, predecessor, reading):
            spoken.interrupted.add(key)
            spoken.changed.add(key[0])
            if predecessor is row:
                rows.begin(row := _same_connection(row, now))
        elif not continuity.holds(predecessor, reading, now):
            spoken.interrupted.add(key)
        if row.running_info_at is not None and _says_otherwise(row, reading, key in rows.doubled):
            spoken.changed.add(key[0])
        if row.settings != reading.settings:
            spoken.reset.add(key[0])
        _keep(rows, key, reading, now)
    return spoken


def _predecessors(rows: ClientRows, keys: Iterable[ClientKey], now: datetime) -> dict[ClientKey, Client]:
    """Of clients that speak for the first time under a connection: the row that ended where theirs begins."""
    first = {key: rows.present[key].seen_since for key in keys if rows.present[key].running_info_at is None}
    earlier = {key for key, since in first.items() if since < now}
    found = {key: row for key, row in rows.replaced.items() if key in first}
    if not earlier:
        return found
    ended = Client.objects.filter(
        group__in={group for group, _ in earlier}, gone_by__in={first[key] for key in earlier}
    )
    for row in ended.iterator():
        key = (row.group_id, row.client_id)
        if key in earlier and row.gone_by == first[key]:
            found[key] = row
    return found


def _is_restarted(rows: ClientRows, key: ClientKey, before: Client, reading: ClientReading) -> bool:
    """Two processes under one id answer in turn: that another one did is no start."""
    if rows.present[key].duplicated_since is not None or key in rows.doubled:
        return False
    known = before.started_at is not None and reading.started_at is not None
    return known and before.started_at != reading.started_at


def _same_connection(row: Client, now: datetime) -> Client:
    """A consumer can start anew in a process that goes on, over the connection of the whole process."""
    return Client(
        group_id=row.group_id,
        client_id=row.client_id,
        address=row.address,
        language=row.language,
        version=row.version,
        connections=row.connections,
        listed_since=row.listed_since,
        seen_since=now,
        last_seen=now,
    )


def _says_otherwise(row: Client, reading: ClientReading, is_doubled: bool) -> bool:
    """What was not said before is not said otherwise. A process's own stamp only grows; two processes have two."""
    pairs: list[tuple[Any, Any]] = [
        (row.strategy, reading.strategy),
        (by_topic(reading.group, row.subscriptions), by_topic(reading.group, reading.subscriptions)),
    ]
    if any(before is not None and after is not None and before != after for before, after in pairs):
        return True
    before, after = row.sub_version, reading.sub_version
    return not is_doubled and before is not None and after is not None and after > before


def by_topic(group: str, subscriptions: Iterable[Mapping[str, Any]] | None) -> dict[str, tuple[str, str | None]] | None:
    """Expression and its type by topic, without the group's own retry topics. None: it did not say."""
    if subscriptions is None:
        return None
    return {
        one["topic"]: (one["expression"], one["expression_type"])
        for one in subscriptions
        if kind_in_group(group, one["topic"]) != "retry"
    }


def _keep(rows: ClientRows, key: ClientKey, reading: ClientReading, now: datetime) -> None:
    row = rows.present[key]
    said: dict[str, Any] = {
        "strategy": reading.strategy,
        "orderly": reading.orderly,
        "started_at": reading.started_at,
        "subscriptions": None if reading.subscriptions is None else list(reading.subscriptions),
        "settings": reading.settings,
        "pop_queues": None if reading.pop_queues is None else list(reading.pop_queues),
        "sub_version": reading.sub_version,
        "consume_status": reading.consume_status,
        "running_info_error": None,
    }
    if reading.broker_assigned is not None:
        said |= {"broker_assigned": list(reading.broker_assigned), "broker_assigned_at": now}
    if any(getattr(row, name) != value for name, value in said.items()):
        rows.touch(key)
    row.running_info_at = now
    for name, value in said.items():
        setattr(row, name, value)
