"""Whether the clocks of the site's machines are trusted, and when one was last set.

What is deleted by age is deleted for good, so that a clock must have gone evenly for a day of the product's work before
anything is: see `expiry_hold`.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from consumers.models import ClockChange, Doubt, MachineClock
from consumers.words.spans import age, counted, when

TRUSTED_AFTER = timedelta(hours=24)
# A change is on the overview and in /readyz for so long.
TOLD_FOR = timedelta(hours=24)


@dataclass(frozen=True)
class ExpiryHold:
    """Nothing is deleted by age until the clock has gone evenly for `left` more of the product's work."""

    doubt: Doubt | None
    left: timedelta
    machine: str | None = None


@dataclass(frozen=True)
class ClockStatus:
    """`hold` is null where every clock is trusted; of several machines it is the longest. `changes`: newest first.

    `is_watched`: a worker watched its clock in the last day. Else nothing is known of clocks.
    """

    is_watched: bool
    hold: ExpiryHold | None
    changes: list[ClockChange]


def expiry_hold(boot: str) -> ExpiryHold | None:
    """Why the machine of `boot` deletes nothing by age; null: it may. One query."""
    row = MachineClock.objects.filter(boot=boot).first()
    if row is None:
        return ExpiryHold(None, TRUSTED_AFTER)
    return _hold(row)


def clock_status(now: datetime) -> ClockStatus:
    """Two queries."""
    watched = list(MachineClock.objects.filter(seen_at__gt=now - TOLD_FOR).order_by("-seen_at"))
    holds = [hold for hold in map(_hold, watched) if hold is not None]
    changes = ClockChange.objects.filter(at__gt=now - TOLD_FOR, at__lte=now)
    return ClockStatus(bool(watched), max(holds, key=lambda hold: hold.left, default=None), list(changes))


def hold_words(hold: ExpiryHold) -> str:
    why = {
        Doubt.NEW: _("The clock of %(machine)s has not been watched for a day yet"),
        Doubt.GAP: _("The clock of %(machine)s was not watched for more than a day"),
        Doubt.CHANGED: _("The clock of %(machine)s was set"),
        Doubt.DIFFERS: _("The clock of %(machine)s is ahead of another machine's"),
        None: _("The clock of %(machine)s is not watched yet"),
    }[hold.doubt] % {"machine": hold.machine or _("this machine")}
    # Hours count while something of the product works.
    return _("%(why)s: nothing is deleted by age until Consumerscope has run for another %(left)s.") % {
        "why": why,
        "left": age(hold.left.total_seconds()),
    }


def change_words(change: ClockChange) -> str:
    """What happened, and what it means."""
    named = {
        "machine": change.machine,
        "by": age(abs(change.seconds)),
        "before": when(change.before),
        "rows": counted("n_rows", sum(change.void.values())),
        "files": counted("n_files", change.files or 0),
    }
    if change.seconds > 0:
        happened = _("The clock of %(machine)s was set forward by %(by)s; it showed %(before)s.")
        means = _("If it is wrong now, set it: until then ages and times are wrong.")
    else:
        happened = _("The clock of %(machine)s was ahead by %(by)s until %(before)s, and was set back.")
        if not change.measured:
            happened = _("Times were recorded up to %(before)s, %(by)s ahead of the clock of %(machine)s.")
        means = _(
            "Times that had yet to come are void (%(rows)s, %(files)s of history): what began then counts "
            "from the correction. Rules are evaluated again."
        )
    return " ".join((happened % named, means % named, _("Nothing is deleted by age for 24 hours.")))


def _hold(row: MachineClock) -> ExpiryHold | None:
    left = TRUSTED_AFTER - timedelta(seconds=row.steady_seconds)
    return ExpiryHold(Doubt(row.doubt), left, row.name) if left > timedelta() else None
