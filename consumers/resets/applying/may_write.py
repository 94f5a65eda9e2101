"""Whether offsets may still be written at this very moment: what was allowed when somebody let a plan be applied."""

from datetime import datetime
from uuid import UUID

from consumers.jobs.wires import why_read_only
from consumers.models import Reset
from consumers.resets.acts.acts import MAY_RESET
from consumers.resets.overdue import TAKEN_UP_WITHIN

GONE = "the group is not known any more."


def why_not_written(reset_id: UUID) -> str | None:
    """Null where it may. Some queries: nothing that an earlier look remembers is believed."""
    reset = Reset.objects.select_related("applied_by").get(pk=reset_id)
    if against := why_read_only(reset.cluster_name):
        return against
    if reset.group_id is None:
        return GONE
    name = reset.applied_by_name or "somebody"
    if reset.applied_by is None:
        return f"the account of {name}, who let it be applied, is gone. Plan anew."
    if not reset.applied_by.has_perm(MAY_RESET):
        return f"{name}, who let it be applied, has lost the permission {MAY_RESET}. Somebody who has it can plan anew."
    return None


def why_too_late(reset: Reset, now: datetime) -> str | None:
    """`reset` as it was before this worker took it up. Null where a worker was on it lately."""
    since = reset.working_at or reset.started_at
    if since is None or now - since <= TAKEN_UP_WITHIN:
        return None
    minutes = int(TAKEN_UP_WITHIN.total_seconds() // 60)
    return f"no worker was on it for more than {minutes} minutes, and the group may have moved on since. Plan anew."
