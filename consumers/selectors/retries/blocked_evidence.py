"""What the kind of a blocked queue was told by: in words, and as numbers for JSON."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext

from consumers.selectors.measures import age, count, messages, rate
from consumers.selectors.overlay import iso

from .standing import Standing


def facts_of(head: Standing) -> dict[str, Any]:
    """Null is: the client does not say."""
    return {
        "orderly": head.orderly,
        "failed_per_second": head.failed_per_second,
        "ok_per_second": head.ok_per_second,
        "failed_messages_last_hour": head.status.get("consume_failed_messages"),
        "mean_consume_ms": head.status.get("consume_rt"),
        "cached_messages": head.cached_count,
        "cached_span": head.cached_span,
        "consumer_offset_in_memory": head.commit_offset,
        "last_consume_seconds": head.ago(head.last_consume_at),
        "last_lock_seconds": head.ago(head.last_lock_at) if head.orderly else None,
        "consume_timeout_seconds": head.timeout_seconds if head.orderly is False else None,
        "retries_arrive": head.sendbacks.arrive,
        "retries_refused": head.sendbacks.refused,
        "told_at": iso(head.told_at),
    }


def evidence_of(head: Standing) -> list[str]:
    """Facts in words, those that decide first."""
    return [*_of_failures(head), *_of_the_queue(head), *_of_the_client(head)]


def _of_failures(head: Standing) -> Iterator[str]:
    failed, ok = head.failed_per_second, head.ok_per_second
    if failed is not None:
        words = {"topic": head.topic, "failed": rate(failed)}
        yield gettext("of %(topic)s %(failed)s fail at this member in its last minute, all its queues together") % words
    if ok is not None:
        yield gettext("%(ok)s succeed") % {"ok": rate(ok)}
    if head.orderly is False and failed and not head.is_broadcasting:
        sent = head.sendbacks
        if sent.arrive is True:
            yield gettext("failed messages of the group come back through its retry topic")
        elif sent.arrive is False:
            yield gettext("nothing came into the group's retry topic meanwhile")
        elif sent.why_unknown:
            yield sent.why_unknown
    if head.sendbacks.refused:
        yield head.sendbacks.refused
    if head.is_broadcasting:
        yield gettext("the group broadcasts: what fails is dropped, never sent back")


def _of_the_queue(head: Standing) -> Iterator[str]:
    finished, taken_ago = head.finished_out_of_order, head.ago(head.last_consume_at)
    if head.cached_count is not None:
        yield gettext("the member holds %(messages)s of the queue") % {"messages": messages(head.cached_count)}
    if finished:
        words = {"messages": messages(finished)}
        yield gettext("it has finished up to %(messages)s behind it, or its tags leave them out") % words
    if taken_ago is not None:
        words = {"age": age(max(0, taken_ago))}
        if head.orderly:
            yield gettext("it last took a message of the queue %(age)s before it was heard") % words
        elif head.orderly is False:
            yield (
                gettext("it last finished a message of the queue, or began with it, %(age)s before it was heard")
                % words
            )
    if head.commit_offset is not None and head.commit_offset < head.offset:
        words = {"offset": count(head.commit_offset), "head": count(head.offset)}
        yield gettext("its offset in memory is %(offset)s, before the oldest that it holds (%(head)s)") % words


def _of_the_client(head: Standing) -> Iterator[str]:
    if head.flow_control is not None:
        name, limit = head.flow_control
        words = {"name": name, "limit": count(limit)}
        yield gettext("flow control: it pulls no more of the queue (%(name)s %(limit)s)") % words
    if head.orderly and head.failed_per_second == 0:
        yield gettext("an orderly listener with autoCommit off that does not commit looks the same")
    if head.orderly is False and head.timeout_seconds is not None:
        words = {"timeout": age(head.timeout_seconds)}
        yield gettext("consumeTimeout is %(timeout)s: what runs longer is sent back while it runs") % words
    if head.orderly is False and head.ok_per_second == 0 and not head.failed_per_second:
        threads = head.settings.get("consumeThreadMax")
        if threads:
            yield gettext("nothing of the topic was finished: its threads (%(n)s) may all be busy") % {"n": threads}
