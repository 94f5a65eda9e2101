"""Looked-up heads as rows: one for each, gone as soon as its member is past it."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from django.db.models import Exists, OuterRef

from consumers.models import Assignment, Cluster, HeadMessage
from consumers.polling.heads.look_up import Head, HeadAnswer

FIELDS = (
    "offset",
    "since",
    "message_id",
    "origin_topic",
    "keys",
    "tags",
    "reconsume_times",
    "size",
    "born_at",
    "stored_at",
    "error",
    "asked_at",
)


def forget_heads(cluster: Cluster) -> None:
    """Those that no present member holds as its oldest message any more."""
    held = Assignment.objects.filter(
        group=OuterRef("group"),
        queue=OuterRef("queue"),
        client_id=OuterRef("client_id"),
        gone_by=None,
        cached_min=OuterRef("offset"),
    )
    gone = HeadMessage.objects.filter(~Exists(held), group__cluster=cluster).values_list("pk", flat=True)
    if keys := list(gone):
        HeadMessage.objects.filter(pk__in=keys).delete()


def record_heads(heads: Sequence[Head], answers: Sequence[HeadAnswer], now: datetime) -> None:
    rows = [
        HeadMessage(
            group_id=head.group_id,
            queue_id=head.queue_id,
            client_id=head.client_id,
            offset=head.offset,
            since=head.since,
            asked_at=now,
            **asdict(answer),
        )
        for head, answer in zip(heads, answers, strict=True)
    ]
    HeadMessage.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["group", "queue", "client_id"], update_fields=FIELDS
    )
