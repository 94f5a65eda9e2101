"""What an export says of a letter: the fields of REST, and with bodies also the body and all properties."""

import base64
from dataclasses import asdict
from typing import Any

from consumers.rocketmq.messages.bodies import DecodedBody, decoded_body
from consumers.rocketmq.messages.dead_messages import DeadMessage
from consumers.rocketmq.messages.message_values import StoredMessage

FACTS = (
    "broker",
    "queue_id",
    "offset",
    "stored_id",
    "message_id",
    "origin_topic",
    "origin_message_id",
    "keys",
    "tags",
    "reconsume_times",
    "born_at",
    "stored_at",
    "size",
    "sent_by_application",
    "was_resent",
)
CONTENT = (
    "body_kind",
    "body_bytes",
    "body_compression",
    "body_text",
    "body_base64",
    "body_truncated",
    "body_error",
    "properties",
)


def columns_of(*, with_bodies: bool) -> tuple[str, ...]:
    return FACTS + CONTENT if with_bodies else FACTS


def facts_row(
    broker: str, letter: DeadMessage, *, sent_by_application: bool | None, was_resent: bool
) -> dict[str, Any]:
    judged = {"sent_by_application": sent_by_application, "was_resent": was_resent}
    return {"broker": broker, **asdict(letter), **judged}


def content_row(message: StoredMessage, limit_bytes: int) -> dict[str, Any]:
    body = decoded_body(message.stored_body, message.sys_flag, limit_bytes)
    return {
        "body_kind": body.kind,
        "body_bytes": body.size,
        "body_compression": body.compression,
        "body_text": body.text,
        "body_base64": _base64(body),
        "body_truncated": body.truncated,
        "body_error": body.error,
        "properties": message.properties,
    }


def _base64(body: DecodedBody) -> str | None:
    return None if body.hex is None else base64.b64encode(bytes.fromhex(body.hex)).decode()
