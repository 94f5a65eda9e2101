"""Who asks: `Authorization: Token …`; and who may change something. Everybody who is let in may look.

Tokens are looked up by their digest, so that the database alone lets nobody in.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from consumers.models import ApiToken
from consumers.models.site.token import token_digest

if TYPE_CHECKING:
    # Views import this.
    from rest_framework.views import APIView

NOTED_EVERY = timedelta(minutes=1)


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != b"token":
            return None
        if len(words) != 2:
            raise AuthenticationFailed("The Authorization header must be 'Token' and one token, without spaces in it.")
        digest = token_digest(words[1].decode("latin-1"))
        token = ApiToken.objects.select_related("user").filter(digest=digest).first()
        if token is None or not token.user.is_active:
            raise AuthenticationFailed("This token is not known. 'manage.py token create' makes one.")
        if token.expires_at is not None and token.expires_at <= timezone.now():
            raise AuthenticationFailed("This token has expired. 'manage.py token create' makes another.")
        _note_use(token, timezone.now())
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Token"


def _note_use(token: ApiToken, now: datetime) -> None:
    """Once a minute is enough to know which tokens are in use, and spares a write a request."""
    if token.last_used_at is None or now - token.last_used_at >= NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)


class MayChange(BasePermission):
    """`permission`: what whoever changes something holds. `why_not()`: a sentence for whoever does not."""

    permission: str
    why_not: Callable[[], str]

    @property
    def message(self) -> str:
        return type(self).why_not()

    def has_permission(self, request: Request, view: "APIView") -> bool:
        return request.method in SAFE_METHODS or request.user.has_perm(self.permission)
