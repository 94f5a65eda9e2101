"""Findings as the health task stores them."""

from hashlib import sha256
from typing import Any

from consumers.models import Cluster, ConsumerGroup, GroupHealth, StoredFinding
from tests.world import ago


def a_finding(subject: ConsumerGroup | Cluster, code: str, severity: str = "critical", **fields: Any) -> StoredFinding:
    """Of a group; or of a broker or file of a cluster. It began ten minutes ago."""
    of_group = {"group": subject, "group_name": subject.name} if isinstance(subject, ConsumerGroup) else {}
    cluster = subject.cluster if isinstance(subject, ConsumerGroup) else subject
    values: dict[str, Any] = {
        "identity": sha256(f"{code} {subject.pk} {fields}".encode()).hexdigest(),
        "since": ago(600),
        "last_seen_at": ago(10),
    }
    values |= {"code": code, "severity": severity, "cluster": cluster, **of_group}
    return StoredFinding.objects.create(**(values | fields))


def was_checked(*groups: ConsumerGroup, seconds_ago: float = 10) -> None:
    for group in groups:
        GroupHealth.objects.update_or_create(
            group=group, defaults={"level": "ok", "noted_at": ago(seconds_ago), "checked_at": ago(seconds_ago)}
        )
