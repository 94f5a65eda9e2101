"""Members that have not said what they hold."""

from django.db.models import Q

from consumers.models import Client


def silent_groups() -> dict[int, str]:
    """Groups with a member whose newest answer, if any, told nothing, and who that is. One query."""
    rows = Client.objects.filter(Q(running_info_at=None) | Q(running_info_error__isnull=False), gone_by=None)
    return dict(rows.values_list("group_id", "client_id"))
