"""Tests the connection to a cluster: the page asks, and a part of it shows what each call was answered with."""

from dataclasses import dataclass
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
from dashboard.pages.common.frame import Frame, context, frame_of, page, part


@dataclass(frozen=True)
class CheckView:
    """Awaited while it has neither a check nor a sentence. `token` is null where nothing was asked."""

    token: str | None = None
    check: ConnectionCheck | None = None
    sentence: str = ""

    @property
    def is_awaited(self) -> bool:
        return self.token is not None and self.check is None and not self.sentence


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
        shown = _shown(request, found) | {"view": CheckView(sentence=str(down))}
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
        view=_view(frame, cluster) if may else CheckView(),
        show=frame.here(),
    )


def _view(frame: Frame, cluster: Cluster) -> CheckView:
    token, user_id = frame.request.GET.get("look"), frame.request.user.pk
    if not token or user_id is None:
        return CheckView()
    try:
        answer = check_answer(user_id, token, cluster.name)
    except RedisDown as down:
        return CheckView(token, sentence=str(down))
    if answer is None:
        return CheckView(token, sentence=_("This test has expired: results are retained for 5 minutes."))
    return CheckView(token, answer.result, answer.reason_at(frame.now, CHECK_PATIENCE) or "")
