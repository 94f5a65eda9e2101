"""On PostgreSQL rows that every reading writes anew stay in their pages."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from django.db import connection

from consumers.models import ConsumerGroup
from tests.world import a_cluster, ago

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def no_vacuum() -> Iterator[None]:
    """What autovacuum reads just then keeps all old rows."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE consumers_consumergroup SET (autovacuum_enabled = off)")
        yield
        cursor.execute("ALTER TABLE consumers_consumergroup RESET (autovacuum_enabled)")


def pages() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_relation_size('consumers_consumergroup') / 8192")
        return int(cursor.fetchone()[0])


def pages_after_updates() -> int:
    for second in range(8):
        ConsumerGroup.objects.update(membership_at=ago(second))
    return pages()


@pytest.mark.usefixtures("no_vacuum")
def test_groups_do_not_take_more_space_with_every_reading() -> None:
    cluster = a_cluster()
    ConsumerGroup.objects.bulk_create(
        ConsumerGroup(cluster=cluster, name=f"group-{number}", kind="user", first_seen_at=ago(3600))
        for number in range(2_000)
    )
    sizes = [pages_after_updates() for _ in range(6)]
    # What PostgreSQL analyses of another table just then keeps all old rows, too: not in every round.
    assert any(before == after for before, after in pairwise(sizes)), sizes
