"""Groups' parts of the topics that rules name."""

from collections.abc import Mapping, Set

from consumers.alerts.measured import Table
from consumers.alerts.rules.notes import Notes
from consumers.models import Measure

from .scan import GroupScan


def topics(scan: GroupScan, notes: Notes, wanted: Mapping[str, Set[Measure]]) -> dict[str, Table]:
    """`wanted`: the measures of each topic. Groups that have no offsets of a topic are not in its table."""
    return {}
