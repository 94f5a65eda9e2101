"""Requests whose address or cookies hold a zero byte: no name has one, and PostgreSQL refuses to look for it."""

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from dashboard.pages.site.problems import WrongQuery, is_of_the_api

ZERO, ENCODED = "\0", "%00"


class WithoutZeroBytes:
    """Goes before everything that reads cookies."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        for name in [name for name, value in request.COOKIES.items() if ZERO in value]:
            del request.COOKIES[name]
        return self._get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        if ZERO in request.path_info:
            raise Http404(_("There is no page at this address."))
        # The API says which parameter is wrong.
        if ENCODED in request.META.get("QUERY_STRING", "") and not is_of_the_api(request):
            raise WrongQuery(_("The address holds a zero byte (%00): take it out."))
