"""Guards the addresses that take passwords: the login page, and that of the admin pages."""

import logging
import secrets
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from .login_tries import DEVICE_DAYS, Tries, device_cookie, device_of

logger = logging.getLogger(__name__)
View = Callable[..., HttpResponseBase]

COOKIE = "device"
DEVICE_BYTES = 16


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
    said = {"wait": wait, "username": username, "next": request.POST.get("next", request.GET.get("next", ""))}
    response = render(request, "registration/login.html", said, status=429)
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
