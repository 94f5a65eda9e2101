"""`delayOffset.json` of a broker: delay level → offset in that level's queue, of messages that were delivered.

It belongs to no group. The queue of level n is n - 1 of the schedule topic (RocketMQ 5.4.0, ScheduleMessageService).
"""

from consumers.stores.checks.findings import Finding

from .content import Content
from .file_names import shown
from .rows import RowCollector, read_offset, read_queue_id

SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"


def delay_rows(content: Content) -> RowCollector:
    rows = RowCollector()
    for entry in content.entries:
        where = f"line {content.line(entry.position)}, delay level {shown(entry.key)}"
        level, findings = read_queue_id(entry.key, where, "delay level")
        if level == 0:
            findings = [Finding("wrong_queue_id", where, f"{where}: delay levels begin with 1.")]
        queue_id = None if level is None or level < 1 else level - 1
        offset, about_offset = read_offset(entry.value, where)
        key = entry.key if level is None else level
        rows.add(key, (None, None, SCHEDULE_TOPIC, queue_id, offset), [*findings, *about_offset], where)
    return rows
