"""Sign-on with an OpenID Connect provider. The library keeps state, nonce and PKCE of each sign-in in the session; what
the provider answers is checked in `sign_on_provider`, who the person is here in `sign_on_people`."""

import logging
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import requests
from django.conf import settings
from django.contrib import auth
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render, resolve_url
from django.urls import reverse
from django.utils import timezone
from mozilla_django_oidc.auth import OIDCAuthenticationBackend
from mozilla_django_oidc.views import (
    OIDCAuthenticationCallbackView,
    OIDCAuthenticationRequestView,
    get_next_url,
)

from .login import login_context, sign_on_wait
from .sign_on_people import user_signed_on
from .sign_on_provider import (
    AGAIN_SECONDS,
    ALGORITHM,
    ANSWER_SECONDS,
    SignOnRefused,
    claims_of,
    endpoints,
    key_of,
    not_accepted,
    not_begun_here,
    object_of,
    refusal_of,
    too_many,
    unreachable,
    unreadable,
)

logger = logging.getLogger(__name__)
BACKEND = "dashboard.pages.site.sign_on.SignOnBackend"
# Of the session: until when it is good, which the library writes; and when a renewal that failed is tried again.
GOOD_UNTIL, RENEWED_AGAIN_AT = "oidc_id_token_expiration", "sign_on_renewed_again_at"
# For so long somebody without a session may take at the provider.
BEGUN_SECONDS = 600


def library_setting(name: str, *default: Any) -> Any:
    ours = {
        "OIDC_RP_CLIENT_ID": settings.CONSUMERSCOPE_OIDC_CLIENT_ID,
        "OIDC_RP_CLIENT_SECRET": settings.CONSUMERSCOPE_OIDC_CLIENT_SECRET,
        "OIDC_RP_SIGN_ALGO": ALGORITHM,
        "OIDC_RP_SCOPES": "openid email profile",
        "OIDC_USE_PKCE": True,
        "OIDC_TIMEOUT": ANSWER_SECONDS,
        "OIDC_AUTHENTICATION_CALLBACK_URL": "sign_on_callback",
        "OIDC_RENEW_ID_TOKEN_EXPIRY_SECONDS": session_seconds(),
        # Asked for when somebody signs in, not whenever a password is looked at.
        "OIDC_OP_TOKEN_ENDPOINT": "",
        "OIDC_OP_USER_ENDPOINT": "",
        "OIDC_OP_JWKS_ENDPOINT": "",
        "OIDC_OP_AUTHORIZATION_ENDPOINT": "",
    }
    return ours[name] if name in ours else getattr(settings, name, *default)


def session_seconds() -> float:
    return settings.CONSUMERSCOPE_OIDC_SESSION_MINUTES * 60


class SignOnBackend(OIDCAuthenticationBackend):
    get_settings = staticmethod(library_setting)

    def authenticate(self, request: HttpRequest | None, **kwargs: Any) -> Any:
        # Whatever else is asked for, such as a password, is not for this backend.
        if request is None or "nonce" not in kwargs:
            return None
        found = endpoints()
        self.OIDC_OP_TOKEN_ENDPOINT = found["token_endpoint"]
        self.OIDC_OP_JWKS_ENDPOINT = found["jwks_uri"]
        return super().authenticate(request, **kwargs)

    def get_token(self, payload: dict[str, Any]) -> dict[str, Any]:
        try:
            found: dict[str, Any] = super().get_token(payload)
        except requests.RequestException as error:
            raise unreachable(self.OIDC_OP_TOKEN_ENDPOINT) from error
        if not isinstance(found.get("id_token"), str):
            raise unreadable(self.OIDC_OP_TOKEN_ENDPOINT)
        return found

    def raise_token_response_error(self, response: requests.Response) -> None:
        """400 and 401 are what RFC 6749 has for a code or a client that is wrong."""
        if response.status_code in (400, 401):
            raise not_accepted()
        object_of(response, self.OIDC_OP_TOKEN_ENDPOINT)

    def retrieve_matching_jwk(self, token: str) -> Any:
        return key_of(token, self.OIDC_OP_JWKS_ENDPOINT)

    def get_payload_data(self, token: str, key: Any) -> dict[str, Any]:
        return claims_of(token, key)

    def get_or_create_user(self, access_token: str, id_token: str, payload: dict[str, Any]) -> User:
        return user_signed_on(payload, timezone.now())

    def get_user(self, user_id: int) -> Any:
        """The library's own also lets in who is disabled."""
        return ModelBackend.get_user(self, user_id)


class BeginView(OIDCAuthenticationRequestView):
    get_settings = staticmethod(library_setting)

    def get(self, request: HttpRequest) -> HttpResponseBase:
        _must_be_configured()
        try:
            if not request.user.is_authenticated:
                _must_not_be_too_many(request)
            self.OIDC_OP_AUTH_ENDPOINT = endpoints()["authorization_endpoint"]
        except SignOnRefused as error:
            return turned_away(request, error, get_next_url(request, "next"))
        if not request.user.is_authenticated:
            request.session.set_expiry(BEGUN_SECONDS)
        return super().get(request)


class CallbackView(OIDCAuthenticationCallbackView):
    get_settings = staticmethod(library_setting)

    def get(self, request: HttpRequest) -> HttpResponseBase:
        _must_be_configured()
        page = request.session.get("oidc_login_next")
        # Nothing is done, and nobody is logged out, for a link that somebody else made.
        if request.GET.get("state") not in request.session.get("oidc_states", {}):
            return refused(request, not_begun_here(), page)
        try:
            return super().get(request)
        except SignOnRefused as error:
            return turned_away(request, error, page)
        except SuspiciousOperation:
            return turned_away(request, not_begun_here(), page)

    def login_success(self) -> HttpResponseBase:
        answer: HttpResponseBase = super().login_success()
        self.request.session.set_expiry(None)
        # Whoever begins a sign-on leaves a session, also without ending it.
        self.request.session.clear_expired()
        return answer

    def login_failure(self) -> HttpResponseBase:
        raise refusal_of(self.request.GET)


def turned_away(request: HttpRequest, error: SignOnRefused, page: str | None) -> HttpResponse:
    """A session that is still good outlives a provider that does not answer. It does not outlive a refusal."""
    if is_of_sign_on(request):
        if error.status == 503:
            request.session[RENEWED_AGAIN_AT] = time.time() + AGAIN_SECONDS
            return HttpResponseRedirect(page or resolve_url(settings.LOGIN_REDIRECT_URL))
        auth.logout(request)
    return refused(request, error, page)


def refused(request: HttpRequest, error: SignOnRefused, page: str | None) -> HttpResponse:
    cause = type(error.__cause__).__name__ if error.__cause__ else "itself"
    logger.warning("Sign-on refused with %s for %s: %s", error.status, cause, error)
    # Another language is not another try with the same code.
    shown = {"refused": str(error), "next": page or "", "stays_at": reverse("login"), **login_context()}
    answer = render(request, "registration/login.html", shown, status=error.status)
    if error.status in (429, 503):
        answer.headers["Retry-After"] = str(error.wait)
    return answer


def is_of_sign_on(request: HttpRequest) -> bool:
    return request.user.is_authenticated and request.session.get(auth.BACKEND_SESSION_KEY) == BACKEND


def _must_be_configured() -> None:
    if not settings.CONSUMERSCOPE_OIDC_ISSUER:
        raise Http404


def _must_not_be_too_many(request: HttpRequest) -> None:
    if (wait := sign_on_wait(request.META.get("REMOTE_ADDR", ""), time.time())) is not None:
        raise too_many(wait)


class SignOnRenewal:
    """Sessions of the sign-on are good for a while, and nobody's past it, whatever is asked for. In its second half a
    page that is opened leads by the provider, which says again who the person is and which groups it has."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if settings.CONSUMERSCOPE_OIDC_ISSUER and settings.SESSION_COOKIE_NAME in request.COOKIES:
            left = self._seconds_left(request)
            if left is not None and left <= 0:
                request.user = AnonymousUser()
            elif left is not None and left < session_seconds() / 2 and self._is_page(request):
                query = urlencode({"next": request.get_full_path()})
                return HttpResponseRedirect(f"{reverse('sign_on')}?{query}")
        return self._get_response(request)

    def _seconds_left(self, request: HttpRequest) -> float | None:
        """None: a session that has nothing to do with the provider, or none."""
        if request.session.get(auth.BACKEND_SESSION_KEY) != BACKEND:
            return None
        good_until: float = request.session.get(GOOD_UNTIL, 0)
        return good_until - time.time()

    def _is_page(self, request: HttpRequest) -> bool:
        """What a browser opens, and no script asks for."""
        return (
            request.method == "GET"
            and "text/html" in request.headers.get("Accept", "")
            and "HX-Request" not in request.headers
            and not request.path.startswith((reverse("sign_on"), reverse("login")))
            and request.session.get(RENEWED_AGAIN_AT, 0) <= time.time()
        )
