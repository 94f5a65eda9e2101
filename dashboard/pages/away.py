"""What is answered while the database does not answer: 503, and when to ask again, in the form that the asker reads.

Made without the request's user, session and messages: all of them lie in the database.
"""

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _

from consumers.api.http.problems import plain_problem

from .theme import theme_of

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
    said = {**theme_of(request), "here": request.get_full_path() if is_read else None, "every": AGAIN_SECONDS}
    return HttpResponse(render_to_string("503.html", said), status=503)
