"""`offsets.json` of a broadcasting client: queue → offset, where the queue is an object that is the key itself.

Nothing in it names the client or the group: `…/{client id}/{group}/offsets.json` does (5.4.0, LocalFileOffsetStore).
"""

from pathlib import Path

from consumers.stores.checks.findings import Finding

from .content import Content
from .file_names import readable_name, shown
from .rows import RowCollector, held, read_offset, read_queue_id


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
            sentence = f"{line}: the key is {held(entry.key)}, no queue (brokerName, queueId, topic)."
            rows.add(entry.key, (None, group, None, None, None), [Finding("wrong_key", line, sentence)], line)
            continue
        fields = dict(entry.key)
        broker, topic = readable_name(fields.get("brokerName")), readable_name(fields.get("topic"))
        where = f"{line}, {topic} {broker} queue {shown(fields.get('queueId'))}"
        named = {"brokerName": broker, "topic": topic, "queueId": fields.get("queueId")}
        missing = [name for name, value in named.items() if value is None]
        findings = [Finding("wrong_key", where, f"{where}: the key has no {name}.") for name in missing]
        queue_id, about_queue = (None, []) if "queueId" in missing else read_queue_id(named["queueId"], where)
        offset, about_offset = read_offset(entry.value, where)
        rows.add(entry.key, (broker, group, topic, queue_id, offset), [*findings, *about_queue, *about_offset], where)
    return rows
