"""Offsets of a group that are gone from their brokers: where to reset it to, and who took note of the loss."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from consumers.groups.queue_list import group_queues
from consumers.groups.queue_rows import QueueRow
from consumers.models import ConsumerGroup, LossAcknowledgement, ResetKind
from consumers.resets.acts import acknowledge_loss, why_not_acknowledged
from consumers.resets.permission import MAY_RESET, why_no_role
from consumers.resets.wish import ResetRefused
from consumers.vocabulary.rules import RuleCode
from dashboard.pages.common.frame import Frame, context, frame_of
from dashboard.pages.groups.group_tabs import group_or_404, tabs
from dashboard.pages.resets.reset_where import place_of

# An address takes only so many; beyond that the reset is of all queues of the brokers concerned.
NAMED_IN_ADDRESS = 40


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def lost_offsets(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    found = group_or_404(cluster, group)
    if request.method != "POST":
        return _shown(request, found)
    if not request.user.has_perm(MAY_RESET):
        raise PermissionDenied(why_no_role())
    try:
        acknowledge_loss(found, request.user, timezone.now())
    except ResetRefused as refusal:
        return _shown(request, found, str(refusal), status=409)
    return HttpResponseRedirect(request.path)


def _shown(request: HttpRequest, group: ConsumerGroup, refusal: str = "", status: int = 200) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    shown = {
        "group": group,
        "group_href": frame.group(group.cluster.name, group.name),
        "tabs": tabs(frame, group.cluster.name, group.name),
        "refusal": refusal,
        "against": why_not_acknowledged(group, request.user),
        "acknowledgements": LossAcknowledgement.objects.filter(group=group)[:20],
        **loss_context(frame, group.cluster.name, group.name, group_queues(group, now=frame.now)),
    }
    return render(request, "offsets/lost_offsets.html", context(frame, **shown), status=status)


def loss_context(frame: Frame, cluster: str, group: str, rows: Sequence[QueueRow]) -> dict[str, Any]:
    """Of the queues whose offset is lost, with the address that plans to bring each, and all, back."""
    lost = [row for row in rows if row.rule_code == RuleCode.OFFSET_LOST]
    return {
        "lost": [(row, _plan(frame, cluster, group, [row])) for row in lost],
        "restore_href": _plan(frame, cluster, group, lost),
        "acknowledge_href": frame.to("lost_offsets", cluster, group),
    }


def _plan(frame: Frame, cluster: str, group: str, rows: Sequence[QueueRow]) -> str | None:
    """To where they stood at the last reading that had all of them; null where none is known."""
    times = [row.lost_at for row in rows if row.lost_at is not None]
    if not times:
        return None
    what: dict[str, Any] = {"kind": ResetKind.MOMENT.value, "value": min(times).isoformat()}
    if len(rows) <= NAMED_IN_ADDRESS:
        what["queue"] = [place_of(row) for row in rows]
    else:
        what["broker"] = sorted({row.broker for row in rows})
    return frame.to_many("reset_plan", cluster, group, **what, reason=_("Committed offsets were lost."))
