"""Starts or cancels a re-send, and shows its page again: with the reason, where that was refused."""

from collections.abc import Callable
from functools import wraps
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from consumers.dead_letters.resend.start import NotCancelled, NotStarted, cancel, start
from consumers.dead_letters.tasks import hand_over
from consumers.models import Resend

from .resend import resend_context
from .resend_plan import MAY_RESEND, not_allowed

Act = Callable[[HttpRequest, Resend], None]


def act(do: Act) -> Callable[..., HttpResponse]:
    @require_POST
    @login_required
    @wraps(do)
    def view(request: HttpRequest, cluster: str, group: str, resend: UUID) -> HttpResponse:
        if not request.user.has_perm(MAY_RESEND):
            raise not_allowed()
        found = Resend.objects.select_related("group__cluster").filter(
            pk=resend, group__name=group, group__cluster__name=cluster
        )
        row = found.first()
        if row is None:
            raise Http404(_("No such resend."))
        try:
            do(request, row)
        except (NotStarted, NotCancelled) as refusal:
            shown = resend_context(request, cluster, group, resend, str(refusal))
            return render(request, "dead_letters/resend.html", shown, status=409)
        return HttpResponseRedirect(reverse("resend", args=[cluster, group, resend]))

    return view


@act
def resend_start(request: HttpRequest, resend: Resend) -> None:
    start(resend, request.user, request.POST.get("confirm", "").strip(), timezone.now())
    hand_over(resend.pk)


@act
def resend_cancel(request: HttpRequest, resend: Resend) -> None:
    cancel(resend, request.user, timezone.now())
