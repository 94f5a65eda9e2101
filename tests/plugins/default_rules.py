"""A test sees the rules that it makes. Those that the site comes with would open incidents of their own in its data,
and tests that truncate tables would take them from the others in some orders only.
"""

import pytest
from pytest_django.plugin import DjangoDbBlocker


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    from consumers.models import AlertRule

    with django_db_blocker.unblock():
        AlertRule.objects.filter(key__isnull=False).delete()
