"""How completely logs were read in a range of time: what the list of their events says beside its count."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.utils.translation import gettext, gettext_lazy, ngettext

from consumers.models import Cluster, LogFile
from consumers.queries.limits import limits
from consumers.rest.watched import Watched
from consumers.vocabulary.logs import LogCode, LogProblem, LogRole
from consumers.words.marks import chained
from consumers.words.spans import when

NONE_NAMED = gettext_lazy("no logs are named for this cluster")
NOT_NAMED = {
    LogRole.CLIENT: gettext_lazy("no client logs are named for this cluster"),
    LogRole.BROKER: gettext_lazy("no broker logs are named for this cluster"),
}
NONE_READ = {
    LogRole.CLIENT: gettext_lazy("no client log was read yet"),
    LogRole.BROKER: gettext_lazy("no broker log was read yet"),
}
READ_SINCE = {
    LogRole.CLIENT: gettext_lazy("client logs are followed only since %(at)s"),
    LogRole.BROKER: gettext_lazy("broker logs are followed only since %(at)s"),
}


def log_coverage(
    cluster: Cluster,
    since: datetime | None,
    until: datetime | None,
    now: datetime,
    code: LogCode | None = None,
) -> Watched:
    """Of the logs that are named for the cluster, or of those that tell the code. Without `since`: for as long as
    events are kept. One query."""
    kept_since = now - timedelta(days=settings.LOG_EVENT_DAYS)
    seen = Watched(False, since or kept_since, min(until or now, now), None)
    begin, end = seen.since or kept_since, seen.until
    files = list(LogFile.objects.filter(Q(gone_at=None) | Q(gone_at__gt=begin), cluster=cluster))
    named = {LogRole.CLIENT: cluster.client_logs.strip(), LogRole.BROKER: cluster.broker_logs.strip()}
    roles = [role for role in LogRole if (named[role] if code is None else code.role == role)]
    of_roles = [file for file in files if file.role in roles]
    reasons = [str(NONE_NAMED)] if not roles else [str(NOT_NAMED[role]) for role in roles if not named[role]]
    reasons += _unread([role for role in roles if named[role]], of_roles, begin, end)
    if begin < kept_since:
        reasons.append(gettext("log events are retained only since %(at)s") % {"at": when(kept_since)})
    if not reasons:
        return seen
    return replace(seen, count_is_lower_bound=True, unknown_reason=chained(reasons))


def _unread(named: Sequence[LogRole], files: Sequence[LogFile], since: datetime, until: datetime) -> Iterator[str]:
    late = read_since(until)
    for role in named:
        begun = min((file.first_seen_at for file in files if file.role == role and file.identity), default=None)
        if begun is None:
            yield str(NONE_READ[role])
        elif begun > since:
            yield str(READ_SINCE[role]) % {"at": when(begun)}
    if unread := sum(is_unread(file, late) for file in files):
        yield ngettext(
            "%(n)s log is not read up to the end of the range: see the logs of the cluster",
            "%(n)s logs are not read up to the end of the range: see the logs of the cluster",
            unread,
        ) % {"n": unread}
    if lost := sum(_has_lost_lines(file, since, until) for file in files):
        yield ngettext(
            "lines of %(n)s log are missing or were not understood",
            "lines of %(n)s logs are missing or were not understood",
            lost,
        ) % {"n": lost}


def read_since(now: datetime) -> datetime:
    """A log that was read before is read late."""
    return now - timedelta(seconds=max(limits().late_seconds, 2 * settings.LOG_SECONDS))


def is_unread(file: LogFile, late: datetime) -> bool:
    """Of a file or a glob that is still there. A packed log was read before it was packed, or has lost lines."""
    if file.gone_at is not None or (file.problem is not None and file.problem["code"] == LogProblem.GLOB_PACKED):
        return False
    return file.read_at is None or file.read_at < late


def _has_lost_lines(file: LogFile, since: datetime, until: datetime) -> bool:
    """Lines that were not understood, or gone when a file was emptied, may be of any time at which it was followed."""
    if not file.identity:
        return False
    if file.skipped_bytes and since < file.first_seen_at:
        return True
    if (file.unknown_lines or file.truncations) and file.first_seen_at < until:
        return True
    is_cut = file.gone_at is not None and file.problem is not None
    return is_cut and (file.read_at or file.first_seen_at) < until
