"""Looks up the copies of one message at the brokers of a cluster: by index, under a budget of calls and of time.

Brokers are only asked what changes nothing: 12, 14, 33 and 321. No address out of a message id is ever connected to.
"""

import asyncio
import ipaddress
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from consumers.dead_letters.read_queue import Calls
from consumers.messages.joined import (
    FoundCopies,
    QueueOffset,
    QueuePlace,
    SearchedPlace,
    StoredCopy,
    copy_of,
    joined,
    kind_of,
)
from consumers.polling.delay_poller import due_time
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.bodies.config_bodies import SCHEDULE_TOPIC
from consumers.rocketmq.message_calls import MOST_BY_KEY, MessageCalls
from consumers.rocketmq.messages.stored import StoredMessage
from consumers.rocketmq.names import DLQ_PREFIX, RETRY_PREFIX, dlq_topic
from consumers.rocketmq.wire.codes import RocketMQError
from consumers.vocabulary.repeats import AttemptUnknown, CopyKind

# An id of a place: an address of 4 or 16 bytes, a port of 4 and an offset of 8, as hexadecimal digits.
ID_DIGITS = {32: 4, 56: 16}
# Of a message's keys, so many are looked up for other messages that have them.
MOST_KEYS = 3
MOST_ORIGINALS = 8


@dataclass(frozen=True)
class LookupLimits:
    """`since`: nothing stored earlier is asked for; brokers have deleted it long ago."""

    since: datetime
    calls: int = 160
    seconds: float = 8.0
    call_seconds: float = 5.0
    at_once: int = 8


@dataclass(frozen=True)
class SearchedTopics:
    """Of a group. `normal`: each with the brokers that have it; the other topics may be on any broker."""

    group: str
    normal: Mapping[str, Sequence[str]]
    retries: Sequence[str]


@dataclass(frozen=True)
class Brokers:
    """Masters by name. `unknown`: brokers whose master is not known, and may have copies all the same."""

    messages: Mapping[str, MessageCalls]
    admins: Mapping[str, BrokerAdmin]
    unknown: Sequence[str] = ()

    def of_stored_id(self, stored_id: str) -> str | None:
        """Returns the broker that listens at the address in the id, as it reports itself. Returns None for a text that
        is no such id."""
        place = place_of(stored_id)
        if place is None:
            return None
        host, port, _ = place
        return next((name for name, calls in self.messages.items() if _listens(calls.address, host, port)), None)


def place_of(stored_id: str) -> tuple[str, int, int] | None:
    """Host, port and physical offset of an offset message id (5.4.0, MessageDecoder.decodeMessageId)."""
    octets = ID_DIGITS.get(len(stored_id))
    try:
        raw = bytes.fromhex(stored_id)
    except ValueError:
        return None
    if octets is None or len(raw) * 2 != len(stored_id):
        return None
    host = str(ipaddress.ip_address(raw[:octets]))
    return host, int.from_bytes(raw[octets : octets + 4], "big"), int.from_bytes(raw[octets + 4 :], "big")


def _listens(address: str, host: str, port: int) -> bool:
    """A broker may be registered by a name: then its port has to do, and the id of what it answers decides."""
    name, _, said_port = address.rpartition(":")
    if said_port != str(port):
        return False
    try:
        return ipaddress.ip_address(name.strip("[]")) == ipaddress.ip_address(host)
    except ValueError:
        return True


@dataclass
class Lookup:
    """One look-up. `clock`: seconds, for the time that it may take."""

    topics: SearchedTopics
    brokers: Brokers
    limits: LookupLimits
    now: datetime
    clock: Callable[[], float]
    _copies: dict[str, StoredCopy] = field(default_factory=dict)
    _others: dict[str, StoredCopy] = field(default_factory=dict)
    _searched: dict[tuple[str, str], SearchedPlace] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._calls = Calls(self.limits.calls)
        self._until = self.clock() + self.limits.seconds
        self._gate = asyncio.Semaphore(self.limits.at_once)

    async def found(self, wanted: str, topic: str | None = None) -> FoundCopies:
        """`wanted`: an id of a place, a UNIQ_KEY or a key. `topic`: of the original, where it is known."""
        seed = await self._seed(wanted, topic)
        key = wanted if seed is None else seed.message_id or next(iter((seed.keys or "").split()), None)
        if key is not None:
            await self._search(key, [*self.topics.retries, dlq_topic(self.topics.group), SCHEDULE_TOPIC])
            await self._search(key, self._origins(topic))
        await self._add_originals()
        if seed is not None or self._is_unique(wanted):
            await self._add_others()
        await self._add_dues()
        offsets = await asyncio.gather(*map(self._offset, self._places()))
        return FoundCopies(
            at=self.now,
            wanted=wanted,
            copies=tuple(self._copies.values()),
            others=tuple(self._others.values()),
            searched=tuple(self._searched.values()),
            offsets=tuple(offsets),
            calls=self.limits.calls - self._calls.left,
        )

    async def _seed(self, wanted: str, topic: str | None) -> StoredCopy | None:
        """A UNIQ_KEY has as many digits as a stored id. A message that no broker has at such an id is looked up by its
        key."""
        broker, place = self.brokers.of_stored_id(wanted), place_of(wanted)
        if broker is None or place is None:
            return None
        return await self._at(broker, place[2], wanted.upper(), topic or next(iter(self.topics.normal), ""))

    async def _at(self, broker: str, offset: int, stored_id: str, topic: str) -> StoredCopy | None:
        if (why := self._why_not()) is not None:
            self._searched[topic, broker] = SearchedPlace(topic, broker, 0, *why)
            return None
        try:
            message = await self.brokers.messages[broker].at(offset, topic, deadline_seconds=self._deadline())
            if message is None or message.stored_id != stored_id:
                return None
            return self._add(message, broker)
        except RocketMQError as error:
            self._searched[topic, broker] = _unread(topic, broker, error)
            return None

    def _origins(self, topic: str | None) -> list[str]:
        """Where the original may be: where its copies say, else in all topics of the group."""
        if topic is not None:
            return [topic]
        kinds = ((copy, kind_of(copy)) for copy in self._copies.values())
        topics = {copy.place.topic if kind is CopyKind.ORIGINAL else copy.origin_topic for copy, kind in kinds}
        return sorted(one for one in topics if one) or sorted(self.topics.normal)

    async def _search(self, key: str, topics: Iterable[str], *, others: bool = False) -> None:
        places = [(topic, broker) for topic in topics for broker in self._brokers_of(topic)]
        await asyncio.gather(*(self._search_place(key, topic, broker, others) for topic, broker in places))

    def _brokers_of(self, topic: str) -> Sequence[str]:
        known = [broker for broker in self.topics.normal.get(topic, ()) if broker]
        return known or [*self.brokers.messages, *self.brokers.unknown]

    async def _search_place(self, key: str, topic: str, broker: str, others: bool) -> None:
        async with self._gate:
            place = await self._searched_place(key, topic, broker, others)
        before = self._searched.get((topic, broker))
        if before is None or before.code is None:
            self._searched[topic, broker] = place

    async def _searched_place(self, key: str, topic: str, broker: str, others: bool) -> SearchedPlace:
        calls = self.brokers.messages.get(broker)
        if calls is None:
            return SearchedPlace(topic, broker, 0, AttemptUnknown.NO_MASTER, {"broker": broker})
        if (why := self._why_not()) is not None:
            return SearchedPlace(topic, broker, 0, *why)
        begin, end = _milliseconds(self.limits.since), _milliseconds(self.now + timedelta(hours=1))
        try:
            answer = await calls.by_key(topic, key, begin, end, deadline_seconds=self._deadline())
            own = [message for message in answer.messages if self._is_of_group(message)]
            for message in own:
                if others:
                    self._add_other(message, broker)
                else:
                    self._add(message, broker)
        except RocketMQError as error:
            return _unread(topic, broker, error)
        if answer.is_cut:
            return SearchedPlace(topic, broker, len(own), AttemptUnknown.MORE_THAN_SHOWN, {"most": MOST_BY_KEY})
        return SearchedPlace(topic, broker, len(own))

    def _is_of_group(self, message: StoredMessage) -> bool:
        """What another group has sent back, or has given up, is not this one's."""
        topic = message.topic
        if topic == SCHEDULE_TOPIC:
            topic = message.properties.get("REAL_TOPIC", "")
            return topic in self.topics.retries or topic in self.topics.normal
        if topic.startswith(DLQ_PREFIX):
            return topic == dlq_topic(self.topics.group)
        return topic in self.topics.retries or not topic.startswith(RETRY_PREFIX)

    async def _add_dues(self) -> None:
        """Of copies that still wait on a delay level, when they are due."""
        attempts = [attempt for message in joined(self._copies.values()) for attempt in message.attempts]
        for copy in (attempt.copy for attempt in attempts if attempt.kind is CopyKind.DELAYED):
            self._copies[copy.stored_id] = replace(copy, due_at=await self._due(copy))

    async def _due(self, copy: StoredCopy) -> datetime | None:
        """A level's consume queue has the time in the place of the tags' hash (5.4.0, ScheduleMessageService)."""
        if self._why_not() is not None:
            return None
        place = copy.place
        try:
            found = await self.brokers.admins[place.broker].consume_queue(
                place.topic, place.queue_id, copy.offset, 1, deadline_seconds=self._deadline()
            )
        except RocketMQError:
            # The attempt says that its time is not known; the copy itself is.
            return None
        code = found.entries[0].tags_code if found.entries else None
        return None if code is None else due_time(code)

    def _add(self, message: StoredMessage, broker: str) -> StoredCopy:
        """Whatever the message is of: only this group's are kept."""
        copy = copy_of(message, broker)
        return self._copies.setdefault(copy.stored_id, copy) if self._is_of_group(message) else copy

    def _add_other(self, message: StoredMessage, broker: str) -> None:
        copy = copy_of(message, broker)
        if copy.identity not in {one.identity for one in self._copies.values()}:
            self._others.setdefault(copy.stored_id, copy)

    async def _add_originals(self) -> None:
        """By the place that copies name, where the index did not give the original."""
        have = {copy.identity for copy in self._copies.values() if kind_of(copy) is CopyKind.ORIGINAL}
        lost = {
            copy.origin_message_id: copy.origin_topic or ""
            for copy in self._copies.values()
            if copy.origin_message_id and copy.identity not in have and copy.origin_message_id not in self._copies
        }
        for stored_id, topic in list(lost.items())[:MOST_ORIGINALS]:
            broker, place = self.brokers.of_stored_id(stored_id), place_of(stored_id)
            if broker is not None and place is not None:
                await self._at(broker, place[2], stored_id, topic)

    def _is_unique(self, wanted: str) -> bool:
        return any(copy.message_id == wanted for copy in self._copies.values())

    async def _add_others(self) -> None:
        originals = [copy for copy in self._copies.values() if kind_of(copy) is CopyKind.ORIGINAL]
        keys = dict.fromkeys(key for copy in originals for key in (copy.keys or "").split(" ") if key)
        topics = sorted({copy.place.topic for copy in originals})
        for key in list(keys)[:MOST_KEYS]:
            await self._search(key, topics, others=True)

    def _places(self) -> list[QueuePlace]:
        kinds = (CopyKind.ORIGINAL, CopyKind.RETRY)
        return list(dict.fromkeys(copy.place for copy in self._copies.values() if kind_of(copy) in kinds))

    async def _offset(self, place: QueuePlace) -> QueueOffset:
        async with self._gate:
            if (why := self._why_not()) is not None:
                return QueueOffset(place, None, *why)
            try:
                admin = self.brokers.admins[place.broker]
                offset = await admin.consumer_offset(
                    self.topics.group, place.topic, place.queue_id, deadline_seconds=self._deadline()
                )
            except RocketMQError as error:
                return QueueOffset(place, None, AttemptUnknown.OFFSET_UNREAD, {"error": str(error)})
        return QueueOffset(place, offset)

    def _why_not(self) -> tuple[str, dict[str, Any]] | None:
        """Counts a call, unless it may not be made."""
        if self.clock() >= self._until:
            return AttemptUnknown.TIME_USED, {"seconds": round(self.limits.seconds)}
        if not self._calls.take():
            return AttemptUnknown.BUDGET_USED, {"calls": self.limits.calls}
        return None

    def _deadline(self) -> float:
        return max(0.1, min(self.limits.call_seconds, self._until - self.clock()))


def _unread(topic: str, broker: str, error: RocketMQError) -> SearchedPlace:
    return SearchedPlace(topic, broker, 0, AttemptUnknown.PLACE_UNREAD, {"error": str(error)})


def _milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)
