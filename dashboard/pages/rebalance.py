"""One rebalance: what it was told by, who held which queue before and after, and what it cost."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.selectors.rebalances.detail import rebalance_detail
from consumers.selectors.rebalances.rows import RebalanceDetail
from dashboard.plotly_files import PATH

from .access import page, part
from .chart_policy import with_charts
from .frame import context, frame_of
from .lag_around import figure_around
from .problems import UnknownFilter
from .rebalance_view import member_lines, topic_views
from .rebalances import lines_of


@with_charts
@page
def rebalance(request: HttpRequest, cluster: str, group: str, at: str) -> HttpResponse:
    return render(
        request, "pages/rebalance.html", rebalance_context(request, cluster, group, at) | {"plotly": static(PATH)}
    )


@part
def rebalance_part(request: HttpRequest, cluster: str, group: str, at: str) -> HttpResponse:
    return render(
        request, "fragments/rebalance.html", {**rebalance_context(request, cluster, group, at), "is_part": True}
    )


@page
def rebalance_figure(request: HttpRequest, cluster: str, group: str, at: str) -> HttpResponse:
    return JsonResponse(figure_around(found_or_404(cluster, group, at), timezone.now()))


def rebalance_context(request: HttpRequest, cluster: str, group: str, at: str) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    every = request.GET.get("all", "")
    if every not in ("", "1"):
        raise UnknownFilter("all", every, ["1"])
    detail = found_or_404(cluster, group, at)
    return context(
        frame,
        event=detail,
        members=member_lines(detail),
        topics=topic_views(detail, all_moves=every == "1"),
        others=lines_of(frame, detail.others_of_episode),
        of_group=frame.to("rebalances", group=group, cluster=cluster),
        group_href=frame.group(cluster, group),
        every_move=frame.here(all="1"),
    )


def found_or_404(cluster: str, group: str, at: str) -> RebalanceDetail:
    detail = rebalance_detail(cluster, group, at)
    if detail is None:
        words = {"group": group, "cluster": cluster, "at": at}
        raise Http404(_("No rebalance of “%(group)s” on “%(cluster)s” was first seen at %(at)s.") % words)
    return detail
