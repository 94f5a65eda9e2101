"""The content of an export, and its lines as they are streamed to the user."""

import base64
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from itertools import chain
from typing import Any, Protocol

from django.utils.translation import ngettext

from consumers.dead_letters.export_channel import (
    PATIENCE_SECONDS,
    Channel,
    Chunk,
    ChunkKind,
    WorkerSilent,
    read_chunks,
)
from consumers.dead_letters.filters import DeadLetterFilters, filters_of, words_of
from consumers.jobs.asking import RedisDown
from consumers.rest.answers import LINE_END, cell, line_of
from consumers.rocketmq.messages.bodies import DecodedBody, decoded_body
from consumers.rocketmq.messages.dead import DeadMessage
from consumers.rocketmq.messages.stored import StoredMessage

# The fields of each message: those of REST; exports with bodies add the body and all properties.
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
    broker: str, message: DeadMessage, *, sent_by_application: bool | None, was_resent: bool
) -> dict[str, Any]:
    judged = {"sent_by_application": sent_by_application, "was_resent": was_resent}
    return {"broker": broker, **asdict(message), **judged}


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


# The parameters of an export, as they are sent to the worker.
class ExportFormat(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"


class ExportFailed(Exception):
    """str() is one sentence for whoever asked."""


@dataclass(frozen=True)
class ExportWanted:
    cluster: str
    group: str
    format: ExportFormat
    with_bodies: bool
    filters: DeadLetterFilters

    def __str__(self) -> str:
        return f"{self.cluster}/{self.group}"

    def as_words(self) -> dict[str, Any]:
        own = {"cluster": self.cluster, "group": self.group, "format": self.format, "with_bodies": self.with_bodies}
        return own | {"filters": words_of(self.filters)}

    @classmethod
    def of_words(cls, words: Mapping[str, Any]) -> "ExportWanted":
        typed = {"format": ExportFormat(words["format"]), "filters": filters_of(words["filters"])}
        return cls(**(dict(words) | typed))


# Exported messages as lines of CSV or JSON.
OWN = ("body_base64",)


class Lines(Protocol):
    content_type: str

    def head(self) -> str: ...
    def line(self, row: Mapping[str, Any]) -> str: ...
    def incomplete(self, reason: str, messages: int) -> str: ...


class CsvLines:
    """RFC 4180: lines end with CR LF."""

    content_type = "text/csv; charset=utf-8; header=present"

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns

    def head(self) -> str:
        return line_of(self._columns)

    def line(self, row: Mapping[str, Any]) -> str:
        return line_of(cell(row[name], is_safe=name in OWN) for name in self._columns)

    def incomplete(self, reason: str, messages: int) -> str:
        return f"# incomplete: {' '.join(reason.split())} ({messages} messages before){LINE_END}"


class JsonLines:
    """A JSON object a line."""

    content_type = "application/x-ndjson; charset=utf-8"

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns

    def head(self) -> str:
        return ""

    def line(self, row: Mapping[str, Any]) -> str:
        return json.dumps({name: _plain(row[name]) for name in self._columns}, ensure_ascii=False) + "\n"

    def incomplete(self, reason: str, messages: int) -> str:
        return json.dumps({"error": reason, "messages": messages}, ensure_ascii=False) + "\n"


def lines_of(format: ExportFormat, columns: Sequence[str]) -> Lines:
    return CsvLines(columns) if format is ExportFormat.CSV else JsonLines(columns)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


# The reader's part: streams chunk after chunk to the user, with a last line where the export is incomplete.
def streamed(
    channel: Channel, wanted: ExportWanted, patience_seconds: float = PATIENCE_SECONDS
) -> Generator[bytes, None, None]:
    """Waits for the first chunk. Raises ExportFailed where there is none: nothing has been sent to the user yet."""
    chunks = read_chunks(channel, patience_seconds)
    try:
        first = next(chunks)
    except (WorkerSilent, RedisDown) as error:
        raise ExportFailed(str(error)) from None
    if first.kind is ChunkKind.FAILURE:
        raise ExportFailed(first.reason)
    rest = _rest(first, chunks, wanted)
    # A generator that was never started does not notify the worker when it is closed.
    next(rest)
    return rest


def _rest(first: Chunk, chunks: Generator[Chunk, None, None], wanted: ExportWanted) -> Generator[bytes, None, None]:
    messages = 0
    reason = None
    try:
        yield b""
        for chunk in chain([first], chunks):
            if chunk.kind is ChunkKind.LINES:
                messages += chunk.messages
                yield from _content(chunk)
            else:
                reason = _reason(chunk, messages)
    except (WorkerSilent, RedisDown) as error:
        reason = str(error)
    finally:
        chunks.close()
    if reason is not None:
        lines = lines_of(wanted.format, columns_of(with_bodies=wanted.with_bodies))
        yield lines.incomplete(reason, messages).encode()


def _content(chunk: Chunk) -> Iterator[bytes]:
    if chunk.content:
        yield chunk.content


def _reason(chunk: Chunk, messages: int) -> str | None:
    """Why the export is incomplete; None where it is complete."""
    if chunk.kind is ChunkKind.FAILURE:
        return chunk.reason
    lost = chunk.messages - messages
    template = ngettext(
        "%(lost)s message was lost in transfer: it was not read in time.",
        "%(lost)s messages were lost in transfer: they were not read in time.",
        lost,
    )
    return template % {"lost": lost} if lost else None
