"""A rule of stalled groups over what was judged of members that fail: for which of them it fires."""

from datetime import datetime

from django.utils import timezone

from consumers.alerts.evaluation.run import evaluate
from consumers.models import Incident
from tests.alert_rows import a_rule

# So much shorter than on a site that a stall shows within seconds.
JUDGED_SOON = {"window_seconds": 20, "window_readings": 1, "provisional_seconds": 5, "allowance_seconds": 5}
JUDGED_SOON |= {"stall_seconds": 15}


def tell_of_stalls() -> None:
    a_rule(
        "Stalled", measure="state", comparison="in", threshold=None, states=["STALL"], for_seconds=0, clear_seconds=0
    )


def stalled(now: datetime) -> dict[str, str]:
    """How the newest incident of each group stands, after an evaluation at `now`."""
    evaluate(now, timezone.now)
    return dict(Incident.objects.order_by("started_at").values_list("group_name", "status"))
