"""What the poll knows of a cluster, for its offset files to be held against. What was not read whole is None."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from consumers.models import Client, Cluster
from consumers.polling.memory import BrokerMemory, ClusterMemory
from consumers.polling.reading import BrokerReading, OffsetsReading
from consumers.stores.known_names import KnownNames, PresentMembers
from consumers.stores.went_back import MemoryOffsets

# A list of members that is older than this says nothing about who is gone.
MEMBERS_YOUNGER_THAN = timedelta(minutes=10)


def known_names(cluster: Cluster, offsets: OffsetsReading, memory: ClusterMemory, groups: Iterable[str]) -> KnownNames:
    """`groups`: those whose members matter."""
    brokers = frozenset(broker.name for broker in offsets.brokers) if offsets.error is None else None
    configured = [_configured(broker, memory) for broker in offsets.brokers]
    topics: frozenset[str] | None = None
    names: frozenset[str] | None = None
    whole = [known for known in configured if known is not None]
    if brokers and len(whole) == len(configured):
        topics = frozenset(name for known in whole for name in known.topics)
        names = frozenset(name for known in whole for name in known.groups)
    return KnownNames(topics, names, brokers, _members(cluster, groups, offsets.taken_at))


def _configured(broker: BrokerReading, memory: ClusterMemory) -> BrokerMemory | None:
    known = memory.slaves.get(broker.read_from) if broker.read_from else memory.brokers.get(broker.name)
    return known if known is not None and known.configured_at is not None else None


def _members(cluster: Cluster, groups: Iterable[str], now: datetime) -> dict[str, PresentMembers]:
    rows = list(cluster.groups.filter(name__in=set(groups)))
    present: dict[int, set[str]] = {row.pk: set() for row in rows}
    for group, client_id in Client.objects.filter(group__in=rows, gone_by=None).values_list("group_id", "client_id"):
        present[group].add(client_id)
    members = {}
    for row in rows:
        whole = row.membership_error is None and row.membership_at is not None
        fresh = row.membership_at is not None and now - row.membership_at <= MEMBERS_YOUNGER_THAN
        members[row.name] = PresentMembers(frozenset(present[row.pk]) if whole and fresh else None, row.message_model)
    return members


def memory_offsets(offsets: OffsetsReading) -> dict[str, MemoryOffsets]:
    """Each broker that was read, with what it holds in memory. A slave's may be behind its master's file."""
    return {
        broker.name: MemoryOffsets(offsets.taken_at, _committed(broker.rows))
        for broker in offsets.brokers
        if broker.rows is not None and broker.read_from is None
    }


def _committed(rows: pa.Table) -> pa.Table:
    committed = rows.filter(pc.is_valid(rows["consumer_offset"]))
    columns = [committed[name] for name in ("group", "topic", "queue_id", "consumer_offset")]
    return pa.table(columns, names=["group", "topic", "queue_id", "offset"])
