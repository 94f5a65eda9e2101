"""Whether a test uses the database, and whether it commits what it writes there."""

import pytest

# What asks pytest-django for a database, as a mark or as a fixture.
DATABASE_FIXTURES = {"db", "transactional_db", "django_db_setup", "live_server", "admin_user", "admin_client"}
COMMITTING = {"transactional_db", "live_server"}


def uses_database(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    return (
        any(item.iter_markers("django_db")) or any(item.iter_markers("postgres")) or bool(fixtures & DATABASE_FIXTURES)
    )


def commits(item: pytest.Item) -> bool:
    """Other connections see its rows, and it empties the database when it ends."""
    fixtures = set(getattr(item, "fixturenames", ()))
    return bool(fixtures & COMMITTING) or any(mark.kwargs.get("transaction") for mark in item.iter_markers("django_db"))
