"""What every answer of the API has beside its document: an ETag, and 304 where the caller has that document already.

The answer is made all the same, as what is known changes with every reading: a 304 saves its way and its parsing.
"""

from collections.abc import Callable
from hashlib import blake2b

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags

API = "/api/"
# A 304 repeats these (RFC 9110, 15.4.5).
KEPT = ("ETag", "Cache-Control", "Vary", "RateLimit", "RateLimit-Policy")


class ConditionalAnswers:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        answer = self._get_response(request)
        return _finished(request, answer) if request.path.startswith(API) else answer


def _finished(request: HttpRequest, answer: HttpResponseBase) -> HttpResponseBase:
    patch_vary_headers(answer, ("Accept", "Authorization", "Cookie"))
    if (rate := getattr(request, "rate", None)) is not None:
        for name, value in rate.headers().items():
            answer.headers[name] = value
    is_read = request.method in ("GET", "HEAD") and answer.status_code == 200
    answer.headers.setdefault("Cache-Control", "private, no-cache" if is_read else "no-store")
    if request.method == "HEAD" and answer.streaming:
        answer.streaming_content = iter(())  # type: ignore[attr-defined]
    if not is_read or not isinstance(answer, HttpResponse):
        return answer
    # Weak: two that differ in nothing but how they were packed on the way are the same.
    etag = answer.headers["ETag"] = f'W/"{blake2b(answer.content, digest_size=12).hexdigest()}"'
    asked = parse_etags(request.headers.get("If-None-Match", ""))
    if "*" in asked or etag.removeprefix("W/") in [one.removeprefix("W/") for one in asked]:
        return HttpResponseNotModified(headers={name: answer.headers[name] for name in KEPT if name in answer.headers})
    return answer
