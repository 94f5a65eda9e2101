"""The families of rocketmq-exporter that are about members: what each says of its last minute."""

from collections.abc import Iterable, Iterator, Mapping

from consumers.selectors.exporter.cluster import ExporterCluster

from .exposition import Family, label_text

LABELS = ("clientAddr", "clientId", "group", "topic")
# Our names of RocketMQ's ConsumeStatus; its pull times and rates are not kept.
FAMILIES = {
    "consume_fail_msg_count": ("consume_failed_messages", "Messages that failed in the member's last hour."),
    "consume_fail_msg_tps": ("consume_failed_tps", "Messages that fail per second."),
    "consume_ok_msg_tps": ("consume_ok_tps", "Messages that succeed per second."),
    "consume_rt": ("consume_rt", "Milliseconds that a message takes."),
}

Said = tuple[str, Mapping[str, float | None]]


def client_families(cluster: ExporterCluster) -> Iterator[Family]:
    said = list(_said(cluster))
    for name, (field, words) in FAMILIES.items():
        yield Family(f"rocketmq_client_{name}", words, LABELS, _numbers(said, field))


def _numbers(said: Iterable[Said], field: str) -> Iterator[tuple[str, float]]:
    for text, status in said:
        number = status.get(field)
        if number is not None:
            yield text, number


def _said(cluster: ExporterCluster) -> Iterator[Said]:
    """The labels of each member and topic, with what the member says of it."""
    for group in cluster.groups.values():
        if group.members is None:
            continue
        for client in cluster.clients.get(group.id, ()):
            for topic, status in (client.said or {}).items():
                yield label_text(LABELS, (client.address, client.client_id, group.name, topic)), status
