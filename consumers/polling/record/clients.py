"""Rows of clients and what each client last reported. A silent client keeps its last report."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from consumers.models import Client, ConsumerGroup
from consumers.polling.brokers.joined import kind_in_group
from consumers.polling.reading import ClientReading

from .keyed_rows import WRITE_BATCH, stamp

# ClientRows: the present rows of some groups' clients while one reading is recorded. All rows are written at the end.
ClientKey = tuple[int, str]  # group id, client id

# Columns needed to compare with a list of members. The other columns are loaded only for clients that answered or
# changed.
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
    """`present` holds the rows as they will be stored. Rows changed in place are named to `touch`.

    Four facts are retained from the rows as they were: when each client last answered, which clients did not answer
    when last asked, which clients were two processes under one id, and which rows were replaced by another row.
    """

    present: dict[ClientKey, Client]
    answered_at: dict[ClientKey, datetime | None]
    silent: frozenset[ClientKey]
    doubled: frozenset[ClientKey]
    replaced: dict[ClientKey, Client] = field(default_factory=dict)
    _ended: list[int] = field(default_factory=list)
    _touched: set[ClientKey] = field(default_factory=set)

    @classmethod
    def of(cls, groups: Collection[int]) -> "ClientRows":
        """Rows of the groups that were asked, and of no others: a cluster may have a hundred thousand members."""
        listed = Client.objects.filter(group__in=groups, gone_by=None).only(*LISTED)
        rows = {(row.group_id, row.client_id): row for row in listed.iterator()}
        return cls(
            rows,
            {key: row.running_info_at for key, row in rows.items()},
            frozenset(key for key, row in rows.items() if row.running_info_error is not None),
            frozenset(key for key, row in rows.items() if row.duplicated_since is not None),
        )

    def load(self, rows: Iterable[Client]) -> None:
        """Loads the remaining columns of these rows in few statements. Columns set meanwhile keep their new value."""
        lacking = {row.pk: row for row in rows if row.get_deferred_fields()}
        names = sorted({name for row in lacking.values() for name in row.get_deferred_fields()})
        keys = sorted(lacking)
        for start in range(0, len(keys), WRITE_BATCH):
            for values in Client.objects.filter(pk__in=keys[start : start + WRITE_BATCH]).values("pk", *names):
                row = lacking[values["pk"]]
                for name in row.get_deferred_fields():
                    setattr(row, name, values[name])

    def begin(self, row: Client) -> None:
        """Begins an interval. If an interval with the same key exists, it ends."""
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

    def write(self, listed: Collection[ClientKey], client_answers: Collection[ClientKey], now: datetime) -> None:
        """`listed` and `client_answers`: the clients that this reading saw. In most rows only the times of being seen
        change.
        """
        stored = {key for key, row in self.present.items() if row.pk is not None}
        stamp(Client.objects.all(), self._ended, gone_by=now)
        made = [row for key, row in self.present.items() if key not in stored]
        Client.objects.bulk_create(made, batch_size=WRITE_BATCH)
        touched = [self.present[key] for key in self._touched & stored]
        self.load(touched)
        # An UPDATE with a case per row and column takes many times longer.
        Client.objects.bulk_create(
            touched,
            batch_size=WRITE_BATCH,
            update_conflicts=True,
            unique_fields=["pk"],
            update_fields=REWRITTEN,
        )
        same = stored - self._touched
        stamp(Client.objects.all(), self._keys(same.intersection(listed)), last_seen=now)
        stamp(Client.objects.all(), self._keys(same.intersection(client_answers)), running_info_at=now)

    def _keys(self, clients: Iterable[ClientKey]) -> list[int]:
        return sorted(self.present[key].pk for key in clients)


# Continuity: whether a client that reports the same as long ago did the same all the time.
PASSIVE = "CONSUME_PASSIVELY"


@dataclass(frozen=True)
class Continuity:
    """Until when nothing is known to have happened to clients that did not answer, from their groups' stored rows.

    `longest`: after a longer silence, a client must prove that nothing happened.
    """

    groups: Mapping[int, ConsumerGroup]
    longest: timedelta

    def holds(self, before: Client, reading: ClientReading, now: datetime) -> bool:
        """Whether the client held its queues without interruption. A push consumer stamps its subscription whenever it
        gets or loses a queue (RocketMQ 5.4.0, RebalancePushImpl.messageQueueChanged), so an unchanged stamp is proof
        for any duration.
        """
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


# What clients reported, in the rows of the listed clients. A silent client keeps its last report.
#
# This part decides whether a client holds the same queues as before or holds them anew. A restarted process holds
# nothing of what the process before it held. A client that was not asked for long may have lost a queue and got it
# back.
@dataclass
class ClientAnswers:
    """`interrupted`: clients whose queues and subscriptions start a new interval, even if they look the same.

    `changed`: groups in which a client restarted, or reported another strategy or subscription than before. `reset`:
    groups in which a client reported other settings.
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
) -> ClientAnswers:
    client_answers = ClientAnswers()
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
        client_answers.answered.add(key)
        predecessor = before.get(key, row)
        if _is_restarted(rows, key, predecessor, reading):
            client_answers.interrupted.add(key)
            client_answers.changed.add(key[0])
            if predecessor is row:
                rows.begin(row := _same_connection(row, now))
        elif not continuity.holds(predecessor, reading, now):
            client_answers.interrupted.add(key)
        if row.running_info_at is not None and _says_otherwise(row, reading, key in rows.doubled):
            client_answers.changed.add(key[0])
        if row.settings != reading.settings:
            client_answers.reset.add(key[0])
        _keep(rows, key, reading, now)
    return client_answers


def _predecessors(rows: ClientRows, keys: Iterable[ClientKey], now: datetime) -> dict[ClientKey, Client]:
    """For each client that answers for the first time under a connection: the row that ended where the client's row
    begins.
    """
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
    """Whether the process restarted. Two processes under one id answer in turn: an answer of the other process is no
    restart.
    """
    if rows.present[key].duplicated_since is not None or key in rows.doubled:
        return False
    known = before.started_at is not None and reading.started_at is not None
    return known and before.started_at != reading.started_at


def _same_connection(row: Client, now: datetime) -> Client:
    """The row of a consumer that restarted within its process: it keeps the connection of the process."""
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
    """Whether the client reports something other than before. A first report is no change. The stamp of one process
    only grows; two processes under one id have two stamps.
    """
    pairs: list[tuple[Any, Any]] = [
        (row.strategy, reading.strategy),
        (by_topic(reading.group, row.subscriptions), by_topic(reading.group, reading.subscriptions)),
    ]
    if any(before is not None and after is not None and before != after for before, after in pairs):
        return True
    before, after = row.sub_version, reading.sub_version
    return not is_doubled and before is not None and after is not None and after > before


def by_topic(group: str, subscriptions: Iterable[Mapping[str, Any]] | None) -> dict[str, tuple[str, str | None]] | None:
    """Expression and type by topic, without the group's own retry topics. None: the client did not report
    subscriptions.
    """
    if subscriptions is None:
        return None
    return {
        one["topic"]: (one["expression"], one["expression_type"])
        for one in subscriptions
        if kind_in_group(group, one["topic"]) != "retry"
    }


def _keep(rows: ClientRows, key: ClientKey, reading: ClientReading, now: datetime) -> None:
    row = rows.present[key]
    values: dict[str, Any] = {
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
        values |= {"broker_assigned": list(reading.broker_assigned), "broker_assigned_at": now}
    if any(getattr(row, name) != value for name, value in values.items()):
        rows.touch(key)
    row.running_info_at = now
    for name, value in values.items():
        setattr(row, name, value)
