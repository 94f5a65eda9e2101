"""Members as rocketmq-exporter's families name them: those in the newest full answer, and what they said lately."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from consumers.models import Client
from consumers.selectors.limits import Limits
from consumers.selectors.ownership.patience import LEAST_SECONDS


@dataclass(frozen=True, slots=True)
class ExporterClient:
    """`said`: {topic: {consume_ok_tps, consume_failed_tps, consume_failed_messages, consume_rt}}, null where it

    has not spoken for so long that it says nothing of now.
    """

    client_id: str
    address: str
    said: Mapping[str, Mapping[str, float | int | None]] | None


def exporter_clients(
    cluster_id: int, groups: Container[int], now: datetime, limits: Limits
) -> dict[int, list[ExporterClient]]:
    """The present members of the `groups`, by group id, in the order of their ids. One query."""
    since = now - timedelta(seconds=max(limits.late_seconds, LEAST_SECONDS))
    columns = ("group_id", "client_id", "address", "running_info_at", "running_info_error", "consume_status")
    rows = Client.objects.filter(group__cluster=cluster_id, gone_by=None).order_by("client_id").values_list(*columns)
    found: dict[int, list[ExporterClient]] = {}
    for group, client_id, address, at, error, said in rows.iterator():
        if group in groups:
            is_fresh = at is not None and at >= since and error is None
            found.setdefault(group, []).append(ExporterClient(client_id, address, said if is_fresh else None))
    return found
