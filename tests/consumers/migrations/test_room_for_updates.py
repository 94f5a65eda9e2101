"""On PostgreSQL rows that every reading writes anew find room in their own pages."""

import pytest
from django.db import connection

from consumers.models import ConsumerGroup
from tests.world import a_cluster, ago

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def pages() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_relation_size('consumers_consumergroup') / 8192")
        return int(cursor.fetchone()[0])


def test_groups_do_not_take_more_space_with_a_reading() -> None:
    """One update only: when PostgreSQL frees the old rows depends on every open transaction of the server."""
    cluster = a_cluster()
    ConsumerGroup.objects.bulk_create(
        ConsumerGroup(
            cluster=cluster, name=f"group-{number}", kind="user", first_seen_at=ago(3600), membership_at=ago(15)
        )
        for number in range(2_000)
    )
    before = pages()
    ConsumerGroup.objects.update(membership_at=ago(0))
    assert pages() == before
