"""`offsets.json` of a broadcasting client: queue → offset, where the queue is an object that is the key itself.

Nothing in it names the client or the group: `…/{client id}/{group}/offsets.json` does (5.4.0, LocalFileOffsetStore).
"""

from pathlib import Path

from .content import Content
from .findings import Finding
from .rows import RowCollector, read_offset, read_queue_id

NAMES = ("brokerName", "topic", "queueId")


def client_and_group(path: Path) -> tuple[str | None, str | None, tuple[Finding, ...]]:
    """From the two folders above the file; a client id has an '@' (ClientConfig.buildMQClientId)."""
    client_id, group = path.parent.parent.name, path.parent.name
    if client_id and group and "@" in client_id:
        return client_id, group, ()
    sentence = (
        f"{path} does not lie in CLIENT_ID/GROUP/, so nobody knows whose offsets these are: "
        "name the folder that clients write to, not a copy."
    )
    return None, None, (Finding("owner_not_told", None, sentence),)


def consumer_rows(content: Content, group: str | None) -> RowCollector:
    rows = RowCollector()
    for entry in content.entries:
        line = f"line {content.line(entry.position)}"
        if not isinstance(entry.key, tuple):
            wrong = Finding(
                "wrong_key", line, f"{line}: the key {entry.key!r} is no queue (brokerName, queueId, topic)."
            )
            rows.add(entry.key, (None, group, None, None, None), [wrong], line)
            continue
        fields = dict(entry.key)
        where = f"{line}, {fields.get('topic')} {fields.get('brokerName')} queue {fields.get('queueId')}"
        findings = [
            Finding("wrong_key", where, f"{where}: the key has no {name}.")
            for name in NAMES
            if fields.get(name) is None
        ]
        broker, topic = (_text(fields.get(name)) for name in NAMES[:2])
        queue_id, about_queue = read_queue_id(fields["queueId"], where) if "queueId" in fields else (None, [])
        offset, about_offset = read_offset(entry.value, where)
        row = (broker, group, topic, queue_id, offset)
        rows.add(entry.key, row, [*findings, *about_queue, *about_offset], where)
    return rows


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
