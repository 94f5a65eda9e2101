"""One evaluation's columns: only those that a rule needs."""

from collections.abc import Sequence
from datetime import datetime

from consumers.alerts.measured import Measured
from consumers.models import AlertRule


def measured(now: datetime, rules: Sequence[AlertRule]) -> Measured:
    """Of user groups that are no ghosts, their brokers, their clusters and the site, for the enabled ones of `rules`.

    Columns that no rule needs are left out, as is a topic that none names.
    """
    raise NotImplementedError
