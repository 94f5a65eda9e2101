"""The attempts of a message: what was found on the brokers, joined with what is stored of its group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext

from consumers.messages.joined import (
    Attempt,
    FoundCopies,
    JoinedMessage,
    QueueOffset,
    QueuePlace,
    SearchedPlace,
    StoredCopy,
    joined,
)
from consumers.messages.rows import (
    AttemptedMessageRow,
    AttemptOwnerRow,
    AttemptRepeatRow,
    AttemptRow,
    DeliveryRow,
    MessageAttemptsRow,
    SearchedPlaceRow,
    SendRow,
    SentTwiceRow,
    delivery_sentence,
    message_sentence,
)
from consumers.models import ConsumerGroup
from consumers.ownership.reports import is_broadcasting, is_popping
from consumers.polling.samples.first_stored import EVERY_TAG, TAG_TYPES
from consumers.queries.declared import unknown_of
from consumers.vocabulary.repeats import REPEAT_CAUSES, AttemptProgress, AttemptUnknown, CopyKind, RepeatCause
from consumers.vocabulary.times import iso
from consumers.words.reasons import coded_reason

from .deliveries import Cover, Delivery, Evidence, deliveries, least
from .history import Owner, Owners, Passed, QueueOwners, QueueReadings, covers

MOST_MESSAGES = 20
DELIVERS = (CopyKind.ORIGINAL, CopyKind.RETRY)


def message_attempts(group: ConsumerGroup, found: FoundCopies) -> MessageAttemptsRow:
    """Reads rows and Parquet. Of a key that many messages have, the first MOST_MESSAGES."""
    every = joined(found.copies)
    messages = every[:MOST_MESSAGES]
    known = _Known.of(group, found, messages)
    attempts = [known.attempt_row(message, attempt) for message in messages for attempt in message.attempts]
    searched = [_searched(one) for one in found.searched]
    not_searched = [one for one in searched if one.unknown_reason is not None]
    why = {"sent_twice": gettext("no other message shares its ID or a key")}
    if len(every) > len(messages):
        why["messages"] = coded_reason(AttemptUnknown.MORE_THAN_SHOWN, most=MOST_MESSAGES)
    sent_twice = _sent_twice(messages, found)
    return MessageAttemptsRow(
        cluster=group.cluster.name,
        group=group.name,
        message=found.wanted,
        at=found.at,
        calls=found.calls,
        complete=not not_searched and len(every) == len(messages),
        messages=[known.message_row(message) for message in messages],
        attempts=sorted(attempts, key=lambda row: (row.at, row.reconsume_times)),
        sent_twice=sent_twice,
        searched=searched,
        not_searched=not_searched,
        unknown={name: words for name, words in why.items() if name != "sent_twice" or sent_twice is None},
    )


@dataclass(frozen=True)
class _Known:
    """What is known of the copies from other sources, by stored id, and of their queues."""

    group: ConsumerGroup
    at: datetime
    no_offset: str | None
    offsets: Mapping[QueuePlace, QueueOffset]
    owners: QueueOwners
    covers: Mapping[str, tuple[Cover, ...]]
    passed: Mapping[str, Passed]

    @classmethod
    def of(cls, group: ConsumerGroup, found: FoundCopies, messages: Sequence[JoinedMessage]) -> "_Known":
        delivering = [one for message in messages for one in message.attempts if one.kind in DELIVERS]
        copies = [one.copy for one in delivering]
        covering = covers(group, copies)
        # Of what was sent back its copies tell the time.
        asked = [one.copy for one in delivering if not one.send_backs or one.copy.stored_id in covering]
        readings = QueueReadings(group, found.at)
        since = min((copy.stored_at for copy in copies), default=found.at)
        return cls(
            group,
            found.at,
            _why_no_offset(group),
            {one.place: one for one in found.offsets},
            QueueOwners(group, {copy.place for copy in copies}, since, found.at),
            covering,
            {copy.stored_id: readings.passed(copy) for copy in asked},
        )

    def progress(self, attempt: Attempt) -> tuple[AttemptProgress | None, str | None]:
        copy, offset = attempt.copy, self.offsets.get(attempt.copy.place)
        if attempt.kind not in DELIVERS:
            return None, coded_reason(AttemptUnknown.NOT_DELIVERED_FROM)
        if attempt.kind is CopyKind.ORIGINAL and not attempt.send_backs:
            lets_through = _lets_through(self.group, copy)
            if lets_through is None:
                return None, coded_reason(AttemptUnknown.SQL_FILTER)
            if not lets_through:
                return AttemptProgress.FILTERED, None
        if self.no_offset is not None:
            return None, coded_reason(self.no_offset)
        if offset is None or offset.code is not None:
            params = (offset.params if offset else None) or {"error": ""}
            return None, coded_reason(offset.code if offset and offset.code else AttemptUnknown.OFFSET_UNREAD, **params)
        if offset.offset is None:
            return None, coded_reason(AttemptUnknown.NEVER_COMMITTED)
        is_passed = offset.offset > copy.offset
        return (AttemptProgress.CONSUMED if is_passed else AttemptProgress.WAITING), None

    def evidence(self, attempt: Attempt) -> Evidence:
        """An offset that passes what the group does not take, or moves otherwise than by consumption, says nothing."""
        progress, _ = self.progress(attempt)
        stored_id = attempt.copy.stored_id
        if self.no_offset is not None or progress in (None, AttemptProgress.FILTERED):
            return Evidence(progress, covers=self.covers.get(stored_id, ()) if progress is not None else ())
        history = self.passed.get(stored_id)
        return Evidence(progress, history.crossings if history else (), self.covers.get(stored_id, ()))

    def deliveries(self, message: JoinedMessage) -> list[Delivery]:
        return deliveries(message, [self.evidence(attempt) for attempt in message.attempts])

    def owners_of(self, delivery: Delivery) -> Owners | None:
        if delivery.copy is None:
            return Owners((), coded_reason(AttemptUnknown.COPY_NOT_FOUND))
        since, until = delivery.held or (delivery.after or delivery.before, delivery.before or self.at)
        assert since is not None, "a delivery has one bound at least"
        return self.owners.between(delivery.copy.place, since, until)

    def attempt_row(self, message: JoinedMessage, attempt: Attempt) -> AttemptRow:
        copy, (progress, no_progress) = attempt.copy, self.progress(attempt)
        offset = self.offsets.get(copy.place)
        mine = [one for one in self.deliveries(message) if one.copy is not None and one.copy is copy]
        owners = self._owners(attempt, mine)
        owner, no_owner = _one_owner(owners)
        covering = self.covers.get(copy.stored_id, ())
        values: dict[str, Any] = {
            "message_id": copy.message_id,
            "due_at": copy.due_at,
            "progress": progress,
            "consumer_offset": offset.offset if offset else None,
            "owner": owner,
            "repeat": covering[0].event if covering else None,
        }
        why = {
            "message_id": coded_reason(AttemptUnknown.NOT_IN_MESSAGE),
            "due_at": coded_reason(
                AttemptUnknown.NO_DELAY if attempt.kind is CopyKind.DELAYED else AttemptUnknown.NOT_DELAYED
            ),
            "progress": no_progress or "",
            "consumer_offset": no_progress or coded_reason(AttemptUnknown.NEVER_COMMITTED),
            "owner": no_owner or "",
            "repeat": coded_reason(AttemptUnknown.NO_REPEAT_COVERS),
        }
        return AttemptRow(
            at=copy.stored_at,
            kind=attempt.kind,
            stored_id=copy.stored_id,
            topic=copy.place.topic,
            broker=copy.place.broker,
            queue_id=copy.place.queue_id,
            offset=copy.offset,
            reconsume_times=copy.reconsume_times,
            resent=copy.resent,
            owners=[_owner_row(one) for one in owners.known] if owners else [],
            repeats=[
                AttemptRepeatRow(id=one.event, cause=one.cause, certain=one.certain, at=one.at) for one in covering
            ],
            **values,
            unknown=unknown_of(values, why),
        )

    def _owners(self, attempt: Attempt, mine: Sequence[Delivery]) -> Owners | None:
        if attempt.kind not in DELIVERS:
            return Owners((), coded_reason(AttemptUnknown.NOT_DELIVERED_FROM))
        if mine:
            return self.owners_of(mine[-1])
        return self.owners.between(attempt.copy.place, self.at, self.at)

    def message_row(self, message: JoinedMessage) -> AttemptedMessageRow:
        found = self.deliveries(message)
        rows = [self._delivery_row(one) for one in found]
        first = message.first
        values = {
            "message_id": first.message_id,
            "keys": first.keys,
            "tags": first.tags,
            "origin_topic": message.origin_topic,
            "deliveries_high": None,
        }
        why = {name: coded_reason(AttemptUnknown.NOT_IN_MESSAGE) for name in values}
        why["deliveries_high"] = coded_reason(AttemptUnknown.DELIVERIES_NOT_STORED)
        return AttemptedMessageRow(
            **values,  # type: ignore[arg-type]
            born_at=first.born_at,
            deliveries_low=least(found),
            deliveries=rows,
            sentence=message_sentence(least(found), rows),
            unknown=unknown_of(values, why),
        )

    def _delivery_row(self, one: Delivery) -> DeliveryRow:
        owners = self.owners_of(one)
        owner, no_owner = _one_owner(owners)
        values: dict[str, Any] = {
            "after": one.after,
            "before": one.before,
            "stored_id": one.copy.stored_id if one.copy else None,
            "owner": owner,
            "repeat": one.cover.event if one.cover else None,
        }
        gone = coded_reason(AttemptUnknown.COPY_NOT_FOUND)
        why = {
            "after": coded_reason(AttemptUnknown.CLOCKS_DIFFER) if one.copy else gone,
            "before": self._why_no_time(one),
            "stored_id": gone,
            "owner": no_owner or "",
            "repeat": coded_reason(AttemptUnknown.NO_REPEAT_COVERS),
        }
        return DeliveryRow(
            **values,
            basis=one.basis,
            certain=one.certain,
            times=one.times,
            dead_lettered=one.is_dead,
            sentence=delivery_sentence(one, owner, owners, self.at),
            unknown=unknown_of(values, why),
        )

    def _why_no_time(self, one: Delivery) -> str:
        history = self.passed.get(one.copy.stored_id) if one.copy else None
        if history is None:
            return coded_reason(AttemptUnknown.COPY_NOT_FOUND)
        if history.error is not None:
            return coded_reason(AttemptUnknown.NO_HISTORY, error=history.error)
        until = history.looked_until.astimezone(UTC)
        return coded_reason(AttemptUnknown.NOT_PASSED_IN_HISTORY, until=iso(until))


def _why_no_offset(group: ConsumerGroup) -> str | None:
    if is_broadcasting(group):
        return AttemptUnknown.BROADCASTING
    if group.outside_store is not None:
        return AttemptUnknown.OUTSIDE_STORE
    return AttemptUnknown.POPPING if is_popping(group) else None


def _lets_through(group: ConsumerGroup, copy: StoredCopy) -> bool | None:
    """Whether the group's present subscription takes the message; None where only the message's properties tell."""
    of_topic = [one for one in group.subscriptions if one["topic"] == copy.place.topic]
    if not of_topic:
        return True
    expression = of_topic[0]["expression"] or ""
    if of_topic[0].get("expression_type") not in TAG_TYPES:
        return None
    return expression in EVERY_TAG or (copy.tags or "") in {tag.strip() for tag in expression.split("||")}


def _one_owner(owners: Owners | None) -> tuple[str | None, str | None]:
    if owners is None:
        return None, coded_reason(AttemptUnknown.QUEUE_NEVER_SEEN)
    if owners.why is not None:
        return None, owners.why
    if len(owners.known) == 1:
        return owners.known[0].client_id, None
    return None, coded_reason(AttemptUnknown.SEVERAL_MEMBERS)


def _owner_row(owner: Owner) -> AttemptOwnerRow:
    values = {"left_after": owner.left_after, "left_before": owner.left_before}
    why = dict.fromkeys(values, coded_reason(AttemptUnknown.STILL_MEMBER))
    return AttemptOwnerRow(
        client_id=owner.client_id, since=owner.since, until=owner.until, **values, unknown=unknown_of(values, why)
    )


def _searched(place: SearchedPlace) -> SearchedPlaceRow:
    reason = None if place.code is None else coded_reason(place.code, **(place.params or {}))
    return SearchedPlaceRow(
        topic=place.topic,
        broker=place.broker,
        found=place.found,
        unknown_reason=reason,
        unknown_reason_code=place.code,
    )


# Messages that were sent more than once: no repeated consumption.


def _sent_twice(messages: Sequence[JoinedMessage], found: FoundCopies) -> SentTwiceRow | None:
    """Originals of one topic that share their ID, or a key; what was resent from here is none."""
    kinds = [one for message in messages for one in message.attempts if one.kind is CopyKind.ORIGINAL]
    originals = [*(one.copy for one in kinds if not one.copy.resent), *(one for one in found.others if not one.resent)]
    by_topic: dict[str, list[StoredCopy]] = {}
    for copy in sorted(originals, key=lambda copy: copy.stored_at):
        by_topic.setdefault(copy.place.topic, []).append(copy)
    sends = [copy for of_topic in by_topic.values() if len(of_topic) > 1 for copy in of_topic]
    if not sends:
        return None
    cause = REPEAT_CAUSES[RepeatCause.SENT_TWICE]
    rows = [_send_row(copy, sends[0]) for copy in sends]
    return SentTwiceRow(cause=cause.cause, is_repeat=cause.is_repeat, sentence=_sent_words(sends), sends=rows)


def _send_row(copy: StoredCopy, first: StoredCopy) -> SendRow:
    values = {"message_id": copy.message_id}
    return SendRow(
        at=copy.stored_at,
        stored_id=copy.stored_id,
        topic=copy.place.topic,
        broker=copy.place.broker,
        queue_id=copy.place.queue_id,
        offset=copy.offset,
        same_body=copy.digest == first.digest,
        **values,
        unknown=unknown_of(values, {"message_id": coded_reason(AttemptUnknown.NOT_IN_MESSAGE)}),
    )


def _sent_words(sends: Sequence[StoredCopy]) -> str:
    words = {"n": len(sends)}
    if len({copy.identity for copy in sends}) == 1:
        sentence = gettext("Stored %(n)s times with one ID: its producer sent it again.") % words
    else:
        sentence = gettext("Sent %(n)s times: these messages share a key and have different IDs.") % words
    if len({copy.digest for copy in sends}) > 1:
        sentence = f"{sentence} {gettext('Their bodies differ, so they may be different messages.')}"
    return f"{sentence} {gettext('This is no repeated consumption.')}"
