"""Middleware of the site: language of the reader, proxies in front, and requests with zero bytes."""

import ipaddress
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.signals import request_finished
from django.http import Http404, HttpRequest, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.middleware.common import CommonMiddleware
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

from consumers.models.asked_once import one_answer
from dashboard.pages.site.problems import WrongQuery, is_of_the_api

PROBED = ("/healthz", "/readyz")


class CommonForAnyProbe(CommonMiddleware):
    """Django's own refuses names that ALLOWED_HOSTS lacks. These answers hold no address of the site."""

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        return None if request.path_info in PROBED else super().process_request(request)


# What machines read has one language, whoever asks.
ENGLISH_ONLY = ("/metrics", "/healthz", "/readyz")


class Languages(LocaleMiddleware):
    """Sets the language of an answer: the visitor's choice, in a cookie; else what the browser prefers; else English.
    It comes before all other middleware, so that every refusal is in the visitor's language, and not in that of the
    thread's previous visitor."""

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


class AskedOnce:
    """The database is asked once for what several parts of an answer show. A stream asks by itself."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.method not in ("GET", "HEAD"):
            return self._get_response(request)
        with one_answer():
            return self._get_response(request)


def _forget(**_signal: Any) -> None:
    """Once the answer is sent to its end, streams too."""
    translation.deactivate()


request_finished.connect(_forget, dispatch_uid="dashboard.middleware")


# Where a request came from, behind proxies that CONSUMERSCOPE_TRUSTED_PROXIES names.
#
# Everybody can send X-Forwarded-For. Without the setting the client is whoever is connected.
IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

HEADER = "HTTP_X_FORWARDED_FOR"


class BehindProxies:
    """Sets REMOTE_ADDR to the client's address, and the scheme to https where people reach the site by it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        client = client_address(request.META.get("REMOTE_ADDR", ""), request.META.pop(HEADER, ""))
        request.META["REMOTE_ADDR"] = client
        if settings.CONSUMERSCOPE_HTTPS:
            request.META["wsgi.url_scheme"] = "https"
        return self._get_response(request)


def client_address(connected: str, forwarded: str) -> str:
    """Each proxy appends who was connected to it: the first from the end that is no trusted proxy is the client."""
    client = connected
    for hop in reversed(forwarded.split(",")):
        if not _is_trusted(client):
            break
        address = _address(hop)
        if address is None:
            break
        client = str(address)
    return client


def _is_trusted(text: str) -> bool:
    address = _address(text)
    return address is not None and any(address in network for network in settings.CONSUMERSCOPE_TRUSTED_PROXIES)


def _address(text: str) -> IpAddress | None:
    """Some proxies write a port behind it. An IPv4 address in IPv6's clothes is that IPv4 address."""
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return None
    return (found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None) or found


# Requests whose address or cookies hold a zero byte: no name has one, and PostgreSQL refuses to look for it.
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
