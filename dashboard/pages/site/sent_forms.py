"""Forms that were sent in vain, and addresses that only forms are sent to: neither ends on an empty page."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware import csrf
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from consumers.rest.problems import plain_problem

from .problems import WrongQuery, is_of_the_api
from .refusals import refusal

# How Django begins these reasons, with the address at their end.
OF_ANOTHER_ADDRESS = tuple(words.partition(" - ")[0] for words in (csrf.REASON_BAD_ORIGIN, csrf.REASON_BAD_REFERER))


class SentForms:
    """Sits inside the middleware of sessions, users and messages."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        answer = self._get_response(request)
        if answer.status_code == 405 and request.method == "GET" and not is_of_the_api(request):
            return _not_a_page(request, answer.headers["Allow"])
        if request.method == "POST" and answer.headers.get("Location") == _login(request.get_full_path()):
            # The login leads to an address by GET, and a form's may take none.
            messages.warning(request, _("You were logged out before you sent this: nothing was done. Send it again."))
            answer.headers["Location"] = _login(_page_of_form(request))
        return answer

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        """A field with a zero byte is refused: no text has one, and PostgreSQL stores none. The API's bodies are JSON,
        and refused where they are read (JsonBody).
        """
        if request.method != "POST" or is_of_the_api(request):
            return
        sent = [(name, [name, *map(str, values)]) for name, values in request.POST.lists()]
        sent += [(name, [name, *(file.name or "" for file in files)]) for name, files in request.FILES.lists()]
        for name, texts in sent:
            if any("\0" in text for text in texts):
                words = {"name": name.replace("\0", "%00")}
                raise WrongQuery(_("The field “%(name)s” holds a zero byte: take it out.") % words)


def _not_a_page(request: HttpRequest, allowed: str) -> HttpResponse:
    sentence = _("This address only takes what a form sends: nothing was done.")
    answer = refusal(request, _("Not a page"), sentence, 405)
    answer.headers["Allow"] = allowed
    return answer


def _page_of_form(request: HttpRequest) -> str:
    """The page that the form was on, where the browser says which; else the overview."""
    sent_from = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(sent_from, {request.get_host()}, require_https=request.is_secure()):
        return reverse("overview")
    page = urlsplit(sent_from)
    return f"{page.path}?{page.query}" if page.query else page.path


def _login(page: str) -> str:
    return redirect_to_login(page).url


def unsent(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Whose token is missing or of another session, as after a login in another window. For CSRF_FAILURE_VIEW.

    `reason`: Django's; only two of them have a remedy of their own."""
    if is_of_the_api(request):
        return plain_problem(403, reason)
    if reason == csrf.REASON_NO_CSRF_COOKIE:
        sentence = _("Your browser sent no cookie with this form: nothing was done. Allow cookies for this site.")
    elif reason.startswith(OF_ANOTHER_ADDRESS):
        sentence = _(
            "This form came from an address that is not the site’s own: nothing was done. Behind a proxy, an "
            "administrator lists the address in CONSUMERSCOPE_TRUSTED_ORIGINS."
        )
    else:
        sentence = _("This form is from another session: nothing was done. Open its page again and send it from there.")
    return refusal(request, _("Not sent"), sentence, 403)
