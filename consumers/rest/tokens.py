"""API tokens of one user: made, shown once, and revoked; passwords that were changed. Each is an audit event."""

import secrets
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from consumers.jobs.audit import note
from consumers.models import ApiToken, AuditAction
from consumers.models.site import token_digest

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
