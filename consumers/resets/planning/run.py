"""A plan with its cluster's connections: what the task calls."""

from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _

from consumers.errands.ports import Ports
from consumers.errands.wires import connected
from consumers.models import Reset
from consumers.polling.registration.access import NoAccess
from consumers.polling.wire import WireClosed
from consumers.resets.overdue import refuse_unplanned

from .plan import Clock, make_plan


def run_plan(reset_id: UUID, clock: Clock) -> None:
    """Nothing where it is planned already, or was given up."""
    reset = Reset.objects.select_related("group__cluster").get(pk=reset_id)
    if reset.group is None:
        refuse_unplanned(reset_id, _("The group %s is not known any more.") % reset.group_name, clock())
        return
    try:
        wire = connected(reset.group.cluster)
    except (NoAccess, WireClosed) as reason:
        refuse_unplanned(reset_id, str(reason), clock())
        return
    make_plan(reset_id, Ports.of(reset.group.cluster, wire, settings.POLL_CALL_DEADLINE_SECONDS), clock)
