"""The queues of a group, summed by topic."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from consumers.selectors.groups.rows import TopicRow
from consumers.vocabulary.unknown import NO_LAG_REASONS, UnknownReason

from .overlay import NOT_JUDGED_YET
from .queue_rows import QueueRow


def topic_rows(queues: Iterable[QueueRow], retired: Mapping[str, datetime]) -> list[TopicRow]:
    """One row per topic, in the order of the queues. Never-committed queues are counted apart from the sums."""
    by_topic: dict[str, list[QueueRow]] = {}
    for queue in queues:
        by_topic.setdefault(queue.topic, []).append(queue)
    return [_topic_row(topic, rows, retired.get(topic)) for topic, rows in by_topic.items()]


def _topic_row(topic: str, queues: list[QueueRow], retired_since: datetime | None) -> TopicRow:
    # A queue that has no lag by its nature (never committed, gone) leaves the sum of the others whole.
    committed = [queue for queue in queues if queue.unknown_reason_code not in NO_LAG_REASONS]
    known = [queue.lag_messages for queue in committed if queue.lag_messages is not None]
    unread = [queue.unknown_reason for queue in committed if queue.lag_messages is None]
    reason = unread[0] if unread else None if committed else queues[0].unknown_reason
    codes = [queue.unknown_reason_code for queue in committed if queue.lag_messages is None]
    code = codes[0] if codes else None if committed else queues[0].unknown_reason_code
    times = [queue.time_lag_seconds for queue in committed]
    whole = [seconds for seconds in times if seconds is not None]
    time_lag = max(whole) if whole and len(whole) == len(times) else None
    waits = next((queue.unknown["time_lag_seconds"] for queue in committed if queue.time_lag_seconds is None), None)
    values: dict[str, Any] = {
        "never_committed_queues": None
        if unread
        else sum(queue.unknown_reason_code == UnknownReason.NEVER_COMMITTED for queue in queues),
        "lag_messages_at_least": sum(known) if known else None,
        "time_lag_seconds": time_lag,
        # The earliest: the longest time lag may be of then.
        "time_lag_at": min(ats) if time_lag is not None and (ats := _known_at(committed)) else None,
    }
    reasons = {
        "never_committed_queues": reason,
        "lag_messages_at_least": reason,
        "time_lag_seconds": waits or reason or NOT_JUDGED_YET,
        "time_lag_at": waits or reason or NOT_JUDGED_YET,
    }
    in_use = {} if retired_since else {"retired_since": "in use, as far as members have said"}
    return TopicRow(
        topic=topic,
        kind=queues[0].kind,
        queues=len(queues),
        retired_since=retired_since,
        lag_messages=sum(known) if known and reason is None else None,
        unknown_reason=reason,
        unknown_reason_code=code,
        unknown={name: reasons[name] or "" for name, value in values.items() if value is None} | in_use,
        **values,
    )


def _known_at(queues: Iterable[QueueRow]) -> list[datetime]:
    return [queue.time_lag_at for queue in queues if queue.time_lag_at is not None]
