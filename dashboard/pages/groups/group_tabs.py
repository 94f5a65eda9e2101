"""Tabs of a group, and the group of an address."""

from dataclasses import dataclass

from django.http import Http404
from django.utils.translation import gettext as _

from consumers.models import ConsumerGroup
from consumers.queries.groups import find_group
from dashboard.pages.common.frame import Frame

# The tabs of a group's page. Each has an address of its own; cluster and range go along.
# Pages that a tab leads to.
LIES_UNDER: dict[str, str] = dict.fromkeys(
    ("group_dlq", "group_dlq_part", "dlq_message", "resends", "resend", "resend_plan"), "group_retries"
) | dict.fromkeys(
    (
        "group_resets",
        "reset_plan",
        "reset",
        "reset_part",
        "reset_apply",
        "reset_resume",
        "reset_restore",
        "reset_cancel",
    ),
    "group_offsets",
)


@dataclass(frozen=True)
class Tab:
    name: str
    label: str
    href: str
    current: bool


def tabs(frame: Frame, cluster: str, group: str) -> list[Tab]:
    here = frame.request.resolver_match.url_name if frame.request.resolver_match else ""
    here = LIES_UNDER.get(here or "", here)
    labels = (
        ("group", _("Lag")),
        ("group_ownership", _("Ownership")),
        ("group_retries", _("Retries & DLQ")),
        ("group_offsets", _("Offsets")),
    )
    return [Tab(name, label, frame.to(name, cluster, group), here in (name, f"{name}_part")) for name, label in labels]


def group_or_404(cluster: str, name: str) -> ConsumerGroup:
    """The group that an address names, or a page that says it is not there."""
    group = find_group(cluster, name)
    if group is None:
        raise Http404(_("No group “%(group)s” is known on “%(cluster)s”.") % {"group": name, "cluster": cluster})
    return group
