"""Members as rocketmq-exporter's families name them: those in the newest full answer, and what they said lately."""

from collections.abc import Container, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Case, F, JSONField, When

from consumers.models import Client
from consumers.selectors.limits import Limits
from consumers.selectors.ownership.patience import LEAST_SECONDS

from .parts import CHUNK


class ExporterClient(NamedTuple):
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
    fresh = When(running_info_at__gte=since, running_info_error=None, then=F("consume_status"))
    present = Client.objects.filter(group__cluster=cluster_id, gone_by=None).order_by("client_id")
    rows = present.annotate(said=Case(fresh, output_field=JSONField()))
    found: dict[int, list[ExporterClient]] = {}
    for group, *client in rows.values_list("group_id", "client_id", "address", "said").iterator(chunk_size=CHUNK):
        if group in groups:
            found.setdefault(group, []).append(ExporterClient._make(client))
    return found
