"""What rocketmq-exporter's families say of groups as a whole, of one cluster."""

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import F

from consumers.models import Broker
from consumers.selectors.brokers import MASTER
from consumers.selectors.groups.listing import filtered
from consumers.selectors.groups.overlay import NO_BROKER, Overlay
from consumers.selectors.groups.rows import GroupFilters

BROADCASTING = "BROADCASTING"


@dataclass(frozen=True, slots=True)
class ExporterGroup:
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


def exporter_groups(overlay: Overlay, cluster: str, is_wanted: Callable[[str], bool]) -> dict[int, ExporterGroup]:
    """User groups but ghosts, by id, in the order of their names. One query."""
    found = filtered(overlay, GroupFilters(cluster=cluster)).annotate(
        of_members=F("shown_members"), of_dead=F("shown_dlq_messages"), of_unread_by=F("unread_by")
    )
    rows = found.order_by("name").values_list(
        "pk", "name", "of_members", "message_model", "outside_store", "judged__judged_at", "of_unread_by", "of_dead"
    )
    since = overlay.limits.judged_since(overlay.now)
    never_read = {broker.id for broker in overlay.brokers.values() if broker.last_read_at is None} | {NO_BROKER}
    return {
        pk: ExporterGroup(
            pk, name, members, model == BROADCASTING, outside is not None, judged_at is not None and judged_at >= since,
            unread_by in never_read, dead,
        )
        for pk, name, members, model, outside, judged_at, unread_by, dead in rows.iterator()
        if is_wanted(name)
    }  # fmt: skip


def cluster_names(cluster_id: int) -> dict[str, str | None]:
    """What RocketMQ calls the cluster of each broker, by the broker's name; null where no name server told yet."""
    rows = Broker.objects.filter(cluster=cluster_id, broker_id=MASTER)
    return dict(rows.order_by("name").values_list("name", "cluster_name"))
