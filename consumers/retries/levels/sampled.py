"""A group's messages among those sampled from a delay level, and which are on their last retry."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.utils.translation import gettext, gettext_lazy

from consumers.models import Client, ConsumerGroup, Rung
from consumers.retries.levels.broker_levels import BrokerLevel
from consumers.retries.levels.ladder_rows import LadderRung, LastAttempts, SampledRung
from consumers.words.reasons import stored_words
from consumers.words.spans import iso

# What of a group was among the messages of a delay level that were looked into, over all brokers.
#
# One broker whose level was not looked into makes the whole unknown: its messages may all be the group's.
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
        return gettext("%(broker)s refused to sample level %(level)s: %(error)s") % {
            "broker": broker,
            "level": level.level,
            "error": stored_words(row.sample_error),
        }
    if row.sampled_at is None:
        return gettext("level %(level)s of %(broker)s has not been sampled yet") % {
            "level": level.level,
            "broker": broker,
        }
    if now - row.sampled_at > sample_holds():
        return gettext("level %(level)s of %(broker)s has not been sampled since %(since)s") % {
            "level": level.level,
            "broker": broker,
            "since": iso(row.sampled_at),
        }
    return None


def sample_holds() -> timedelta:
    """How old a sample may be."""
    seconds = max(settings.POLL_RETRY_SAMPLE_SECONDS, settings.CONSUMERSCOPE_POLL_SECONDS)
    return timedelta(seconds=TURNS_HELD * seconds)


# Which sampled messages of a group wait for their last retry, by the limit that counts for it.
#
# A member's own maxReconsumeTimes goes before the group's configuration: it is sent with every message that it sends
# back (RocketMQ 5.4.0, AbstractSendMessageProcessor.consumerSendMsgBack). -1 is 16, and no limit for orderly members.
DEFAULT_MAX_RETRIES = 16

NO_LIMIT = 2**31 - 1

BY_MEMBERS, BY_GROUP = gettext_lazy("the members"), gettext_lazy("the group's configuration")

NOBODY = gettext_lazy("neither a member nor a broker has reported the maximum number of retries")

UNLIMITED = gettext_lazy("the number of retries is not limited")

NO_LAST = gettext_lazy("no sampled message is before its last retry")


def last_attempts(group: ConsumerGroup, rungs: Sequence[LadderRung], not_sampled: str | None) -> LastAttempts:
    """`not_sampled`: why some level was not looked into; messages are then not known. One query."""
    limit, told_by, why = max_retries(group)
    if told_by is None:
        return _of(None, None, None, None, dict.fromkeys(("messages", "next_due_at", "max_retries", "told_by"), why))
    if limit is None:
        none = {"max_retries": str(UNLIMITED), "next_due_at": str(UNLIMITED)}
        return _of(0, None, None, told_by, none)
    if not_sampled is not None:
        return _of(None, None, limit, told_by, dict.fromkeys(("messages", "next_due_at"), not_sampled))
    last = [(rung, count) for rung in rungs if (count := _waiting_for_last(rung, limit))]
    due = [rung.sampled.next_due_at for rung, _ in last if rung.sampled and rung.sampled.next_due_at]
    if last and not due:
        return _of(
            sum(n for _, n in last), None, limit, told_by, {"next_due_at": gettext("the delay of the level is unknown")}
        )
    found = sum(count for _, count in last)
    return _of(found, min(due, default=None), limit, told_by, {} if due else {"next_due_at": str(NO_LAST)})


def max_retries(group: ConsumerGroup) -> tuple[int | None, str | None, str]:
    """The limit, who told it, and why nobody did. A limit that is null though it was told is none at all."""
    told = {limit for client in Client.objects.filter(group=group, gone_by=None) if (limit := _own(client)) is not None}
    if len(told) > 1:
        named = ", ".join(gettext("no limit") if limit == NO_LIMIT else str(limit) for limit in sorted(told))
        return None, None, gettext("members differ in the maximum number of retries: %(limits)s") % {"limits": named}
    if told:
        [limit] = told
        return (None if limit == NO_LIMIT else limit), str(BY_MEMBERS), ""
    if group.retry_max_times is None:
        return None, None, str(NOBODY)
    return group.retry_max_times, str(BY_GROUP), ""


def _own(client: Client) -> int | None:
    """Null where it has not said, or not what -1 means to it."""
    said = (client.settings or {}).get("maxReconsumeTimes")
    try:
        times = int(said) if said is not None else None
    except ValueError:
        return None
    if times is None or times >= 0:
        return None if times is None else min(times, NO_LIMIT)
    if client.orderly is None:
        return None
    return NO_LIMIT if client.orderly else DEFAULT_MAX_RETRIES


def _waiting_for_last(rung: LadderRung, limit: int) -> int:
    """The r-th retry waits with reconsumeTimes r, and dies if it fails and r has reached the limit."""
    attempts = rung.sampled.attempts if rung.sampled else {}
    return sum(count for times, count in attempts.items() if times >= limit)


def _of(
    messages: int | None, next_due_at: datetime | None, limit: int | None, told_by: str | None, unknown: dict[str, str]
) -> LastAttempts:
    return LastAttempts(messages=messages, next_due_at=next_due_at, max_retries=limit, told_by=told_by, unknown=unknown)
