"""Stored copies joined into messages with their attempts: by UNIQ_KEY, else by ORIGIN_MESSAGE_ID. Pure.

A copy with reconsume times n proves that an earlier one was delivered and sent back: for each such proof one delivery.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from consumers.rocketmq.bodies.config_bodies import SCHEDULE_TOPIC
from consumers.rocketmq.messages.dead import ORIGIN_MESSAGE_IDS, ORIGIN_TOPICS, RESEND_PROPERTY
from consumers.rocketmq.messages.stored import StoredMessage
from consumers.rocketmq.names import DLQ_PREFIX, RETRY_PREFIX
from consumers.rocketmq.wire.codes import RemoteProtocolError, time_of
from consumers.vocabulary.repeats import CopyKind

# What a look-up of one message finds on the brokers: its stored copies, as JSON through Redis. No body is kept.
TIMES = ("born_at", "stored_at", "due_at")


@dataclass(frozen=True)
class QueuePlace:
    topic: str
    broker: str
    queue_id: int


@dataclass(frozen=True)
class StoredCopy:
    """One stored message. Null is: the message does not say. `digest` is of its stored body: equal bodies have equal
    ones. `real_topic`: of a copy on a delay level, where it goes at `due_at`. `resent`: this product sent it again.
    """

    place: QueuePlace
    offset: int
    stored_id: str
    message_id: str | None
    keys: str | None
    tags: str | None
    origin_topic: str | None
    origin_message_id: str | None
    real_topic: str | None
    reconsume_times: int
    born_at: datetime
    stored_at: datetime
    due_at: datetime | None
    digest: str
    resent: bool

    @property
    def is_delayed(self) -> bool:
        return self.place.topic == SCHEDULE_TOPIC

    @property
    def identity(self) -> str:
        """Equal for all copies of one message: its producer's id, else where the first one was stored."""
        return self.message_id or self.origin_message_id or self.stored_id


@dataclass(frozen=True)
class SearchedPlace:
    """A topic's index on one broker. `code` null: it was searched; else why not, with its `params`."""

    topic: str
    broker: str
    found: int
    code: str | None = None
    params: dict[str, Any] | None = None


@dataclass(frozen=True)
class QueueOffset:
    """The group's committed offset when asked; null: it has none there, or `code` with `params` says why not."""

    place: QueuePlace
    offset: int | None
    code: str | None = None
    params: dict[str, Any] | None = None


@dataclass(frozen=True)
class FoundCopies:
    """`others`: messages of the same topics that share a key and have another id. `calls`: how many were made."""

    at: datetime
    wanted: str
    copies: tuple[StoredCopy, ...]
    others: tuple[StoredCopy, ...]
    searched: tuple[SearchedPlace, ...]
    offsets: tuple[QueueOffset, ...]
    calls: int

    def as_json(self) -> str:
        return json.dumps(asdict(self), default=datetime.isoformat)

    @classmethod
    def of_json(cls, text: str) -> "FoundCopies":
        document = json.loads(text)
        return cls(
            at=datetime.fromisoformat(document["at"]),
            wanted=document["wanted"],
            copies=tuple(map(_copy, document["copies"])),
            others=tuple(map(_copy, document["others"])),
            searched=tuple(SearchedPlace(**one) for one in document["searched"]),
            offsets=tuple(QueueOffset(**(one | {"place": QueuePlace(**one["place"])})) for one in document["offsets"]),
            calls=document["calls"],
        )


def _copy(document: dict[str, Any]) -> StoredCopy:
    times = {name: None if document[name] is None else datetime.fromisoformat(document[name]) for name in TIMES}
    return StoredCopy(**(document | times | {"place": QueuePlace(**document["place"])}))


def copy_of(message: StoredMessage, broker: str, due_at: datetime | None = None) -> StoredCopy:
    """Raises RemoteProtocolError where it bears a time that no calendar has: its producer sets one of them."""
    born_at, stored_at = time_of(message.born_ms), time_of(message.stored_ms)
    if born_at is None or stored_at is None:
        raise RemoteProtocolError(f"the message at {message.queue_offset} bears a time that no calendar has")
    properties = message.properties
    return StoredCopy(
        place=QueuePlace(message.topic, broker, message.queue_id),
        offset=message.queue_offset,
        stored_id=message.stored_id,
        message_id=properties.get("UNIQ_KEY"),
        keys=properties.get("KEYS"),
        tags=properties.get("TAGS"),
        origin_topic=next((properties[name] for name in ORIGIN_TOPICS if name in properties), None),
        origin_message_id=next((properties[name] for name in ORIGIN_MESSAGE_IDS if name in properties), None),
        real_topic=properties.get("REAL_TOPIC"),
        reconsume_times=message.reconsume_times,
        born_at=born_at,
        stored_at=stored_at,
        due_at=due_at,
        digest=hashlib.blake2b(message.stored_body, digest_size=16).hexdigest(),
        resent=RESEND_PROPERTY in properties,
    )


@dataclass(frozen=True)
class SendBack:
    """An attempt failed. `at` is the time by the broker's clock if `is_exact`, else the latest that it can have been.

    `missed`: deliveries between, which reconsume times count and of which no copy was found.
    """

    at: datetime
    is_exact: bool
    is_dead: bool
    missed: int


@dataclass(frozen=True)
class Attempt:
    """A copy that is, or was, delivered, and what it was sent back into; of a dead letter and a delayed one nothing."""

    copy: StoredCopy
    kind: CopyKind
    send_backs: tuple[SendBack, ...] = ()


@dataclass(frozen=True)
class JoinedMessage:
    """`attempts` in the order in which they were stored. `orphans`: send-backs whose earlier copies were not found."""

    identity: str
    attempts: tuple[Attempt, ...]
    orphans: tuple[SendBack, ...] = ()

    @property
    def first(self) -> StoredCopy:
        return self.attempts[0].copy

    @property
    def origin_topic(self) -> str | None:
        original = next((one.copy.place.topic for one in self.attempts if one.kind is CopyKind.ORIGINAL), None)
        return original or next((one.copy.origin_topic for one in self.attempts if one.copy.origin_topic), None)


def kind_of(copy: StoredCopy) -> CopyKind:
    if copy.is_delayed:
        return CopyKind.DELAYED
    topic = copy.place.topic
    if topic.startswith(DLQ_PREFIX):
        return CopyKind.DEAD_LETTER
    return CopyKind.RETRY if topic.startswith(RETRY_PREFIX) else CopyKind.ORIGINAL


def joined(copies: Iterable[StoredCopy]) -> list[JoinedMessage]:
    """The one stored first comes first."""
    groups: dict[str, list[StoredCopy]] = {}
    for copy in {copy.stored_id: copy for copy in copies}.values():
        groups.setdefault(copy.identity, []).append(copy)
    messages = [_message(identity, sorted(group, key=_order)) for identity, group in groups.items()]
    return sorted(messages, key=lambda message: _order(message.first))


def _order(copy: StoredCopy) -> tuple[datetime, int, str]:
    return copy.stored_at, copy.reconsume_times, copy.stored_id


@dataclass
class _Delivered:
    copy: StoredCopy
    kind: CopyKind
    send_backs: list[SendBack] = field(default_factory=list)


def _message(identity: str, copies: Sequence[StoredCopy]) -> JoinedMessage:
    kinds = {copy.stored_id: kind_of(copy) for copy in copies}
    of_kind = {kind: [copy for copy in copies if kinds[copy.stored_id] is kind] for kind in CopyKind}
    delivered = [
        _Delivered(copy, kinds[copy.stored_id])
        for copy in copies
        if kinds[copy.stored_id] in (CopyKind.ORIGINAL, CopyKind.RETRY)
    ]
    stored = [*of_kind[CopyKind.ORIGINAL], *of_kind[CopyKind.RETRY]]
    sent, waiting = _send_times(stored, of_kind[CopyKind.DELAYED])
    proofs = sent + [(copy, copy.stored_at, True) for copy in of_kind[CopyKind.DEAD_LETTER]]
    orphans: list[SendBack] = []
    for copy, at, is_exact in sorted(proofs, key=lambda proof: proof[1]):
        before = _sent_back(delivered, copy, at)
        counted = before.copy.reconsume_times + 1 if before else 1
        is_dead = kinds[copy.stored_id] is CopyKind.DEAD_LETTER
        back = SendBack(at, is_exact, is_dead, max(0, copy.reconsume_times - counted))
        (before.send_backs if before else orphans).append(back)
    attempts = [Attempt(one.copy, one.kind, tuple(one.send_backs)) for one in delivered]
    attempts += [Attempt(copy, kinds[copy.stored_id]) for copy in [*waiting, *of_kind[CopyKind.DEAD_LETTER]]]
    return JoinedMessage(identity, tuple(sorted(attempts, key=lambda one: _order(one.copy))), tuple(orphans))


def _send_times(
    stored: Sequence[StoredCopy], delayed: Sequence[StoredCopy]
) -> tuple[list[tuple[StoredCopy, datetime, bool]], list[StoredCopy]]:
    """When each copy was sent back, and whether that is exact; and the delayed copies that still wait.

    A broker stores what is delayed on its level first, and from there in the topic that it is meant for.
    """
    left = list(delayed)
    sent: list[tuple[StoredCopy, datetime, bool]] = []
    for copy in sorted(stored, key=_order):
        was = next((one for one in left if _became(one, copy)), None)
        if was is not None:
            left.remove(was)
        if copy.reconsume_times > 0:
            sent.append((copy, copy.stored_at if was is None else was.stored_at, was is not None))
    sent += [(one, one.stored_at, True) for one in left if one.reconsume_times > 0]
    return sent, left


def _became(delayed: StoredCopy, copy: StoredCopy) -> bool:
    is_same = (delayed.real_topic, delayed.reconsume_times) == (copy.place.topic, copy.reconsume_times)
    return is_same and delayed.stored_at <= copy.stored_at


def _sent_back(delivered: Sequence[_Delivered], copy: StoredCopy, at: datetime) -> _Delivered | None:
    """Which copy's delivery failed: of those stored by then the one that had failed most often, though less often than
    `copy`. What was redelivered earlier may have made a copy that failed less often and was stored later.

    Where a redelivery made several that failed equally often, each was delivered: the first one that was not yet sent
    back. Clocks of two brokers may differ: where none was stored by then, the first that had failed less often.
    """
    less = [one for one in delivered if one.copy.reconsume_times < copy.reconsume_times and one.copy is not copy]
    by_then = [one for one in less if one.copy.stored_at <= at]
    if not by_then:
        return next(iter(less), None)
    most = max(one.copy.reconsume_times for one in by_then)
    alike = [one for one in by_then if one.copy.reconsume_times == most]
    return next((one for one in alike if not one.send_backs), alike[-1])
