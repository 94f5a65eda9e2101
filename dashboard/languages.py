"""The language of an answer: what the asker chose, in a cookie; else what the browser prefers; else English.

It comes before all other middleware: whatever refuses a request speaks the asker's language, and not that of whoever
asked this thread before.
"""

from typing import Any

from django.conf import settings
from django.core.signals import request_finished
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.utils.cache import patch_vary_headers

# What machines read has one language, whoever asks.
ENGLISH_ONLY = ("/metrics", "/healthz", "/readyz")


class Languages(LocaleMiddleware):
    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        if request.path_info in ENGLISH_ONLY:
            translation.activate("en")
            request.LANGUAGE_CODE = "en"

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Django's own names the header alone: a cache would give one reader the language of another."""
        if request.path_info.startswith(settings.STATIC_URL):
            return response
        answer: HttpResponseBase = super().process_response(request, response)
        if request.path_info not in ENGLISH_ONLY:
            patch_vary_headers(answer, ("Cookie",))
        return answer


def _forget(**_signal: Any) -> None:
    """Once the answer is sent to its end, streams too."""
    translation.deactivate()


request_finished.connect(_forget, dispatch_uid="dashboard.languages")
