"""The account of who is logged in: API tokens and the password."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.views import PasswordChangeView
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from consumers.models import ApiToken
from consumers.rest.access import make_token, note_password, revoke_token
from consumers.vocabulary.states import State
from consumers.words.states import MEANINGS, REMEDIES, STATES
from dashboard.pages.common.frame import context, form_page, frame_of, page
from dashboard.pages.common.removal import Removal, removal
from dashboard.pages.site.sign_on_people import roles_now

LIFETIMES = [
    ("30", gettext_lazy("30 days")),
    ("90", gettext_lazy("90 days")),
    ("365", gettext_lazy("1 year")),
    ("", gettext_lazy("no expiry")),
]
DEFAULT_LIFETIME = "90"


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100, label=gettext_lazy("Name"))
    days = forms.ChoiceField(choices=LIFETIMES, required=False, label=gettext_lazy("Expires after"))

    def expires_at(self, now: datetime) -> datetime | None:
        days = self.cleaned_data["days"]
        return now + timedelta(days=int(days)) if days else None


@form_page
def tokens(request: HttpRequest) -> HttpResponse:
    """A new token is shown in the answer to the form that made it, and never again."""
    if request.method != "POST":
        return _tokens(request, TokenForm(initial={"days": DEFAULT_LIFETIME}))
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _tokens(request, form, status=400)
    now = timezone.now()
    made = make_token(request.user, form.cleaned_data["name"], form.expires_at(now), now)  # type: ignore[arg-type]
    return _tokens(request, TokenForm(initial={"days": DEFAULT_LIFETIME}), made=made)


@removal
def token_revoke(request: HttpRequest, token: int) -> Removal:
    """Of one's own: another's is not there."""
    row = ApiToken.objects.filter(pk=token, user=request.user.pk).first()
    if row is None:
        raise Http404(_("There is no such token."))
    return Removal(
        title=_("Revoke the token %(name)s?") % {"name": row.name},
        effect=_("Requests with it are refused from then on."),
        label=_("Revoke"),
        done=_("Revoked the token %(name)s.") % {"name": row.name},
        back=reverse("tokens"),
        after=reverse("tokens"),
        remove=lambda: revoke_token(row, request.user, timezone.now()),  # type: ignore[arg-type]
    )


def _tokens(request: HttpRequest, form: TokenForm, *, made: str = "", status: int = 200) -> HttpResponse:
    now = timezone.now()
    rows = ApiToken.objects.filter(user=request.user.pk).order_by("-created_at", "-pk")
    shown: dict[str, Any] = {
        "form": form,
        "made": made,
        "roles": sorted(roles_now(request.user)),  # type: ignore[arg-type]
        "tokens": [(row, row.expires_at is not None and row.expires_at <= now) for row in rows],
    }
    return render(request, "account/tokens.html", context(frame_of(request, now), **shown), status=status)


@method_decorator(never_cache, name="dispatch")
class PasswordPage(PasswordChangeView):
    template_name = "account/password.html"
    success_url = reverse_lazy("password_changed")

    def form_valid(self, form: Any) -> HttpResponse:
        with transaction.atomic():
            answer = super().form_valid(form)
            note_password(form.user.pk, timezone.now())
        return answer

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        return super().get_context_data(**more) | context(frame_of(self.request, timezone.now()))


@page
def password_changed(request: HttpRequest) -> HttpResponse:
    return render(request, "account/password_changed.html", context(frame_of(request, timezone.now())))


# Language, and the legend of states.
# The language of the pages: chosen in the account menu or on the login page, kept in a cookie.
def languages_of(request: HttpRequest) -> dict[str, Any]:
    """Context of every template, also of those without a user. Each language by its own name."""
    return {"languages": [{"code": code, "name": name} for code, name in settings.LANGUAGES]}


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Open to all: it changes nothing but the asker's own cookie."""
    allowed = [code for code, _name in settings.LANGUAGES]
    if request.POST.get("language") not in allowed:
        return HttpResponse(f"language must be one of {', '.join(allowed)}.", status=400, content_type="text/plain")
    return set_language(request)


@page
def states(request: HttpRequest) -> HttpResponse:
    """The legend of states: what each means, and what to do about it."""
    lines = [(state, _beside(state), MEANINGS[state], REMEDIES[state]) for state in State]
    return render(request, "common/states.html", context(frame_of(request, timezone.now()), lines=lines))


def _beside(state: State) -> str:
    """Its word, where the code does not say the same."""
    word = str(STATES[state])
    return "" if word.upper() == state else word
