import pytest
from django.db import connection

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


def test_this_tier_runs_on_postgresql() -> None:
    assert connection.vendor == "postgresql"
