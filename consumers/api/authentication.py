"""`Authorization: Token …`. Tokens are looked up by their digest, so that the database alone lets nobody in."""

import hashlib

from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from consumers.models import ApiToken


def token_digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


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
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Token"
