"""Guards the addresses that take passwords: the login page, and that of the admin pages."""

import ipaddress
import logging
import secrets
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from hashlib import blake2b
from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.core import signing
from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from consumers.jobs.asking import counts

logger = logging.getLogger(__name__)
View = Callable[..., HttpResponseBase]

# An address with a form: opened, or sent.
opened_or_sent = require_http_methods(["GET", "HEAD", "POST"])

COOKIE = "device"
DEVICE_BYTES = 16


def has_sign_on() -> bool:
    return bool(settings.CONSUMERSCOPE_OIDC_ISSUER)


def takes_passwords() -> bool:
    return settings.CONSUMERSCOPE_OIDC_PASSWORDS or not has_sign_on()


def login_context() -> dict[str, Any]:
    """What the login page offers, whoever shows it."""
    name = settings.CONSUMERSCOPE_OIDC_NAME if has_sign_on() else ""
    return {"sign_on_name": name, "takes_passwords": takes_passwords()}


def limited(view: View) -> View:
    """Looks at passwords only as often as `Tries` allows. Beyond that the answer is 429 until the window ends."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        username = request.POST.get("username", "")
        # An empty form is refused without a look at any password.
        if not (username and request.POST.get("password")):
            return view(request, *args, **kwargs)
        device = device_of(request.COOKIES.get(COOKIE), username)
        tries = Tries.of(username, request.META.get("REMOTE_ADDR", ""), device)
        if (wait := tries.begin(time.time())) is not None:
            return _too_many(request, username, wait)
        response = view(request, *args, **kwargs)
        if (user := getattr(request, "logged_in", None)) is not None:
            tries.succeeded(time.time())
            _remember(response, device or secrets.token_urlsafe(DEVICE_BYTES), user.get_username())
        return response

    return answer


@receiver(user_logged_in)
def _note(request: HttpRequest, user: Any, **_: Any) -> None:
    request.logged_in = user  # type: ignore[attr-defined]


def _too_many(request: HttpRequest, username: str, wait: int) -> HttpResponseBase:
    logger.warning("Too many failed logins as %r from %s.", username, request.META.get("REMOTE_ADDR"))
    context = {"wait": wait, "username": username, "next": request.POST.get("next", request.GET.get("next", ""))}
    response = render(request, "registration/login.html", context | login_context(), status=429)
    response.headers["Retry-After"] = str(wait)
    response.headers["Cache-Control"] = "no-store"
    return response


def _remember(response: HttpResponseBase, device: str, username: str) -> None:
    response.set_cookie(
        COOKIE,
        device_cookie(device, username),
        max_age=DEVICE_DAYS * 86400,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


# How often somebody may try to log in. No user name is ever locked as such.
# Tries are counted for each pair of user name and address, and for each address. A browser in which the user has
# logged in before is known by a signed cookie and has a count of its own: whoever shares its address does not use
# that up. Counts lie in Redis; while Redis does not answer, each process counts for itself.

DEVICE_DAYS = 90
_SALT = "consumerscope.device"
# The first 64 bits of an IPv6 address are a network of one customer, who has all the others.
IPV6_NETWORK = 64


@dataclass(frozen=True)
class Tries:
    """`own` counts what this person tries, `shared` what all do who have the address; null for a known browser."""

    own: str
    shared: str | None

    @classmethod
    def of(cls, username: str, address: str, device: str | None) -> "Tries":
        if device is not None:
            return cls(f"login-device-{device}", None)
        network = _network(address)
        return cls(f"login-{_short(username)}-{network}", f"login-address-{network}")

    def begin(self, now: float) -> int | None:
        """Counts one more, before the password is looked at. Seconds to wait where there were too many."""
        wait = _wait(self.own, settings.LOGIN_FAILURES, now)
        if wait is None and self.shared is not None:
            wait = _wait(self.shared, settings.LOGIN_ADDRESS_FAILURES, now)
        return wait

    def succeeded(self, now: float) -> None:
        seconds = settings.LOGIN_WINDOW_SECONDS
        counts().forget(self.own, now=now, seconds=seconds)
        if self.shared is not None:
            counts().take_back(self.shared, now=now, seconds=seconds)


def sign_on_wait(address: str, now: float) -> int | None:
    """Counts a sign-on that somebody begins at this address. Seconds to wait where too many were begun there: each
    leaves a session behind, and asks the provider."""
    return _wait(f"sign-on-address-{_network(address)}", settings.LOGIN_ADDRESS_FAILURES, now)


def _wait(key: str, allowed: int, now: float) -> int | None:
    """Counts one more. Seconds until the window ends where that is more than is allowed in it."""
    seconds = settings.LOGIN_WINDOW_SECONDS
    many = counts().add(key, now=now, seconds=seconds) > allowed
    return seconds - int(now) % seconds if many else None


def device_of(cookie: str | None, username: str) -> str | None:
    """The name of a browser in which this user has logged in before; null where it is not known."""
    try:
        known = signing.loads(cookie or "", salt=_SALT, max_age=DEVICE_DAYS * 86400)
    except signing.BadSignature:
        return None
    return str(known["device"]) if known["user"] == username else None


def device_cookie(device: str, username: str) -> str:
    return signing.dumps({"device": device, "user": username}, salt=_SALT)


def _network(address: str) -> str:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        # Of a server that listens on a socket of the file system.
        return "nowhere"
    if found.version == 6:
        mapped = found.ipv4_mapped
        return str(mapped or ipaddress.ip_network((found, IPV6_NETWORK), strict=False).network_address)
    return str(found)


def _short(username: str) -> str:
    """The same for all that Django's form takes for the same name."""
    return blake2b(unicodedata.normalize("NFKC", username.strip()).encode(), digest_size=12).hexdigest()
