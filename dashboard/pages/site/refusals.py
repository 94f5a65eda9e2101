"""What people are shown instead of a page: that their request is wrong, is not theirs to make, or leads nowhere.

Whoever is logged in keeps the frame, with its ways to other pages.
"""

from copy import copy

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.rest.problems import plain_problem
from dashboard.pages.common.frame import Frame, context, frame_of

from .problems import WrongQuery, is_of_the_api


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_of_the_api(request):
        return plain_problem(400, "This request makes no sense.")
    return wrong(request, str(exception) if isinstance(exception, WrongQuery) else _("This request is not valid."))


def wrong(request: HttpRequest, sentence: str, status: int = 400) -> HttpResponse:
    return refusal(request, _("Cannot show this page"), sentence, status)


def not_allowed(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_of_the_api(request):
        return plain_problem(403, "This is not allowed.")
    sentence = str(exception) or _("You do not have permission to see this page. Ask an administrator for access.")
    return refusal(request, _("Not allowed"), sentence, 403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_of_the_api(request):
        return plain_problem(404, f"There is no {request.path}.")
    # A path that no page has carries a table of all addresses as its exception: not for readers.
    message = exception.args[0] if exception.args and isinstance(exception.args[0], str) else ""
    return refusal(request, _("Not found"), message or _("There is no page at this address."), 404)


def refusal(request: HttpRequest, title: str, sentence: str, status: int) -> HttpResponse:
    frame = _frame(request)
    shown = {"title": title, "sentence": sentence, "has_no_range": True, "has_no_clusters": True}
    return render(request, "refusal.html", shown if frame is None else context(frame, **shown), status=status)


def _frame(request: HttpRequest) -> Frame | None:
    """Of all clusters and the usual range, as those of the address may be what is wrong. None where nobody is logged
    in, and for a part of a page: the page has its own.
    """
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated or request.headers.get("HX-Request") == "true":
        return None
    plain = copy(request)
    plain.GET = QueryDict()
    return frame_of(plain, timezone.now())
