"""Where a request came from, behind proxies that CONSUMERSCOPE_TRUSTED_PROXIES names.

Everybody can send X-Forwarded-For. Without the setting the client is whoever is connected.
"""

import ipaddress
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

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
        said = _address(hop)
        if said is None:
            break
        client = str(said)
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
