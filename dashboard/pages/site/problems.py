"""Answers to wrong requests, with a sentence that says what is allowed; and the answer while the database does not
respond."""

import sys
from collections.abc import Iterable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.defaults import server_error as of_django

from consumers.jobs.hold import is_database_away
from consumers.rest.problems import plain_problem

from .theme import theme_of

# What is answered while the database does not answer: 503, and when to ask again, in the form that the asker reads.
# Made without the request's user, session and messages: all of them lie in the database.

AGAIN_SECONDS = 5


def database_away(request: HttpRequest, *, is_of_the_api: bool) -> HttpResponse:
    if is_of_the_api or not request.accepts("text/html"):
        answer: HttpResponse = plain_problem(503, "The database does not answer: try again.")
    elif request.headers.get("HX-Request") == "true":
        # The page that asked keeps what it shows, marks it as old, says this sentence and asks again.
        answer = HttpResponse(_("the database does not answer"), status=503, content_type="text/plain; charset=utf-8")
    else:
        answer = _page(request)
    answer.headers["Retry-After"] = str(AGAIN_SECONDS)
    add_never_cache_headers(answer)
    return answer


def _page(request: HttpRequest) -> HttpResponse:
    """One that was sent something must not send it again by itself."""
    is_read = request.method in ("GET", "HEAD")
    context = {**theme_of(request), "here": request.get_full_path() if is_read else None, "every": AGAIN_SECONDS}
    return HttpResponse(render_to_string("503.html", context), status=503)


# Whoever asks these is no reader of pages.
API = ("/api/", "/metrics")


class WrongQuery(BadRequest):
    """str() is one sentence for the reader."""


class UnknownFilter(WrongQuery):
    def __init__(self, name: str, value: str, allowed: Iterable[str]) -> None:
        words = {"name": name, "value": value, "allowed": ", ".join(allowed)}
        super().__init__(_("“%(value)s” is not a valid %(name)s. Allowed: %(allowed)s.") % words)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django has logged why. For pages its own bare answer: whatever failed may be what a page is made with."""
    if is_database_away(sys.exception()):
        return database_away(request, is_of_the_api=is_of_the_api(request))
    if is_of_the_api(request):
        return plain_problem(500, "The site has failed to answer this. Its log says why.")
    return of_django(request)


def is_of_the_api(request: HttpRequest) -> bool:
    return request.path.startswith(API)
