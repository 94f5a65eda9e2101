"""The picture of who owned which queue, as JSON for the browser to draw."""

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.ownership.timeline.timeline import timeline
from consumers.queries.windows import window_range
from dashboard.figures.ownership_timeline import ownership_timeline
from dashboard.pages.common.access import page
from dashboard.pages.common.figures import marks_of
from dashboard.pages.common.moments import moment_of
from dashboard.pages.common.ranges import range_of
from dashboard.pages.rebalances.rebalance_spans import rebalance_spans


@page
def ownership(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    now = timezone.now()
    shown = range_of(request, now)
    # Where the axis of the lag begins, above it.
    since = window_range(shown.since, shown.until).start
    found = timeline(cluster, group, since=since, until=now, topic=request.GET.get("topic") or None)
    if found is None:
        raise Http404(_("No group “%(group)s” is known on “%(cluster)s”.") % {"group": group, "cluster": cluster})
    changes, spans = marks_of(cluster, group, shown), rebalance_spans(cluster, group, shown)
    return JsonResponse(ownership_timeline(found, changes, spans, since=since, until=now, at=moment_of(request, now)))
