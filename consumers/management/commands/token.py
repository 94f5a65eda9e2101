"""`manage.py token create USER`: an API token. The token alone is the last line of stdout; it is not kept anywhere."""

from argparse import ArgumentParser
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from consumers.rest.access import make_token


class Command(BaseCommand):
    help = "Makes tokens for the REST API."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make a token; it is shown once")
        create.add_argument("user")
        create.add_argument("--name", default="api", help="what it is for (default: api)")
        create.add_argument("--expires", metavar="D", help="days from this moment, or an ISO 8601 date or time")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['user']!r}; 'manage.py createsuperuser' makes one.")
        if not user.is_active:
            raise CommandError(f"The user {options['user']!r} is not active, so that a token would not let it in.")
        expires_at = _expiry(options["expires"], now) if options["expires"] else None
        self.stdout.write(make_token(user, options["name"], expires_at, now))


def _expiry(text: str, now: datetime) -> datetime:
    """A time without a zone is UTC; a date is its last moment's end."""
    try:
        expires_at = now + timedelta(days=int(text)) if text.isdecimal() else _moment(text)
    except (ValueError, OverflowError):
        expires_at = None
    if expires_at is None:
        raise CommandError(f"--expires must be days or an ISO 8601 date or time, not {text!r}.")
    if expires_at <= now:
        raise CommandError(f"--expires must be in the future, not {text!r}.")
    return expires_at


def _moment(text: str) -> datetime | None:
    day = parse_date(text) if "T" not in text and " " not in text else None
    if day is not None:
        return datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
    moment = parse_datetime(text)
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment
