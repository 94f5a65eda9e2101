"""Stored copies and stored messages for tests, each with the least that it needs."""

import struct
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from consumers.messages.joined import QueuePlace, StoredCopy

START = datetime(2026, 3, 14, 2, 0, tzinfo=UTC)
KINDS = {"original": "Orders", "retry": "%RETRY%billing", "delayed": "SCHEDULE_TOPIC_XXXX", "dead": "%DLQ%billing"}


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def a_copy(kind: str, seconds: float, times: int = 0, **fields: Any) -> StoredCopy:
    """Of message U1, stored so many seconds after START on queue 0 of broker-a."""
    values: dict[str, Any] = {
        "place": QueuePlace(KINDS[kind], "broker-a", 0),
        "offset": int(seconds),
        "stored_id": f"{kind}-{seconds}",
        "message_id": "U1",
        "keys": "order-7",
        "tags": None,
        "origin_topic": None if kind == "original" else "Orders",
        "origin_message_id": None,
        "real_topic": "%RETRY%billing" if kind == "delayed" else None,
        "reconsume_times": times,
        "born_at": at(0),
        "stored_at": at(seconds),
        "due_at": None,
        "digest": "d1",
        "resent": False,
    }
    return StoredCopy(**(values | fields))


def stored_message(
    topic: str,
    offset: int,
    physical_offset: int,
    stored_at: datetime,
    *,
    queue_id: int = 0,
    reconsume_times: int = 0,
    properties: Mapping[str, str],
    body: bytes = b'{"order": 7}',
    port: int = 10911,
) -> bytes:
    """As a broker at 127.0.0.1:port stores it (5.4.0, MessageDecoder)."""
    raw = "".join(f"{name}\x01{value}\x02" for name, value in properties.items()).encode()
    name, stored_ms = topic.encode(), int(stored_at.timestamp() * 1000)
    content = b"".join(
        [
            struct.pack(">IIiiqqiq", 0xDAA320A7, 0, queue_id, 0, offset, physical_offset, 0, stored_ms - 5),
            bytes([127, 0, 0, 1, 0, 0, 0, 1]),
            struct.pack(">q", stored_ms),
            bytes([127, 0, 0, 1]) + struct.pack(">i", port),
            struct.pack(">iqi", reconsume_times, 0, len(body)),
            body,
            bytes([len(name)]) + name,
            struct.pack(">h", len(raw)) + raw,
        ]
    )
    return struct.pack(">i", len(content) + 4) + content
