"""Rows of queues whose oldest message is not finished. Null has its reason in `unknown`."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.queries.declared import INSIDE, answer, public


class BlockedKind(StrEnum):
    """Why the oldest message that a member holds stays, as far as the client itself tells it.

    ORDERLY_SUSPEND: it fails and is tried again on the spot, the queue waits. LOCAL_RETRY: it fails, and sending it
    back fails too. TIMEOUT_NEAR: its listener runs for so long that it is sent back while it still runs. SLOW_MESSAGE:
    its listener runs. NOT_COMMITTED: the listener takes messages, none fails, and nothing is committed.
    """

    ORDERLY_SUSPEND = "orderly suspend"
    LOCAL_RETRY = "local retry"
    TIMEOUT_NEAR = "consume timeout near"
    SLOW_MESSAGE = "slow message"
    NOT_COMMITTED = "not committed"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class BlockedKindSpec:
    """What is said of a kind. `is_refusable`: such a message stays where brokers refuse failed messages."""

    label: Promise
    sentence: Promise
    is_refusable: bool = False


BLOCKED_KINDS = {
    BlockedKind.ORDERLY_SUSPEND: BlockedKindSpec(
        _("orderly suspend"),
        _("%(member)s suspends %(message)s; failures there: %(failing)s"),
        # Orderly members send back what is past its tries.
        is_refusable=True,
    ),
    BlockedKind.LOCAL_RETRY: BlockedKindSpec(
        _("local retry"),
        _("%(message)s fails at %(member)s, cannot be sent back and is tried again every 5 s"),
        is_refusable=True,
    ),
    BlockedKind.TIMEOUT_NEAR: BlockedKindSpec(
        _("timeout near"),
        _("%(member)s has not finished %(message)s; after %(timeout)s it is sent back while it still runs"),
    ),
    BlockedKind.SLOW_MESSAGE: BlockedKindSpec(
        _("slow message"), _("%(member)s has not finished %(message)s: its listener still runs")
    ),
    BlockedKind.NOT_COMMITTED: BlockedKindSpec(
        _("not committed"), _("%(member)s holds %(message)s: it takes messages without a failure, and commits none")
    ),
    BlockedKind.UNKNOWN: BlockedKindSpec(
        _("cause unknown"), _("%(member)s has not finished %(message)s; cause unknown: %(why)s")
    ),
}


@answer(name="Head")
@dataclass(frozen=True, kw_only=True)
class StoredHead:
    """The message itself, as it is stored."""

    message_id: str
    origin_topic: str | None = field(metadata=public("Null where it is no retried message"))
    keys: str | None
    tags: str | None
    reconsume_times: int = field(metadata=public("Through the broker: tries on the spot are not stored"))
    size: int = field(metadata=public("Bytes of the stored body"))
    born_at: datetime
    stored_at: datetime


@answer(name="Blocked")
@dataclass(frozen=True, kw_only=True)
class BlockedQueue:
    """`offset` is that of the oldest message that `client_id` holds and has not finished, `since` at least that long.

    `behind`: later ones of the queue that wait, at least; `finished_out_of_order`: those that the member has finished
    all the same, at most (what its tags leave out counts too). `last_heard_at` is when the client was last heard.
    `evidence` says in words what the kind was told by, `facts` the same as numbers for JSON. `unknown` gives the reason
    of each null, and for "kind" that of UNKNOWN.
    """

    cluster: str = field(metadata=INSIDE)
    group: str = field(metadata=INSIDE)
    topic: str
    broker: str
    queue_id: int
    offset: int = field(metadata=public("The oldest unfinished message of the member"))
    kind: BlockedKind
    since: datetime
    seconds: float
    client_id: str = field(metadata=public("Its client id", name="member"))
    address: str | None
    message: StoredHead | None
    finished_out_of_order: int | None = field(metadata=public("At most so many"))
    behind: int | None = field(metadata=public("Messages after it in the queue"))
    last_heard_at: datetime = field(metadata=public("When the member was last heard"))
    sentence: str
    evidence: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
