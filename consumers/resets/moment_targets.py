"""Back to where the group itself stood: the newest readings up to the moment, unless the queue was made anew since."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import pyarrow as pa
from django.conf import settings
from django.utils.translation import gettext as _

from consumers.lake.knot_days import day_start
from consumers.lake.store import Lake
from consumers.lake.unreadable import put_aside_of
from consumers.rocketmq.names import DLQ_PREFIX
from consumers.selectors.measures import age

from .positions import INSTANT, Position, in_words, looked_back, positions_at, was_read
from .remade import remade_since
from .wish import QueueKey, ResetRefused

OWN_KINDS = ("retry", "dlq")


def stood_then(cluster: str, group: str, at: datetime) -> dict[QueueKey, Position]:
    """Raises ResetRefused where no reading from then saw the group."""
    back = looked_back(settings.CONSUMERSCOPE_POLL_SECONDS)
    with _the_lake() as lake:
        found = positions_at(lake, cluster, group, at, back)
        _check_nothing_is_missing(lake, "readings", cluster, at - back, at + INSTANT)
        if found:
            return found
        is_read = was_read(lake, cluster, at, back)
    words = {"minutes": round(back.total_seconds() / 60), "at": in_words(at), "cluster": cluster, "group": group}
    if not is_read:
        raise ResetRefused(
            _(
                "No reading of %(cluster)s is kept that was taken in the %(minutes)s minutes up to %(at)s: choose "
                "another moment."
            )
            % words
        )
    raise ResetRefused(
        _(
            "No reading that was taken in the %(minutes)s minutes up to %(at)s saw offsets of %(group)s: choose "
            "another moment."
        )
        % words
    )


def queues_of_then(cluster: str, group: str, at: datetime, topics: Collection[str] | None) -> tuple[QueueKey, ...]:
    """Of all its topics but its own retry and dead-letter topics, or of `topics`. Raises ResetRefused."""

    def is_meant(key: QueueKey, position: Position) -> bool:
        if topics is None:
            return position.kind not in OWN_KINDS
        return key.topic in topics and not key.topic.startswith(DLQ_PREFIX)

    found = stood_then(cluster, group, at)
    return tuple(key for key, position in found.items() if is_meant(key, position))


def targets_of_then(
    cluster: str, group: str, at: datetime, keys: Collection[QueueKey], now: datetime
) -> tuple[dict[QueueKey, int | str], tuple[str, ...]]:
    """By queue, and warnings. Raises ResetRefused."""
    then = stood_then(cluster, group, at)
    stood = {key: then[key] for key in keys if key in then}
    with _the_lake() as lake:
        remade = remade_since(lake, cluster, stood, at, now)
        # The knots of a settled day stand in its first hour.
        _check_nothing_is_missing(lake, "knots", cluster, day_start(at), now + INSTANT)
    targets: dict[QueueKey, int | str] = {}
    for key in keys:
        position = stood.get(key)
        if position is None:
            targets[key] = _("No reading from shortly before %s saw an offset of the group there.") % in_words(at)
        elif position.offset is None:
            targets[key] = _("It had no offset at %(at)s: %(why)s") % {"at": in_words(at), "why": position.reason}
        else:
            targets[key] = remade.why.get(key, position.offset)
    warnings = [_late({key: stood[key] for key in keys if isinstance(targets[key], int)}, at)]
    if not remade.is_known(now):
        warnings.append(
            _(
                "Whether a topic was made anew since then is not known, as broker offsets were not aggregated until "
                "now: see that the pipeline runs. Where one was, its offsets of then name other messages."
            )
        )
    return targets, tuple(filter(None, warnings))


@contextmanager
def _the_lake() -> Iterator[Lake]:
    """Raises ResetRefused where it cannot be read."""
    try:
        yield Lake.at(settings.CONSUMERSCOPE_LAKE)
    except (OSError, pa.ArrowException) as error:
        raise ResetRefused(
            _("The history could not be read (%s): see that the lake is there and whole, and plan again.") % error
        ) from error


def _check_nothing_is_missing(lake: Lake, table: str, cluster: str, since: datetime, until: datetime) -> None:
    """Raises ResetRefused: what was put aside may have said where the group stood, or that a queue was made anew."""
    if missing := put_aside_of(lake, table, cluster, since, until):
        words = {"n": len(missing), "place": missing[0]}
        raise ResetRefused(
            _(
                "The history could not be read: %(n)s of its files of that time are damaged and were put aside "
                "(%(place)s). Choose another moment, or give the offsets yourself."
            )
            % words
        )


def _late(stood: dict[QueueKey, Position], at: datetime) -> str | None:
    """What is to be said of readings that are older than polls are apart."""
    apart = timedelta(seconds=1.5 * settings.CONSUMERSCOPE_POLL_SECONDS)
    late = [(position.taken_at, key) for key, position in stood.items() if at - position.taken_at > apart]
    if not late:
        return None
    oldest, key = min(late, key=lambda found: found[0])
    words = {
        "n": len(late),
        "at": in_words(at),
        "age": age((at - oldest).total_seconds()),
        "queue": str(key),
        "oldest": in_words(oldest),
    }
    return (
        _(
            "%(n)s of the queues were not read right before %(at)s: their targets are where they stood up to "
            "%(age)s earlier (%(queue)s at %(oldest)s). What was consumed in between comes again."
        )
        % words
    )
