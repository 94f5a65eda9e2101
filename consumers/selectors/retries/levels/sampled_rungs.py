"""What of a group was among the messages of a delay level that were looked into, over all brokers.

One broker whose level was not looked into makes the whole unknown: its messages may all be the group's.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings

from consumers.models import Rung
from consumers.selectors.queues.overlay import iso

from .broker_level import BrokerLevel
from .ladder_rows import SampledRung

# So many turns of sampling may be missed, as they are where there are more levels than calls.
TURNS_HELD = 3


def sampled_rung(
    levels: Sequence[tuple[str, BrokerLevel]], rungs: Sequence[Rung], now: datetime
) -> tuple[SampledRung | None, str]:
    """`levels`: by broker, those of one number; `rungs`: the group's own of that number. With why there is none."""
    times: list[datetime] = []
    looked_at, of = 0, 0
    for broker, level in levels:
        if (why := _not_sampled(broker, level, now)) is not None:
            return None, why
        row = level.row
        assert row is not None
        assert row.sampled_at is not None
        times.append(row.sampled_at)
        looked_at, of = looked_at + (row.looked_at or 0), of + (row.sampled_of or 0)
    attempts: Counter[int] = Counter()
    for rung in rungs:
        attempts.update({int(retry): count for retry, count in rung.attempts.items()})
    due = [rung.next_due_at for rung in rungs if rung.next_due_at is not None]
    return (
        SampledRung(
            messages=sum(rung.messages for rung in rungs),
            looked_at=looked_at,
            of=of,
            attempts=dict(sorted(attempts.items())),
            oldest_waiting_at=min((rung.oldest_stored_at for rung in rungs), default=None),
            next_due_at=min(due, default=None) if len(due) == len(rungs) else None,
            sampled_at=min(times),
        ),
        "",
    )


def _not_sampled(broker: str, level: BrokerLevel, now: datetime) -> str | None:
    row = level.row
    if level.backlog is None or row is None:
        return level.unknown["backlog"]
    if row.sample_error is not None:
        return f"{broker} did not let its level {level.level} be looked into: {row.sample_error}"
    if row.sampled_at is None:
        return f"level {level.level} of {broker} has not been looked into yet"
    if now - row.sampled_at > sample_holds():
        return f"level {level.level} of {broker} has not been looked into since {iso(row.sampled_at)}"
    return None


def sample_holds() -> timedelta:
    """How old a sample may be."""
    seconds = max(settings.POLL_RETRY_SAMPLE_SECONDS, settings.CONSUMERSCOPE_POLL_SECONDS)
    return timedelta(seconds=TURNS_HELD * seconds)
