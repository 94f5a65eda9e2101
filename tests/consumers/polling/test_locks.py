"""The lease of the database, which serves while Redis is down."""

from datetime import UTC, datetime

import pytest

from consumers.models import Lease
from consumers.polling.locks import Locked, lock

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def redis_is_down(settings, tmp_path):
    settings.REDIS_URL = f"unix://{tmp_path / 'nobody-listens.sock'}"


def test_it_refuses_a_second_holder():
    with lock("poll:prod", 60), pytest.raises(Locked), lock("poll:prod", 60):
        pass


def test_it_lets_another_name_in():
    with lock("poll:prod", 60), lock("poll:test", 60):
        assert Lease.objects.count() == 2


def test_it_is_free_again_after_the_block_failed():
    with pytest.raises(ValueError, match="broken"), lock("poll:prod", 60):
        raise ValueError("broken")
    with lock("poll:prod", 60):
        assert Lease.objects.get().name == "poll:prod"


def test_it_takes_over_a_lease_that_has_expired():
    Lease.objects.create(name="poll:prod", holder="dead", expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    with lock("poll:prod", 60):
        assert Lease.objects.get().holder != "dead"
