"""Tests the connection to a cluster: the page asks, and a part of it shows what each call was answered with."""

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required, permission_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from consumers.clusters.connection import CHECK_PATIENCE, MAY_CHECK, ConnectionCheck, ask_check, check_answer
from consumers.jobs.asking import RedisDown
from consumers.models import Cluster
from dashboard.pages.common.awaited import AwaitedAnswer, awaited_answer
from dashboard.pages.common.frame import Frame, context, frame_of, page, part


@page
def connection(request: HttpRequest, cluster: str) -> HttpResponse:
    return render(request, "clusters/connection.html", _shown(request, _cluster(cluster)))


@part
def connection_part(request: HttpRequest, cluster: str) -> HttpResponse:
    return render(request, "clusters/connection_part.html", _shown(request, _cluster(cluster)))


@require_POST
@never_cache
@login_required
@permission_required(MAY_CHECK, raise_exception=True)
def connection_check(request: HttpRequest, cluster: str) -> HttpResponse:
    """Asks for a test; the page shows its result."""
    found = _cluster(cluster)
    try:
        token = ask_check(request.user, found.name, timezone.now())
    except RedisDown as down:
        shown = _shown(request, found) | {"view": AwaitedAnswer(sentence=str(down))}
        return render(request, "clusters/connection.html", shown, status=503)
    return HttpResponseRedirect(f"{reverse('connection', args=(cluster,))}?{urlencode({'look': token})}")


def _cluster(name: str) -> Cluster:
    found = Cluster.objects.filter(name=name).first()
    if found is None:
        raise Http404(_("No cluster is registered under the name “%s”.") % name)
    return found


def _shown(request: HttpRequest, cluster: Cluster) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    may = request.user.has_perm(MAY_CHECK)
    return context(
        frame,
        cluster=cluster,
        may_check=may,
        permission=MAY_CHECK,
        view=_view(frame, cluster) if may else AwaitedAnswer(),
        show=frame.here(),
    )


def _view(frame: Frame, cluster: Cluster) -> AwaitedAnswer[ConnectionCheck]:
    token, user_id = frame.request.GET.get("look"), frame.request.user.pk
    if not token or user_id is None:
        return AwaitedAnswer()
    return awaited_answer(
        token,
        lambda: check_answer(user_id, token, cluster.name),
        now=frame.now,
        patience=CHECK_PATIENCE,
        expired=_("This test has expired: results are retained for 5 minutes."),
    )
