"""What rocketmq-exporter's families say of groups as a whole, of one cluster."""

from collections.abc import Iterable
from typing import NamedTuple

from consumers.models import Broker
from consumers.selectors.clusters.brokers import MASTER
from consumers.selectors.groups.gauges import GroupGauges
from consumers.selectors.groups.overlay import NO_BROKER, Overlay
from consumers.vocabulary.groups import BROADCASTING


class ExporterGroup(NamedTuple):
    """`members` and `dead_letters` are null where not known. `is_hidden`: on a broker that was never read it may have

    queues that nobody knows of. `is_outside`: its offsets on brokers are not its progress.
    """

    id: int
    name: str
    members: int | None
    is_broadcasting: bool
    is_outside: bool
    is_judged: bool
    is_hidden: bool
    dead_letters: int | None


def exporter_groups(overlay: Overlay, groups: Iterable[GroupGauges]) -> dict[int, ExporterGroup]:
    """By id, in the order of `groups`."""
    never_read = {broker.id for broker in overlay.brokers.values() if broker.last_read_at is None} | {NO_BROKER}
    return {
        group.id: ExporterGroup(
            group.id, group.name, group.members, group.message_model == BROADCASTING, group.outside_store is not None,
            bool(group.is_fresh), group.unread_by in never_read, group.dlq_messages,
        )
        for group in groups
    }  # fmt: skip


def cluster_names(cluster_id: int) -> dict[str, str | None]:
    """What RocketMQ calls the cluster of each broker, by the broker's name; null where no name server told yet."""
    rows = Broker.objects.filter(cluster=cluster_id, broker_id=MASTER)
    return dict(rows.order_by("name").values_list("name", "cluster_name"))
