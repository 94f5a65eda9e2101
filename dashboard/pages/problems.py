"""A request that cannot be shown as asked is refused, with a sentence that says what is allowed."""

import sys
from collections.abc import Iterable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.defaults import server_error as of_django

from consumers.api.http.problems import plain_problem
from consumers.errands.database_away import is_database_away

from .away import database_away

# Whoever asks these is no reader of pages.
API = ("/api/", "/metrics")


class WrongQuery(BadRequest):
    """str() is one sentence for the reader."""


class UnknownFilter(WrongQuery):
    def __init__(self, name: str, value: str, allowed: Iterable[str]) -> None:
        words = {"name": name, "value": value, "allowed": ", ".join(allowed)}
        super().__init__(_("“%(value)s” is no %(name)s. Allowed: %(allowed)s.") % words)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_of_the_api(request):
        return plain_problem(400, "This request makes no sense.")
    sentence = str(exception) if isinstance(exception, WrongQuery) else _("This request makes no sense.")
    return render(request, "400.html", {"sentence": sentence}, status=400)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_of_the_api(request):
        return plain_problem(404, f"There is no {request.path}.")
    # A path that no page has carries a table of all addresses as its exception: not for readers.
    said = exception.args[0] if exception.args and isinstance(exception.args[0], str) else ""
    return render(request, "404.html", {"sentence": said or _("There is no page at this address.")}, status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django has logged why. For pages its own bare answer: whatever failed may be what a page is made with."""
    if is_database_away(sys.exception()):
        return database_away(request, is_of_the_api=is_of_the_api(request))
    if is_of_the_api(request):
        return plain_problem(500, "The site has failed to answer this. Its log says why.")
    return of_django(request)


def is_of_the_api(request: HttpRequest) -> bool:
    return request.path.startswith(API)
