"""Who asks, who may change something, and how many requests a minute each may make."""

import secrets
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from consumers.jobs.acts import note
from consumers.jobs.asking import counts
from consumers.jobs.permissions import why_not, why_nowhere
from consumers.models import ApiToken, AuditAction, SignOnAccount
from consumers.models.site import token_digest

if TYPE_CHECKING:
    # Views import this.
    from rest_framework.views import APIView


# Who asks: `Authorization: Bearer …` or `Token …`; and who may change something. Everybody who is let in may look.
#
# Tokens are looked up by their digest, so that the database alone lets nobody in.
NOTED_EVERY = timedelta(minutes=1)


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() not in (b"token", b"bearer"):
            return None
        if len(words) != 2:
            raise AuthenticationFailed(
                gettext("The Authorization header must be 'Bearer' or 'Token' and one token, without spaces in it.")
            )
        digest = token_digest(words[1].decode("latin-1"))
        token = ApiToken.objects.select_related("user__sign_on").filter(digest=digest).first()
        if token is None or not token.user.is_active:
            raise AuthenticationFailed(gettext("Unknown token. To create one, open API tokens in the account menu."))
        if token.expires_at is not None and token.expires_at <= timezone.now():
            raise AuthenticationFailed(
                gettext("The token has expired. To create another, open API tokens in the account menu.")
            )
        if _must_sign_on_again(token.user, timezone.now()):
            raise AuthenticationFailed(
                gettext("The user of this token has not signed in for too long. Sign in, and the token works again.")
            )
        _note_use(token, timezone.now())
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Token"


def _must_sign_on_again(user: User, now: datetime) -> bool:
    """Of a person of the sign-on: roles are those of the last sign-in, and nobody tells who left the company since."""
    account: SignOnAccount | None = getattr(user, "sign_on", None)
    days = timedelta(days=settings.CONSUMERSCOPE_OIDC_TOKEN_DAYS)
    return account is not None and now - account.confirmed_at >= days


def _note_use(token: ApiToken, now: datetime) -> None:
    """Once a minute is enough to know which tokens are in use, and spares a write a request."""
    if token.last_used_at is None or now - token.last_used_at >= NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)


class MayChange(BasePermission):
    """`permission`: what whoever changes something holds, for the cluster that the address names.

    Where the address names none, whoever holds it for no cluster at all is turned away here, and the view calls
    `permissions.check` once it knows the cluster. `is_of_all`: what is changed is of all clusters.
    """

    permission: str
    is_of_all = False

    def has_permission(self, request: Request, view: "APIView") -> bool:
        if request.method in SAFE_METHODS:
            return True
        cluster = "" if self.is_of_all else view.kwargs.get("cluster")
        user = request.user
        against = why_nowhere(user, self.permission) if cluster is None else why_not(user, self.permission, cluster)
        self.message = against or ""
        return against is None


# How many requests one token, or one user's sessions, may make in a minute.
WINDOW_SECONDS = 60

# Not /metrics: a scrape that is refused leaves a hole in every chart.
LIMITED = "/api/"

# What takes as long as a usual request: 50 ms. Wider answers count for several.
POINTS_OF_A_REQUEST = 2_000

ROWS_OF_A_REQUEST = 100


@dataclass(frozen=True)
class Rate:
    """`left` requests in the `seconds` that are left of the window."""

    most: int
    left: int
    seconds: int

    def headers(self) -> dict[str, str]:
        """As draft-ietf-httpapi-ratelimit-headers has them."""
        return {
            "RateLimit-Policy": f'"minute";q={self.most};w={WINDOW_SECONDS}',
            "RateLimit": f'"minute";r={self.left};t={self.seconds}',
        }


class RateLimit(BaseThrottle):
    """Counts who is let in; who is not has been refused before. Its rate stands on the request, for answers.py."""

    def allow_request(self, request: Request, view: "APIView") -> bool:
        most = settings.API_RATE
        if not most or not request.path.startswith(LIMITED):
            return True
        now = time.time()
        used = counts().add(_who(request), now=now, seconds=WINDOW_SECONDS)
        self._seconds = WINDOW_SECONDS - int(now) % WINDOW_SECONDS
        _note(request, used, self._seconds)
        return used <= most

    def wait(self) -> float:
        return self._seconds


def charge(request: Request, *, points: int = 0, rows: int = 0) -> None:
    """What an answer costs beyond the one request that it was let in for. Whoever has any left is let in: what
    nobody could know before leaves less for the rest of the minute."""
    more = max(points // POINTS_OF_A_REQUEST, rows // ROWS_OF_A_REQUEST) - 1
    if more > 0 and hasattr(request._request, "rate"):
        now = time.time()
        used = counts().add(_who(request), now=now, seconds=WINDOW_SECONDS, more=more)
        _note(request, used, WINDOW_SECONDS - int(now) % WINDOW_SECONDS)


def _note(request: Request, used: int, seconds: int) -> None:
    most = settings.API_RATE
    request._request.rate = Rate(most, max(0, most - used), seconds)  # type: ignore[attr-defined]


def _who(request: Request) -> str:
    auth: Any = request.auth
    return f"token-{auth.pk}" if isinstance(auth, ApiToken) else f"user-{request.user.pk}"


# API tokens of one user: made, shown once, and revoked; passwords that were changed. Each is an audit event.
TOKEN_BYTES = 32


@transaction.atomic
def make_token(user: User, name: str, expires_at: datetime | None, now: datetime) -> str:
    """The token. It is kept nowhere: only its digest is stored."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    row = ApiToken.objects.create(
        user=user, name=name, digest=token_digest(token), created_at=now, expires_at=expires_at
    )
    note(row, f"{user.get_username()}: {name}", user, "Created.", now, AuditAction.ADDED)
    return token


@transaction.atomic
def revoke_token(token: ApiToken, by: User, now: datetime) -> None:
    note(token, f"{token.user.get_username()}: {token.name}", by, "Revoked.", now, AuditAction.DELETED)
    token.delete()


def note_password(user_id: int, now: datetime) -> None:
    user = User.objects.get(pk=user_id)
    note(user, user.get_username(), user, "Changed the password.", now)
