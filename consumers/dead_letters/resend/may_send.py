"""Whether messages may still be sent at this very moment: what was allowed when somebody started the re-send."""

from uuid import UUID

from consumers.errands.read_only import why_read_only
from consumers.models import Resend

MAY_RESEND = "consumers.resend_dead_letters"


def why_not_sent(resend_id: UUID) -> str | None:
    """Null where they may. Some queries: neither a task's arguments nor what an earlier look remembers is believed."""
    resend = Resend.objects.select_related("group__cluster", "started_by").get(pk=resend_id)
    if against := why_read_only(resend.group.cluster.name):
        return against
    name = resend.started_by_name or "somebody"
    if resend.started_by is None:
        return f"The account of {name}, who started it, is gone. Plan anew."
    if not resend.started_by.has_perm(MAY_RESEND):
        return f"{name}, who started it, has lost the permission {MAY_RESEND}. Somebody who has it can plan anew."
    return None
