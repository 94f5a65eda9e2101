"""Applies, resumes, restores or cancels a reset, and shows its page again: with the reason, where that was refused."""

from collections.abc import Callable
from functools import wraps
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from consumers.models import Reset
from consumers.resets.acts import apply, cancel, restore, resume
from consumers.resets.permission import MAY_RESET, why_no_role
from consumers.resets.tasks import hand_over
from consumers.resets.wish import ResetRefused

from .reset import reset_context
from .reset_plan import ask_for_plan, asker_of

# Does it, and gives the reset whose page is shown.
Act = Callable[[HttpRequest, Reset], Reset]


def act(do: Act) -> Callable[..., HttpResponse]:
    @require_POST
    @login_required
    @wraps(do)
    def view(request: HttpRequest, reset: UUID) -> HttpResponse:
        if not request.user.has_perm(MAY_RESET):
            raise PermissionDenied(why_no_role())
        row = Reset.objects.select_related("group__cluster").filter(pk=reset).first()
        if row is None:
            raise Http404(_("There is no such reset."))
        try:
            shown = do(request, row)
        except ResetRefused as refusal:
            return render(request, "resets/reset.html", reset_context(request, reset, str(refusal)), status=409)
        return HttpResponseRedirect(reverse("reset", args=[shown.pk]))

    return view


@act
def reset_apply(request: HttpRequest, reset: Reset) -> Reset:
    apply(reset, asker_of(request), typed(request), timezone.now())
    hand_over(reset.pk)
    return reset


@act
def reset_resume(request: HttpRequest, reset: Reset) -> Reset:
    resume(reset, asker_of(request), typed(request), timezone.now())
    hand_over(reset.pk)
    return reset


@act
def reset_restore(request: HttpRequest, reset: Reset) -> Reset:
    """Leads to the plan that would bring back what was before."""
    clip, reason = request.POST.get("clip") == "1", request.POST.get("reason", "").strip()
    plan = restore(reset, asker_of(request), reason, timezone.now(), clip=clip)
    ask_for_plan(plan)
    return plan


@act
def reset_cancel(request: HttpRequest, reset: Reset) -> Reset:
    cancel(reset, asker_of(request), timezone.now())
    return reset


def typed(request: HttpRequest) -> str:
    return request.POST.get("confirm", "").strip()
