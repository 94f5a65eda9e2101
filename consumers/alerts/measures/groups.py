"""The groups with their columns: each made only where a rule wants it."""

from collections.abc import Callable, Set

from consumers.alerts.measured import Column, Table
from consumers.alerts.rules.notes import Notes
from consumers.models import Measure

from .blocked import blocked
from .columns import drain, expired, lag, members, retry_share, time_lag
from .expiry import expiry
from .ownership import doubly_owned, unowned
from .scan import GroupScan
from .state import state
from .unknown import unknown
from .unsettled import unsettled
from .volumes import dlq_inflow, rebalances

COLUMNS: dict[Measure, Callable[[GroupScan], Column]] = {
    Measure.STATE: state,
    Measure.LAG: lag,
    Measure.TIME_LAG: time_lag,
    Measure.EXPIRY: expiry,
    Measure.DRAIN: drain,
    Measure.EXPIRED: expired,
    Measure.RETRY_SHARE: retry_share,
    Measure.DLQ_INFLOW: dlq_inflow,
    Measure.REBALANCES: rebalances,
    Measure.UNSETTLED: unsettled,
    Measure.UNOWNED: unowned,
    Measure.DOUBLY_OWNED: doubly_owned,
    Measure.BLOCKED: blocked,
    Measure.MEMBERS: members,
    Measure.UNKNOWN: unknown,
}


def groups(scan: GroupScan, notes: Notes, wanted: Set[Measure]) -> Table:
    columns = {measure: make(scan) for measure, make in COLUMNS.items() if measure in wanted}
    return Table(scan.subjects, columns, notes.labels(scan.subjects))
