"""What takes bytes from outside, each with bytes that it takes, and all that it may raise."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from consumers.rocketmq import name_server
from consumers.rocketmq.bodies import client_bodies, config_bodies, offsets
from consumers.rocketmq.bodies.config_bodies import level_delays
from consumers.rocketmq.bodies.offsets import (
    OffsetMemory,
    broker_offsets_table,
    consumer_offsets_of_any_form,
    consumer_offsets_table,
)
from consumers.rocketmq.messages.bodies import decoded_body
from consumers.rocketmq.messages.dead import dead_message
from consumers.rocketmq.messages.stored import StoredMessage, stored_messages
from consumers.rocketmq.wire.codes import RemoteProtocolError, RequestCode, refused
from consumers.rocketmq.wire.frames import Command, FrameReader, encode
from consumers.stores.files.problems import FileProblem, read_content
from consumers.stores.files.read_file import broker_rows, broker_rows_at_once, consumer_rows, delay_rows
from consumers.words.offset_files import finding_words

DATA = Path(__file__).parents[1] / "data"
CHUNK = 1000
SHOWN_BYTES = 4096


class Wrong(AssertionError):
    """Nothing was raised, and what came out is not what should."""


@dataclass(frozen=True)
class Target:
    name: str
    seeds: Sequence[bytes]
    take: Callable[[bytes], object]
    raises: tuple[type[Exception], ...] = (RemoteProtocolError,)


def golden(name: str) -> Command:
    return next(commands((DATA / "golden" / f"{name}.frame").read_bytes()))


def commands(received: bytes) -> Iterator[Command]:
    """In chunks, as a socket gives them."""
    reader = FrameReader(max_frame=1 << 20)
    for start in range(0, len(received), CHUNK):
        reader.receive(received[start : start + CHUNK])
        while (command := reader.next_command()) is not None:
            yield command


def frames(received: bytes) -> object:
    """Whatever comes out can be refused with, and its fields be read as of any answer."""
    found = list(commands(received))
    for command in found:
        str(refused(command.code, command.remark, RequestCode.GET_ALL_CONSUMER_OFFSET))
        for read in (_offset, _pulled):
            try:
                read(command)
            except RemoteProtocolError:
                continue
    return found


def _offset(command: Command) -> int:
    return config_bodies.offset_of_header(command.ext_fields, RequestCode.GET_MAX_OFFSET)


def _pulled(command: Command) -> object:
    return offsets.pulled(command) if command.code in offsets.PULL_OUTCOMES else None


def messages(body: bytes) -> object:
    """With all that is read of a message later on."""
    return [_all_of(message) for message in stored_messages(body)]


def _all_of(message: StoredMessage) -> list[object]:
    read: list[object] = [message, message.properties, message.stored_id]
    read.append(decoded_body(message.stored_body, message.sys_flag, SHOWN_BYTES))
    try:
        read.append(dead_message(message))
    except RemoteProtocolError:
        read.append(None)
    return read


def compressed(body: bytes) -> object:
    """The first byte says how."""
    flags = 1 | (body[0] % 8) << 8 if body else 0
    found = decoded_body(body[1:], flags, SHOWN_BYTES)
    if found.shown_bytes > SHOWN_BYTES:
        raise Wrong(f"{found.shown_bytes} bytes came out, where {SHOWN_BYTES} are the most")
    return found


def consumer_offsets(body: bytes) -> object:
    """The fast ways and the general one say the same of what is taken."""
    table = consumer_offsets_table(body)
    memory = OffsetMemory()
    for seed in (_43.body, body):
        remembered = memory(seed)
    general = consumer_offsets_of_any_form(body)
    for other in (remembered, general):
        if sorted_rows(other) != sorted_rows(table):
            raise Wrong("two ways to read the body say different things")
    return table


def sorted_rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in table.to_pylist())


def broker_file(body: bytes) -> object:
    at_once, rows = broker_rows_at_once(body), broker_rows(read_content(body))
    if at_once is not None and (
        rows.findings or sorted(at_once.to_pylist(), key=str) != sorted(rows.table().to_pylist(), key=str)
    ):
        raise Wrong("read at once the file says something else than read entry by entry")
    return rows.table(), [finding_words(finding.members()) for finding in rows.findings]


def delay_file(body: bytes) -> object:
    rows = delay_rows(read_content(body))
    return rows.table(), [finding_words(finding.members()) for finding in rows.findings]


def consumer_file(body: bytes) -> object:
    rows = consumer_rows(read_content(body), "crowd")
    return rows.table(), [finding_words(finding.members()) for finding in rows.findings]


def texts_of(value: object) -> Iterator[str]:
    """Every text that could reach a database."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, pa.Table):
        for column in value.columns:
            if pa.types.is_string(column.type) or pa.types.is_dictionary(column.type):
                yield from (text for text in column.unique().to_pylist() if text is not None)
    elif is_dataclass(value):
        for one in fields(value):
            yield from texts_of(getattr(value, one.name))
    elif isinstance(value, Mapping):
        yield from texts_of(list(value))
        yield from texts_of(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from texts_of(one)


def _frames_of() -> list[bytes]:
    return [path.read_bytes() for path in sorted((DATA / "golden").glob("*.frame"))]


def _bodies(*names: str) -> list[bytes]:
    return [golden(name).body for name in names]


def _files(name: str) -> list[bytes]:
    return [(DATA / "stores" / name).read_bytes()]


_43 = golden("consumer_offsets_43")
ZLIB = bytes.fromhex("00789ccb48cdc9c95728cf2fca490100190b0445")
QUEUE = b'{"brokerName":"broker-a","queueId":%d,"topic":"orders"}:%d'
RESET = b'{"offsetTable":{' + QUEUE % (0, 7) + b"," + QUEUE % (1, 8) + b"}}"
MODES = b'{"messageRequestModeMap":{"orders":{"billing":{"mode":"POP","popShareQueueNum":-1}}}}'
CONFIG = b"brokerName=broker-a\nmessageDelayLevel=1s 5s 10s\nbrokerPermission=6\n"
STATISTIC = b'{"statsDay":{"avgpt":0,"sum":0,"tps":0},"statsMinute":{"avgpt":1,"sum":12,"tps":0.2}}'
TIMER = b'{"dataVersion":{"counter":3,"timestamp":1},"timingCount":{"%RETRY%billing":{"count":4,"timeStamp":9}}}'

TARGETS = (
    Target("frames", _frames_of(), frames),
    Target("frames of requests", [encode(Command(43, 1, ext_fields={"topic": "orders"}, body=b"{}"))], frames),
    Target("consumer offsets, 43", [_43.body], consumer_offsets),
    Target("broker offsets, 208", _bodies("broker_offsets_208"), broker_offsets_table),
    Target("topic stats, 202", _bodies("topic_stats_202", "topic_stats_empty_202"), offsets.topic_queue_stats),
    Target("reset offsets, 222", [RESET], lambda body: offsets.reset_offsets(body, "orders")),
    Target("topics, 21", _bodies("topics_21"), config_bodies.topic_configs),
    Target("groups, 201", _bodies("groups_201"), config_bodies.group_configs),
    Target("broker config, 26", [CONFIG], config_bodies.broker_config),
    Target("delay offsets, 45", _bodies("delay_offsets_45"), config_bodies.delay_offsets),
    Target("timer counts", [TIMER], config_bodies.timer_counts),
    Target("statistic, 315", [STATISTIC], config_bodies.minute_statistic),
    Target("request modes", [MODES], config_bodies.message_request_modes),
    Target("delay levels", [b"1s 5s 10s 30s 1m 2h 1d"], lambda body: level_delays(body.decode(errors="replace"))),
    Target("connections, 203", _bodies("connections_203"), client_bodies.group_connections),
    Target("running info, 307", _bodies("running_info_307"), client_bodies.running_info),
    Target("assignments, 400", _bodies("query_assignment_400"), client_bodies.assigned_queues),
    Target("brokers, 106", _bodies("cluster_106"), name_server._cluster_info),
    Target("route, 105", _bodies("route_105"), lambda body: name_server._route("orders", body)),
    Target("messages, 11", _bodies("pull_found_11", "pull_two_11"), messages),
    Target("consume queue, 321", _bodies("consume_queue_321", "consume_queue_end_321"), offsets.queue_entries),
    Target("compressed bodies", [ZLIB, b"\x01" + ZLIB[1:], b"\x02" + ZLIB[1:]], compressed),
    Target("consumerOffset.json", _files("consumerOffset.json"), broker_file, (FileProblem,)),
    Target("delayOffset.json", _files("delayOffset.json"), delay_file, (FileProblem,)),
    Target("offsets.json", _files("offsets.json"), consumer_file, (FileProblem,)),
)
