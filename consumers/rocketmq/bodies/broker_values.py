"""What a broker says of its topics, groups and queues. None is: the broker did not say."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class DataVersion:
    """Changes with every change of a broker's table: `counter` by one, by the broker's clock in milliseconds."""

    counter: int
    timestamp: int
    state_version: int | None


@dataclass(frozen=True)
class TopicConfig:
    """`perm` is a sum of 4 (read), 2 (write) and 1 (inherit)."""

    name: str
    read_queues: int
    write_queues: int
    perm: int
    order: bool | None
    attributes: Mapping[str, str] | None


@dataclass(frozen=True)
class TopicConfigs:
    data_version: DataVersion
    topics: list[TopicConfig]


@dataclass(frozen=True)
class RetryPolicy:
    """Heeded for POP and gRPC clients only (5.4.0, DefaultReceiptHandleManager). `kind`: CUSTOMIZED or EXPONENTIAL."""

    kind: str
    delays_ms: tuple[int, ...] | None
    initial_ms: int | None
    max_ms: int | None
    multiplier: int | None


@dataclass(frozen=True)
class GroupConfig:
    name: str
    consume_enable: bool
    broadcast_enable: bool | None
    retry_max_times: int | None
    retry_queue_nums: int | None
    orderly: bool | None
    retry_policy: RetryPolicy | None
    consume_timeout_minutes: int | None
    notify_members: bool | None
    attributes: Mapping[str, str] | None


@dataclass(frozen=True)
class GroupConfigs:
    data_version: DataVersion
    groups: list[GroupConfig]


@dataclass(frozen=True)
class TopicQueueStats:
    """`last_update_at_ms`: store time of the newest message, None if the queue is empty or it has expired."""

    broker: str
    queue_id: int
    min_offset: int
    max_offset: int
    last_update_at_ms: int | None
