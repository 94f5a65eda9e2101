"""The present rows of some groups' clients, while one reading is written into them: all at once, at its end."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from consumers.models import Client
from consumers.polling.record.tables.ids import BATCH
from consumers.polling.record.tables.stamps import stamp

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
